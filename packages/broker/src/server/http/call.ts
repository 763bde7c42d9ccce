/**
 * One request, as the api sees it. An AbortController is created only when a request asks for its signal, as long polls
 * do because their client may disconnect.
 */

import { randomUUID } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { ApiRequest } from '../../api/handler.ts';
import { MessageIds } from '../../core/message-id.ts';

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

const requestIds = new MessageIds(randomUUID());
let requests = 0;

/** Made like the ids of messages, in a third of the time of `randomUUID`, which joins twenty texts. */
function newRequestId(): string {
  requests += 1;
  return requestIds.of(requests);
}

export class Call implements ApiRequest {
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
