/**
 * The `/_oncemq/` endpoints: health, the clock, counts, peeking, and what deduplication did. JSON in and out, for
 * people, tests and the console; no AWS action gives these. Nothing here receives a message or counts as a receive.
 */

import { errorShape, errorText, type Refusal } from '../../core/errors.ts';
import type { Event } from '../../core/events.ts';
import type { Backend, Explained } from '../../storage/backend.ts';

export interface InspectRequest {
  readonly method: string;
  /** The path behind `/_oncemq/`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

export interface InspectResponse {
  readonly status: number;
  /** Answered as JSON. */
  readonly body: unknown;
  /** The methods that the path takes, with status 405. */
  readonly allow?: string;
}

export interface InspectOptions {
  readonly backend: Backend;
  readonly version: string;
  readonly clock: 'real' | 'virtual' | 'manual';
  /** The latest violations and collisions of a queue, oldest first; absent where no contract is set. */
  readonly violations?: ((queue: string) => readonly Event[]) | undefined;
}

export interface Inspect {
  handle(request: InspectRequest): Promise<InspectResponse>;
}

type Handler = (
  options: InspectOptions,
  request: InspectRequest,
  name: string,
) => Promise<InspectResponse>;

interface Route {
  readonly path: RegExp;
  readonly methods: Readonly<Record<string, Handler>>;
}

const listLimit = { default: 100, max: 1000 };
const advanceSecondsMax = 10 * 365 * 86_400;

const routes: readonly Route[] = [
  { path: /^health$/, methods: { GET: health } },
  { path: /^clock\/advance$/, methods: { POST: advanceClock } },
  { path: /^reset$/, methods: { POST: reset } },
  { path: /^queues$/, methods: { GET: listQueues } },
  { path: /^queues\/([^/]+)$/, methods: { GET: showQueue } },
  { path: /^queues\/([^/]+)\/messages$/, methods: { GET: listMessages } },
  { path: /^queues\/([^/]+)\/violations$/, methods: { GET: listViolations } },
  { path: /^queues\/([^/]+)\/dedup$/, methods: { GET: explain, DELETE: forgetWindow } },
];

export function createInspect(options: InspectOptions): Inspect {
  return {
    handle: async (request) => {
      for (const { path, methods } of routes) {
        const found = path.exec(request.path);
        if (found === null) continue;
        const handler = Object.hasOwn(methods, request.method)
          ? methods[request.method]
          : undefined;
        if (handler !== undefined) return handler(options, request, decoded(found[1] ?? ''));
        const allow = Object.keys(methods).join(', ');
        return {
          ...failed(405, 'MethodNotAllowed', `This path takes ${allow}.`),
          allow,
        };
      }
      return failed(404, 'NotFound', `There is nothing at /_oncemq/${request.path}.`);
    },
  };
}

async function health({ backend, version, clock }: InspectOptions): Promise<InspectResponse> {
  return ok({ status: 'ok', version, storage: backend.kind, clock });
}

async function advanceClock(
  { backend, clock }: InspectOptions,
  { body }: InspectRequest,
): Promise<InspectResponse> {
  if (clock === 'real') {
    const text = 'The clock is real and cannot be moved. Start with --clock virtual or manual.';
    return failed(409, 'RealClock', text);
  }
  const seconds = secondsOf(body);
  if (seconds === undefined) {
    const text = `Send {"seconds": N} with N from 0 to ${advanceSecondsMax}.`;
    return failed(400, 'InvalidRequest', text);
  }
  return ok({ now: await backend.advance(Math.round(seconds * 1000)) });
}

async function reset({ backend, clock }: InspectOptions): Promise<InspectResponse> {
  if (clock === 'real' && backend.kind !== 'memory') {
    const text = 'Reset is for --memory, or a virtual or manual clock: it would erase kept queues.';
    return failed(409, 'NotForKeptQueues', text);
  }
  await backend.reset();
  return ok({ status: 'ok' });
}

async function listQueues(options: InspectOptions): Promise<InspectResponse> {
  const { backend } = options;
  const queues: unknown[] = [];
  let after: string | undefined;
  do {
    const page = await backend.run({ type: 'list-queues', limit: listLimit.max, after });
    if (!page.ok) return refused(page);
    for (const name of page.queues) queues.push((await showQueue(options, undefined, name)).body);
    after = page.next;
  } while (after !== undefined);
  return ok({ queues });
}

async function showQueue(
  { backend }: InspectOptions,
  _request: unknown,
  name: string,
): Promise<InspectResponse> {
  const found = await backend.run({ type: 'describe-queue', queue: name });
  if (!found.ok) return refused(found);
  const { isFifo, visible, inFlight, delayed, groups, windowEntries, oldestSentAt } = found;
  return ok({
    name,
    fifo: isFifo,
    visible,
    inFlight,
    delayed,
    groups,
    dedupEntries: windowEntries,
    oldestAgeSeconds:
      oldestSentAt === undefined ? null : Math.floor((backend.now() - oldestSentAt) / 1000),
  });
}

