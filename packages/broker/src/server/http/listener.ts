/**
 * The HTTP listener: bytes in up to the limit, one call of the api, bytes out. It knows paths and sockets but no actions.
 * Whatever requests can share is created once.
 *
 * Every connection starts as a plain one (plain-connection.ts). At the first request that is not plain, the connection is
 * handed to the node:http server created here, which reads that request from its first byte. With `http: 'node'` there are
 * no plain connections, and node:http reads all of them itself.
 *
 * Bounds: the number of connections; the size of a body, and of all bodies together (held-bytes.ts); answers that are not
 * read (unread-answers.ts); one request at a time on each connection (turns.ts); and the time for a request to arrive: 60 to
 * 90 seconds in node:http, 75 to 90 on a plain connection, because both check only now and then. Anything that is not HTTP is
 * answered with 400 and disconnected. Stopping answers the requests that have arrived, at most one on each connection, however long
 * the disk takes, and gives clients two seconds for everything else.
 */

import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeader,
  type Server,
  type ServerResponse,
} from 'node:http';
import { plainHealthPath } from '../../api/auth/admission.ts';
import { foreignNameRejection, foreignPageRejection } from '../../api/auth/foreign-page.ts';
import type { Api, ApiRequest, ApiResponse } from '../../api/handler.ts';
import type { Inspect } from '../../api/inspect/inspect.ts';
import type { InspectResponse } from '../../api/inspect-response.ts';
import { consoleFile, type FileResponse } from '../console-files.ts';
import { type Metrics, metricsPath } from '../telemetry/metrics.ts';
import { readBody } from './bodies.ts';
import { BodyBudget } from './held-bytes.ts';
import { HttpRequest, tellOf } from './http-request.ts';
import { sendParts } from './parts.ts';
import { bareHead } from './plain-connection.ts';
import { PlainConnections } from './plain-connections.ts';
import { partsOf } from './request-head.ts';
import { Turns } from './turns.ts';
import { UnreadAnswers } from './unread-answers.ts';

const connectionsMax = 10_000;
/**
 * How long stopping waits for clients: to send the rest of a request, and to read their answers. While requests that have
 * arrived are not answered yet, it waits for as long again.
 */
const stopMsMax = 2_000;
const requestMsMax = 60_000;
const headersMsMax = 30_000;
/** Longer than AWS clients keep an idle connection, so that the client closes it, not the server. */
const idleMsMax = 75_000;
/** How long a client may leave its answer unread. */
const unreadMsMax = 30_000;
/** The same for an answer of more than 4 MiB, while others wait to be read, too. */
const largeUnreadMsMax = 10_000;

/** Nothing between the server and a reader may cache or buffer a live stream. */
const streamHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
};

const inspectPrefix = '/_oncemq/';
const consolePath = '/_oncemq';
/** For the console: accepts SQS actions like the root path, but not from pages of other sites. */
const actionsPath = 'sqs';

const endedTooEarly = 'HPE_INVALID_EOF_STATE';
/** As node:http answers by itself what it cannot read; everything else is 400. */
const statusOfError: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

export interface Listener {
  readonly server: Server;
  /** Answers the requests in progress, then closes every connection. */
  close(): Promise<void>;
}

export interface ListenerOptions {
  /** Who reads connections: our own reader while their requests are plain, or node:http from the start. */
  readonly http: 'plain' | 'node';
  readonly onError: (error: unknown) => void;
  /** The URL by which clients reach the server, if it differs from the Host header. */
  readonly publicUrl?: string | undefined;
  /** Host names under which browsers may use the server, in lower case, beyond local names and that of the public URL. */
  readonly browserHosts: readonly string[];
  readonly metrics?: Metrics | undefined;
  /** How many bytes the bodies of all requests may take together; and again, the answers that are not read. */
  readonly bodyBytesMax: number;
  /** Default 30 s. */
  readonly unreadMsMax?: number | undefined;
  /** Called when a connection is closed: its answer was not read, or it sent too many requests before their answers. */
  readonly onClosed?: ((cause: 'unread' | 'pipelined') => void) | undefined;
  /** Why a request may not use `/metrics` and the endpoints below `/_oncemq/`; absent if every request may. */
  readonly rejectionOf?:
    | ((request: ApiRequest) => Promise<InspectResponse | undefined>)
    | undefined;
}

