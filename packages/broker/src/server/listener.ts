/**
 * The HTTP listener: bytes in up to the limit, one call of the api, bytes out. It knows paths and sockets and no
 * actions. Nothing per request that could be shared, and an AbortController only for requests that ask for its signal:
 * long polls, whose client may go away.
 *
 * Bounds: a body has at most `bodyBytesMax`, a request a minute to arrive; anything that is not HTTP is answered with
 * 400 and cut off.
 */

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Api, ApiRequest, ApiResponse } from '../api/handler.ts';
import type { Inspect } from '../api/inspect/inspect.ts';

/** A message of 1 MiB is at most 6 MiB of JSON, when every byte of it is written as an escape. */
const bodyBytesMax = 8 * 1024 * 1024;
const requestMsMax = 60_000;
const headersMsMax = 30_000;
/** Longer than AWS clients keep an idle connection, so that they, and not we, close it. */
const idleMsMax = 75_000;

const inspectPrefix = '/_oncemq/';

export interface Listener {
  readonly server: Server;
  /** Answers what is under way, then closes every connection. */
  close(): Promise<void>;
}

export function createListener(
  api: Api,
  inspect: Inspect,
  onError: (error: unknown) => void,
): Listener {
  let isClosing = false;
  const server = createServer((request, response) => {
    readBody(api, request, response, (body) => {
      const call = new Call(request, response, body);
      const answered = call.path.startsWith(inspectPrefix)
        ? answerInspect(inspect, call, response)
        : api.handle(call).then((answer) => {
            // A connection that is answered while we stop must not be kept for a next request.
            if (isClosing) response.shouldKeepAlive = false;
            send(response, answer);
          });
      answered.catch((error: unknown) => {
        onError(error);
        response.destroy();
      });
    });
  });
  server.requestTimeout = requestMsMax;
  server.headersTimeout = headersMsMax;
  server.keepAliveTimeout = idleMsMax;
  return {
    server,
    close: () => {
      isClosing = true;
      return close(server);
    },
  };
}

/** One request, as the api sees it. */
class Call implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ApiRequest['headers'];
  readonly body: Buffer;
  readonly requestId: string = randomUUID();
  readonly #response: ServerResponse;
  #controller: AbortController | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, body: Buffer) {
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    this.method = request.method ?? 'GET';
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? '' : url.slice(mark + 1);
    this.headers = request.headers as ApiRequest['headers'];
    this.body = body;
    this.#response = response;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      if (this.#response.destroyed) controller.abort();
      else this.#response.once('close', () => controller.abort());
    }
    return this.#controller.signal;
  }
}

function readBody(
  api: Api,
  request: IncomingMessage,
  response: ServerResponse,
  then: (body: Buffer) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= bodyBytesMax) chunks.push(chunk);
    else if (!response.headersSent) refuseBody(api, request, response);
  });
  request.on('end', () => {
    if (size > bodyBytesMax) return;
    then(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
  });
  // A client that goes away before it has finished gets nothing, and nothing was done.
  request.on('error', () => response.destroy());
}

/** Says so in the wire form that the request's headers show, and reads no further. */
function refuseBody(api: Api, request: IncomingMessage, response: ServerResponse): void {
  const headers = request.headers as ApiRequest['headers'];
  const call = { headers, requestId: randomUUID() };
  const answer = api.fail(call, 'body-too-large', { limit: bodyBytesMax });
  response.shouldKeepAlive = false;
  response.once('finish', () => request.destroy());
  send(response, answer);
}

function send(response: ServerResponse, { status, headers, body }: ApiResponse): void {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

async function answerInspect(
  inspect: Inspect,
  call: Call,
  response: ServerResponse,
): Promise<void> {
  const { status, body, allow } = await inspect.handle({
    method: call.method,
    path: call.path.slice(inspectPrefix.length),
    query: new URLSearchParams(call.query),
    body: call.body.toString('utf8'),
  });
  send(response, {
    status,
    headers: {
      'Content-Type': 'application/json',
      ...(allow === undefined ? {} : { Allow: allow }),
    },
    body: `${JSON.stringify(body)}\n`,
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeIdleConnections();
  });
}
