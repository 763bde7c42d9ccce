/**
 * One request, as the api sees it. An AbortController is created only when a request asks for its signal, as long polls
 * do because their client may disconnect.
 */

import { randomUUID } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { ApiRequest } from '../../api/handler.ts';

/** Published on the diagnostics channel `oncemq.request` right before a request is handled. */
export interface RequestNotice {
  readonly request: ApiRequest;
  readonly socket: Socket;
}

const notices = channel('oncemq.request');

export function tellOf(request: ApiRequest, socket: Socket): void {
  if (notices.hasSubscribers) notices.publish({ request, socket } satisfies RequestNotice);
}

/** Calls the listener when the client disconnects; immediately if it already has. */
export type WhenGone = (listener: () => void) => void;

/** The same for all requests of the process: with a `randomUUID` for each, an id takes twice as long (0.6 µs). */
const idPrefix = randomUUID().slice(0, 24);
let requests = 0;

/** Has the form of a UUID. Nobody gains anything by guessing it. */
function newRequestId(): string {
  requests += 1;
  return idPrefix + requests.toString(16).padStart(12, '0');
}

export class HttpRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ApiRequest['headers'];
  readonly body: Buffer;
  readonly requestId: string = newRequestId();
  readonly #whenGone: WhenGone;
  #signal: AbortSignal | undefined;

  constructor(
    method: string,
    { path, query, headers }: Pick<ApiRequest, 'path' | 'query' | 'headers'>,
    body: Buffer,
    whenGone: WhenGone,
  ) {
    this.method = method;
    this.path = path;
    this.query = query;
    this.headers = headers;
    this.body = body;
    this.#whenGone = whenGone;
  }

  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      const controller = new AbortController();
      this.#signal = controller.signal;
      this.#whenGone(() => controller.abort());
    }
    return this.#signal;
  }
}