async function listMessages(
  { backend }: InspectOptions,
  { query }: InspectRequest,
  name: string,
): Promise<InspectResponse> {
  const limit = limitOf(query);
  if (limit === undefined) return wrongLimit();
  const groupId = query.get('group') || undefined;
  const found = await backend.peek({ type: 'peek-messages', queue: name, groupId, limit });
  if (!found.ok) return refused(found);
  const messages = found.messages.map(({ content, state, visibleAt, ...message }) => ({
    messageId: message.messageId,
    state,
    visibleAt: visibleAt ?? null,
    groupId: message.groupId ?? content.groupId ?? null,
    deduplicationId: message.deduplicationId ?? content.deduplicationId ?? null,
    sequence: message.sequence,
    sentAt: message.sentAt,
    receiveCount: message.receiveCount,
    firstReceivedAt: message.firstReceivedAt ?? null,
    deadLetterSource: message.deadLetterSource ?? null,
    body: content.body,
    attributes: content.attributes.map(({ name, type, value }) => ({
      name,
      type,
      value: typeof value === 'string' ? value : Buffer.from(value).toString('base64'),
    })),
  }));
  return ok({ messages });
}

async function listViolations(
  { backend, violations }: InspectOptions,
  { query }: InspectRequest,
  name: string,
): Promise<InspectResponse> {
  const limit = limitOf(query);
  if (limit === undefined) return wrongLimit();
  const found = await backend.run({ type: 'describe-queue', queue: name });
  if (!found.ok) return refused(found);
  if (violations === undefined) {
    return failed(
      409,
      'NoContract',
      'The server holds no queue to a contract: start it with --contract.',
    );
  }
  return ok({ violations: violations(name).slice(-limit) });
}

async function explain(
  { backend }: InspectOptions,
  { query }: InspectRequest,
  name: string,
): Promise<InspectResponse> {
  const limit = limitOf(query);
  if (limit === undefined) return wrongLimit();
  const deduplicationId = query.get('id') || undefined;
  const groupId = query.get('group') || undefined;
  const found = await backend.explain({
    type: 'explain',
    queue: name,
    deduplicationId,
    groupId,
    limit,
  });
  if (!found.ok) return refused(found);
  const now = backend.now();
  // An id was looked up with its group already, where the group counts.
  const isAsked = (entry: Explained): boolean =>
    deduplicationId !== undefined || groupId === undefined || entry.groupId === groupId;
  const entries = found.entries.filter(isAsked).map((entry) => ({
    id: entry.deduplicationId,
    source: entry.source,
    groupId: entry.groupId,
    original: { messageId: entry.messageId, sequence: entry.sequence, sentAt: entry.acceptedAt },
    ageSeconds: (now - entry.acceptedAt) / 1000,
    expiresAt: entry.expiresAt,
    expiresInSeconds: (entry.expiresAt - now) / 1000,
    suppressed: entry.suppressed.map((event) => ({
      at: event.at,
      source: event.source,
      matchedBy: event.matchedBy,
      groupId: event.groupId,
      differed: Object.entries(event.differed)
        .filter(([, isDifferent]) => isDifferent)
        .map(([what]) => what),
      collision: event.source === 'content' && (event.differed.attributes || event.differed.group),
    })),
  }));
  if (deduplicationId === undefined) return ok({ entries });
  const [entry] = entries;
  if (entry === undefined) {
    if (groupId === undefined && (await isScopedByGroup(backend, name))) {
      const text = `${name} deduplicates within each message group: say which with &group=ID.`;
      return failed(400, 'GroupMissing', text);
    }
    const text = `No send with the id ${deduplicationId} is in the deduplication window of ${name}.`;
    return failed(404, 'NotInWindow', text);
  }
  return ok({ entry });
}

async function isScopedByGroup(backend: Backend, queue: string): Promise<boolean> {
  const names = ['DeduplicationScope'];
  const found = await backend.run({ type: 'get-attributes', queue, names });
  return found.ok && found.attributes['DeduplicationScope'] === 'messageGroup';
}

async function forgetWindow(
  { backend }: InspectOptions,
  _request: unknown,
  name: string,
): Promise<InspectResponse> {
  const found = await backend.run({ type: 'forget-window', queue: name });
  return found.ok ? ok({ forgotten: found.entries }) : refused(found);
}

function ok(body: unknown): InspectResponse {
  return { status: 200, body };
}

function failed(status: number, code: string, message: string): InspectResponse {
  return { status, body: { error: { code, message } } };
}

function refused(refusal: Refusal): InspectResponse {
  const shape = errorShape(refusal.code);
  const status = shape === 'QueueDoesNotExist' ? 404 : 400;
  return failed(status, shape, errorText(refusal));
}

function wrongLimit(): InspectResponse {
  return failed(400, 'InvalidRequest', `limit must be a number from 1 to ${listLimit.max}.`);
}

function limitOf(query: URLSearchParams): number | undefined {
  const text = query.get('limit');
  if (text === null || text === '') return listLimit.default;
  const limit = Number(text);
  const isGood = /^\d+$/.test(text) && limit >= 1 && limit <= listLimit.max;
  return isGood ? limit : undefined;
}

function secondsOf(body: string): number | undefined {
  try {
    const value = (JSON.parse(body) as { seconds?: unknown } | null)?.seconds;
    const isGood = typeof value === 'number' && value >= 0 && value <= advanceSecondsMax;
    return isGood ? value : undefined;
  } catch {
    return undefined;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
