/**
 * One request, as the api sees it. An AbortController is made only for requests that ask for their signal: long polls,
 * whose client may go away.
 */

import { randomUUID } from 'node:crypto';
import type { ApiRequest } from '../../api/handler.ts';

/** Calls the listener when the client goes away; at once if it has. */
export type WhenGone = (listener: () => void) => void;

export class Call implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ApiRequest['headers'];
  readonly body: Buffer;
  readonly requestId: string = randomUUID();
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
