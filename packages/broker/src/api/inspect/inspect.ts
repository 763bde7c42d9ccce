/**
 * The `/_oncemq/` endpoints: the table of routes, and those about the server itself. JSON in and out, for people, tests
 * and the console; no AWS action offers this. Nothing here receives a message or counts as a receive.
 */

import { filledText } from '../../core/errors.ts';
import type { Event } from '../../core/events.ts';
import { parseObject } from '../../core/json-object.ts';
import { type Backend, Unavailable } from '../../storage/backend.ts';
import { failed, type InspectResponse } from '../inspect-response.ts';
import { ok } from './answers.ts';
import { advanceMsOf, advanceSecondsMax } from './clock-advance.ts';
import type { EventStream } from './event-stream.ts';
import { listGroups } from './groups.ts';
import { showCounts, showOverview } from './overview.ts';
import {
  explainQueue,
  forgetWindow,
  listMessages,
  listQueues,
  listViolations,
  showQueue,
} from './queues.ts';
import { showStore } from './store.ts';
import {
  explainTopic,
  forgetTopicWindow,
  listDeliveries,
  listTopics,
  matchMessage,
  showCertificate,
  showTopic,
} from './topics.ts';
import { Watching } from './watching.ts';
import { showSend, showWindow } from './window.ts';

export interface InspectRequest {
  readonly method: string;
  /** The path after `/_oncemq/`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

export interface InspectOptions {
  readonly backend: Backend;
  readonly version: string;
  readonly clock: 'real' | 'virtual' | 'manual';
  /** The certificate of the topics' signing key, as PEM. */
  readonly certificate: () => string;
  readonly events: EventStream;
  /** The state of the ledger; absent if none is kept. */
  readonly ledger?: (() => object) | undefined;
  /** The latest violations and collisions of a queue, oldest first; absent if no contract is set. */
  readonly violations?: ((queue: string) => readonly Event[]) | undefined;
}

/** What handlers get: the options, and the counts that are taken while somebody watches. */
export interface InspectContext extends InspectOptions {
  readonly watching: Watching;
}

export interface Inspect {
  handle(request: InspectRequest): Promise<InspectResponse>;
}

type Handler = (
  options: InspectContext,
  request: InspectRequest,
  name: string,
) => Promise<InspectResponse>;

interface Route {
  readonly path: RegExp;
  readonly methods: Readonly<Record<string, Handler>>;
}

const routes: readonly Route[] = [
  { path: /^health$/, methods: { GET: health, HEAD: health } },
  { path: /^clock\/advance$/, methods: { POST: advanceClock } },
  { path: /^reset$/, methods: { POST: reset } },
  { path: /^store$/, methods: { GET: showStore } },
  { path: /^overview$/, methods: { GET: showOverview } },
  { path: /^events$/, methods: { GET: followEvents } },
  { path: /^queues$/, methods: { GET: listQueues } },
  { path: /^queues\/([^/]+)$/, methods: { GET: showQueue } },
  { path: /^queues\/([^/]+)\/messages$/, methods: { GET: listMessages } },
  { path: /^queues\/([^/]+)\/counts$/, methods: { GET: showCounts } },
  { path: /^queues\/([^/]+)\/groups$/, methods: { GET: listGroups } },
  { path: /^queues\/([^/]+)\/window$/, methods: { GET: showWindow } },
  { path: /^queues\/([^/]+)\/window\/[^/]+$/, methods: { GET: showSend } },
  { path: /^queues\/([^/]+)\/violations$/, methods: { GET: listViolations } },
  { path: /^queues\/([^/]+)\/dedup$/, methods: { GET: explainQueue, DELETE: forgetWindow } },
  { path: /^topics$/, methods: { GET: listTopics } },
  { path: /^topics\/([^/]+)$/, methods: { GET: showTopic } },
  { path: /^topics\/([^/]+)\/dedup$/, methods: { GET: explainTopic, DELETE: forgetTopicWindow } },
  { path: /^topics\/([^/]+)\/deliveries$/, methods: { GET: listDeliveries } },
  { path: /^topics\/([^/]+)\/match$/, methods: { POST: matchMessage } },
  { path: /^signing-certificate\.pem$/, methods: { GET: showCertificate } },
];

/** Every method and path that is answered, for the test that asks them all. */
export const inspectRoutes: readonly string[] = routes.flatMap(({ path, methods }) =>
  Object.keys(methods).map((method) => `${method} ${path.source}`),
);

export function createInspect(options: InspectOptions): Inspect {
  const context = { ...options, watching: new Watching(options.backend) };
  return {
    handle: async (request) => {
      for (const { path, methods } of routes) {
        const found = path.exec(request.path);
        if (found === null) continue;
        const handler = Object.hasOwn(methods, request.method)
          ? methods[request.method]
          : undefined;
        if (handler !== undefined) {
          return handler(context, request, decoded(found[1] ?? '')).catch(unavailable);
        }
        const allow = Object.keys(methods).join(', ');
        return {
          ...failed(405, 'MethodNotAllowed', `This path accepts only ${allow}.`),
          allow,
        };
      }
      const { path } = request;
      return failed(404, 'NotFound', filledText('There is nothing at /_oncemq/{path}.', { path }));
    },
  };
}

function unavailable(error: unknown): InspectResponse {
  if (error instanceof Unavailable) return failed(503, 'ServiceUnavailable', error.message);
  throw error;
}

async function health(options: InspectOptions): Promise<InspectResponse> {
  const { backend, version, clock, ledger } = options;
  const { count, latest } = backend.losses();
  const lostCommits = count === 0 ? undefined : { count, latest };
  const about = { version, storage: backend.kind, clock, ledger: ledger?.(), lostCommits };
  const reason = backend.unavailable();
  // It serves what is left, so a balancer may go on; people are to see it.
  const status = count === 0 ? 'ok' : 'commits were lost';
  if (reason === undefined) return ok({ status, ...about });
  return { status: 503, body: { status: 'changes are refused', reason, ...about } };
}

async function advanceClock(
  { backend, clock }: InspectOptions,
  { body }: InspectRequest,
): Promise<InspectResponse> {
  if (clock === 'real') {
    const text =
      'The clock is real and cannot be moved. Start the server with --clock virtual or --clock manual.';
    return failed(409, 'RealClock', text);
  }
  const milliseconds = advanceMsOf(secondsOf(body));
  if (milliseconds === undefined) {
    const text = `The body must be {"seconds": N}, with N from 0 to ${advanceSecondsMax}.`;
    return failed(400, 'InvalidRequest', text);
  }
  return ok({ now: await backend.advance(milliseconds) });
}

async function reset({ backend, clock }: InspectOptions): Promise<InspectResponse> {
  if (clock === 'real' && backend.kind !== 'memory') {
    const text =
      'Reset would erase stored queues. It needs --memory, or a virtual or manual clock.';
    return failed(409, 'NotForKeptQueues', text);
  }
  await backend.reset();
  return ok({ status: 'ok' });
}

async function followEvents(
  { events }: InspectOptions,
  { query }: InspectRequest,
): Promise<InspectResponse> {
  return events.answer(query);
}

function secondsOf(body: string): unknown {
  return parseObject(body)?.['seconds'];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