export function createListener(api: Api, inspect: Inspect, options: ListenerOptions): Listener {
  const { onError, metrics } = options;
  const answer = (call: HttpRequest): Promise<AnyResponse> => {
    const rejection = foreignNameRejection(call, options);
    if (rejection !== undefined) return Promise.resolve(inspectAnswer(rejection));
    const path = inspectPathOf(call);
    if (path !== undefined) return answerInspect(api, inspect, { call, path }, options);
    // Cannot be the path of a queue: those begin with an account.
    if (call.path === metricsPath && metrics !== undefined)
      return answerMetrics(metrics, call, options);
    const isPage = call.path === consolePath && call.method === 'GET';
    if (isPage) return Promise.resolve(toConsole);
    return isOpenedInBrowser(call) ? Promise.resolve(fromRoot) : api.handle(call);
  };
  const refuseTruncated = (call: ApiRequest): ApiResponse =>
    api.fail(call, 'input-malformed', { reason: 'The request ended before its body did.' });
  const budget = new BodyBudget(options.bodyBytesMax);
  const unread = new UnreadAnswers({
    msMax: options.unreadMsMax ?? unreadMsMax,
    largeMsMax: Math.min(options.unreadMsMax ?? unreadMsMax, largeUnreadMsMax),
    bytesMax: options.bodyBytesMax,
    onClose: () => options.onClosed?.('unread'),
  });
  const turns = new Turns(() => options.onClosed?.('pipelined'));
  /** How many requests to node:http have arrived and are not answered yet. */
  let answering = 0;
  let isClosing = false;
  const take = (request: IncomingMessage, response: ServerResponse): void =>
    readBody(request, response, budget, ({ bytes, refusal, release }) => {
      const call = callOf(request, response, bytes);
      tellOf(call, request.socket);
      const answered =
        refusal === undefined
          ? answer(call)
          : Promise.resolve(api.fail(call, refusal.code, refusal.detail));
      answering += 1;
      answered.then(
        (ready) => {
          answering -= 1;
          release();
          // While the server stops, a connection must not be kept open for another request.
          if (isClosing || refusal !== undefined) response.shouldKeepAlive = false;
          send(response, ready, unread);
        },
        (error: unknown) => {
          answering -= 1;
          release();
          onError(error);
          response.destroy();
        },
      );
    });
  const server = createServer((request, response) => {
    turns.take(request, response, () => take(request, response));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const { request, response } = turns.latest(socket) ?? {};
    if (error.code === endedTooEarly && request?.complete === false && response !== undefined) {
      response.shouldKeepAlive = false;
      send(response, refuseTruncated(callOf(request, response, Buffer.alloc(0))), unread);
      return;
    }
    const isBeingAnswered = response?.headersSent === true && !response.writableFinished;
    if (socket.writable && !isBeingAnswered) {
      socket.write(bareHead(statusOfError[error.code ?? ''] ?? 400));
    }
    socket.destroy(error);
  });
  server.maxConnections = connectionsMax;
  server.requestTimeout = requestMsMax;
  server.headersTimeout = headersMsMax;
  server.keepAliveTimeout = idleMsMax;
  const plain =
    options.http === 'node'
      ? undefined
      : new PlainConnections(server, {
          isPlain: (path) => !path.startsWith(consolePath) && path !== metricsPath,
          answer: (call) => api.handle(call),
          refuseTruncated,
          onError,
          budget,
          unread,
        });
  return {
    server,
    close: () => {
      isClosing = true;
      return close(server, plain, () => answering > 0 || plain?.isAnswering === true);
    },
  };
}

/** A complete answer, or a stream that continues until either side ends it. */
interface AnyResponse extends FileResponse {
  readonly parts?: ApiResponse['parts'];
  readonly bodyBytes?: ApiResponse['bodyBytes'];
  readonly stream?: InspectResponse['stream'];
}

/** Relative, so that it also works behind a proxy. */
const toConsole: AnyResponse = { status: 308, headers: { Location: '_oncemq/' }, body: '' };
/** Temporary, so that the browser does not remember it for whatever is served at this address tomorrow. */
const fromRoot: AnyResponse = { ...toConsole, status: 307 };

/** Whether somebody typed the server's address or followed a link to it. No AWS client sends this header. */
function isOpenedInBrowser({ method, path, query, headers }: HttpRequest): boolean {
  const isRoot = path === '/' && query === '';
  return isRoot && method === 'GET' && headers['sec-fetch-mode'] === 'navigate';
}

function callOf(request: IncomingMessage, response: ServerResponse, body: Buffer): HttpRequest {
  // The request target may be an absolute URL (RFC 9112, 3.2.2); only the part after the host matters.
  const url = (request.url ?? '/').replace(/^https?:\/\/[^/?#]*/i, '') || '/';
  const head = { ...partsOf(url), headers: request.headers as ApiRequest['headers'] };
  return new HttpRequest(request.method ?? 'GET', head, body, (listener) => {
    if (response.destroyed) listener();
    else response.once('close', listener);
  });
}

function send(response: ServerResponse, answer: AnyResponse, unread: UnreadAnswers): void {
  const { status, headers, body, parts, stream } = answer;
  if (stream !== undefined) {
    // The connection ends with the stream: a client that does not read would otherwise hold it open.
    response.shouldKeepAlive = false;
    response.writeHead(status, headers);
    stream(response);
    return;
  }
  // node:http accepts a flat list without processing it again.
  const lines: (string | number)[] = [
    'Content-Length',
    answer.bodyBytes ?? Buffer.byteLength(body),
  ];
  for (const name in headers) lines.push(name, headers[name] as string);
  response.writeHead(status, lines as unknown as OutgoingHttpHeader[]);
  const { socket } = response;
  if (parts === undefined) response.end(body);
  else sendParts(response, parts, () => response.end());
  const unreadBytes = parts === undefined ? socket?.writableLength : answer.bodyBytes;
  if (socket === null || !unreadBytes) return;
  unread.watch(socket, unreadBytes);
  // Before the next request begins, which may stop reading again.
  response.prependOnceListener('close', () => unread.forget(socket));
}

/** The path below `/_oncemq/`; undefined for requests to the API. */
function inspectPathOf({ path, method }: HttpRequest): string | undefined {
  if (path.startsWith(inspectPrefix)) return path.slice(inspectPrefix.length);
  return path === plainHealthPath && method !== 'POST' ? 'health' : undefined;
}

async function answerInspect(
  api: Api,
  inspect: Inspect,
  { call, path }: { readonly call: HttpRequest; readonly path: string },
  options: ListenerOptions,
): Promise<AnyResponse> {
  try {
    const rejection = await inspectRejection(call, options);
    if (rejection !== undefined) return inspectAnswer(rejection);
    const file = consoleFile(path, call);
    if (file !== undefined) return file;
    if (path === actionsPath && call.method === 'POST') return await api.handleAdmitted(call);
    const { method } = call;
    const query = new URLSearchParams(call.query);
    return inspectAnswer(
      await inspect.handle({ method, path, query, body: call.body.toString('utf8') }),
    );
  } catch (error) {
    options.onError(error);
    const failure = { code: 'InternalFailure', message: 'Internal error; see the server log.' };
    return inspectAnswer({ status: 500, body: { error: failure } });
  }
}

/** Metrics carry the names of queues and topics, so the rule is that of the endpoints below `/_oncemq/`. */
async function answerMetrics(
  metrics: Metrics,
  call: HttpRequest,
  options: ListenerOptions,
): Promise<AnyResponse> {
  const rejection = await inspectRejection(call, options);
  return rejection === undefined ? metrics.answer(call.method) : inspectAnswer(rejection);
}

async function inspectRejection(
  call: HttpRequest,
  { publicUrl, rejectionOf }: ListenerOptions,
): Promise<InspectResponse | undefined> {
  const rejection = await rejectionOf?.(call);
  const isReading = call.method === 'GET' || call.method === 'HEAD';
  if (rejection !== undefined || isReading) return rejection;
  return foreignPageRejection(call.headers, publicUrl);
}

function inspectAnswer(response: InspectResponse): AnyResponse {
  const { status, body, allow, challenge, contentType, stream } = response;
  if (stream !== undefined) return { status, headers: streamHeaders, body: '', stream };
  return {
    status,
    headers: {
      'Content-Type': contentType ?? 'application/json',
      ...(allow === undefined ? {} : { Allow: allow }),
      ...(challenge === undefined ? {} : { 'WWW-Authenticate': challenge }),
    },
    body: contentType === undefined ? `${JSON.stringify(body)}\n` : String(body),
  };
}

/** Waits for the requests in progress to be answered, then disconnects every client that is left. */
function close(
  server: Server,
  plain: PlainConnections | undefined,
  isAnswering: () => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const impatience = setInterval(() => {
      if (isAnswering()) return;
      server.closeAllConnections();
      plain?.destroyAll();
    }, stopMsMax);
    server.close((error) => {
      clearInterval(impatience);
      if (error === undefined) resolve();
      else reject(error);
    });
    server.closeIdleConnections();
    plain?.close();
  });
}
