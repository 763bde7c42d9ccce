/**
 * A connection whose requests have the plain form (request-head.ts). They are read and answered directly on the socket, which
 * takes half the time that node:http needs with its own objects and streams. At the first request that has another form, or
 * is large, the connection is handed to node:http with every unanswered byte, and stays there.
 *
 * Bounds: one request at a time, of at most `plainBytesMax`; the next one begins when the answer has been read. What arrives
 * before that is held, up to one read beyond `nextBytesMax`, then the socket is not read until the answer is sent. All held
 * bytes count in the budget of bodies; a request without room there is handed to node:http, which refuses it. The sweep of
 * PlainConnections ends idle connections and those whose request does not arrive.
 */

import { Buffer } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiRequest, ApiResponse } from '../../api/handler.ts';
import { type BodyBudget, HeldBytes } from './held-bytes.ts';
import { HttpRequest, tellOf } from './http-request.ts';
import { sendParts } from './parts.ts';
import { type RequestHead, readPlainHead } from './request-head.ts';
import { copyOf, SharedReading } from './shared-reading.ts';
import type { UnreadAnswers } from './unread-answers.ts';

/** Head and body together; larger requests gain nothing from this path. */
const plainBytesMax = 64 * 1024;
/** How much may arrive while a request is answered until the socket is no longer read. */
const nextBytesMax = 4 * 1024;

/** As bytes: a text would be turned into bytes with every search. */
const emptyLine = Buffer.from('\r\n\r\n');
/** The answer to a request that does not arrive, as node:http words it. */
const timedOut = bareHead(408);
const noBody: Buffer = Buffer.alloc(0);

/** What a connection needs from the listener that it belongs to. */
export interface PlainListener {
  /** Whether `answer` handles requests to this path. */
  isPlain(path: string): boolean;
  answer(call: ApiRequest): Promise<ApiResponse>;
  /** The answer to a request whose body ended too early. */
  refuseTruncated(call: ApiRequest): ApiResponse;
  /** Passes a connection to node:http, as if nothing had been read from it. */
  handOver(socket: Socket): void;
  onError(error: unknown): void;
  /** Whether each connection closes after its next answer. */
  readonly isClosing: boolean;
  /** The number of sweeps so far; connections measure time in it instead of reading a clock. */
  readonly sweeps: number;
  readonly keepAliveSeconds: number;
  readonly budget: BodyBudget;
  readonly unread: UnreadAnswers;
}

type State = 'idle' | 'reading' | 'answering' | 'unread' | 'over';

export class PlainConnection {
  readonly #socket: Socket;
  readonly #reading: SharedReading;
  readonly #listener: PlainListener;
  readonly #onGone: () => void;
  #state: State = 'idle';
  /** The number of sweeps when the current state began. */
  #since: number;
  #head: RequestHead | undefined;
  /** The request, if it did not arrive in one piece. */
  #request: HeldBytes | undefined;
  #requestBytes = 0;
  /** What the budget counts for the body being answered, if it arrived in one piece. */
  #countedBytes = 0;
  /** The bytes that arrived after the request. */
  #next: HeldBytes | undefined;
  /** Whether bytes after the request were dropped, because there was no room for them. */
  #isCut = false;
  #isLast = false;
  #goneListener: (() => void) | undefined;

  constructor(accepted: Socket, listener: PlainListener, onGone: () => void) {
    this.#listener = listener;
    this.#onGone = onGone;
    this.#since = listener.sweeps;
    this.#reading = new SharedReading(accepted, (buffer, length) => this.#take(buffer, length));
    const { socket } = this.#reading;
    this.#socket = socket;
    socket.on('end', this.#end);
    socket.on('error', this.#leave);
    socket.on('close', this.#close);
  }

  get isIdle(): boolean {
    return this.#state === 'idle';
  }

  get isAnswering(): boolean {
    return this.#state === 'answering';
  }

  get #isOver(): boolean {
    return this.#state === 'over';
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Ends the connection if it has waited for a request, or for the rest of one, since before the given sweep. */
  sweep(sweep: number): void {
    if (this.#state === 'answering' || this.#state === 'unread' || this.#since >= sweep) return;
    if (this.#state === 'reading') this.#socket.write(timedOut);
    this.destroy();
  }

  /** The buffer is overwritten by the next read, so what is kept of it is copied. */
  #take(buffer: Buffer, length: number): void {
    if (this.#state === 'idle') this.#begin(buffer, length);
    else if (this.#state === 'reading') this.#continue(buffer, length);
    else this.#holdNext(buffer.subarray(0, length));
  }

  #begin(buffer: Buffer, length: number): void {
    const headBytes = buffer.indexOf(emptyLine);
    const bodyAt = headBytes + emptyLine.length;
    // An empty line that ends after what was read was left behind by an earlier read.
    const hasHead = headBytes >= 0 && bodyAt <= length;
    const head = hasHead ? readPlainHead(buffer.toString('latin1', 0, headBytes)) : undefined;
    const isTaken =
      head !== undefined &&
      bodyAt + head.bodyBytes <= plainBytesMax &&
      this.#listener.isPlain(head.path);
    if (!isTaken) {
      this.#handOver(buffer.subarray(0, length));
      return;
    }
    const end = bodyAt + head.bodyBytes;
    if (end <= length) {
      if (!this.#listener.budget.recount(0, head.bodyBytes)) {
        this.#handOver(buffer.subarray(0, length));
        return;
      }
      this.#countedBytes = head.bodyBytes;
      const body = copyOf(buffer, bodyAt, end);
      if (end < length) this.#holdPipelined(buffer.subarray(end, length));
      this.#answer(head, body);
      return;
    }
    this.#enter('reading');
    this.#head = head;
    this.#requestBytes = end;
    this.#request = new HeldBytes(this.#listener.budget);
    this.#continue(buffer, length);
  }

  #continue(buffer: Buffer, length: number): void {
    const request = this.#request as HeldBytes;
    const taken = Math.min(length, this.#requestBytes - request.length);
    if (!request.add(buffer.subarray(0, taken), this.#requestBytes)) {
      this.#handOver(Buffer.concat([request.bytes, buffer.subarray(0, length)]));
      return;
    }
    if (request.length < this.#requestBytes) return;
    if (taken < length) this.#holdPipelined(buffer.subarray(taken, length));
    const head = this.#head as RequestHead;
    this.#answer(head, request.bytes.subarray(this.#requestBytes - head.bodyBytes));
  }

  /** Reading continues for a while during an answer: a socket must be read to notice that the client left. */
  #holdNext(bytes: Buffer): void {
    if (this.#isCut) return;
    this.#next ??= new HeldBytes(this.#listener.budget);
    this.#isCut = !this.#next.add(bytes, plainBytesMax);
    if (this.#isCut) this.#next.release();
    else if (this.#next.length > nextBytesMax) this.#socket.pause();
  }

  /** A client that pipelines may have ended its side already, which is to be noticed only after its last request. */
  #holdPipelined(bytes: Buffer): void {
    this.#holdNext(bytes);
    this.#socket.pause();
  }

  #answer(head: RequestHead, body: Buffer): void {
    this.#enter('answering');
    const call = new HttpRequest('POST', head, body, this.#whenGone);
    tellOf(call, this.#socket);
    this.#listener.answer(call).then(this.#send, this.#fail);
  }

  readonly #whenGone = (listener: () => void): void => {
    if (this.#socket.destroyed || this.#isLast) listener();
    else this.#goneListener = listener;
  };

  readonly #send = (response: ApiResponse): void => {
    this.#releaseRequest();
    if (this.#state === 'over') return;
    this.#goneListener = undefined;
    // While the server stops, a connection must not be kept open for another request.
    const isLast = this.#isLast || this.#isCut || this.#listener.isClosing;
    const { body, parts, bodyBytes = Buffer.byteLength(body) } = response;
    const text = headText(response, bodyBytes, isLast ? 0 : this.#listener.keepAliveSeconds) + body;
    const encoding = bodyBytes === body.length ? 'latin1' : 'utf8';
    const socket = this.#socket;
    if (parts !== undefined) {
      this.#enter('unread');
      socket.write(text, encoding);
      this.#listener.unread.watch(socket, bodyBytes);
      sendParts(socket, parts, () => this.#read(isLast));
      return;
    }
    if (isLast) {
      this.#enter('over');
      socket.end(text, encoding, () => this.destroy());
      if (socket.writableLength > 0) this.#listener.unread.watch(socket);
      return;
    }
    socket.write(text, encoding);
    if (socket.writableLength === 0) {
      this.#proceed();
      return;
    }
    this.#enter('unread');
    this.#listener.unread.watch(socket);
    // Called when everything before it is written.
    socket.write(noBody, (error) => {
      if (!error) this.#read(false);
    });
  };

  /** The client has taken an answer that had to wait for it. */
  #read(isLast: boolean): void {
    if (this.#isOver) return;
    this.#listener.unread.forget(this.#socket);
    if (!isLast) {
      this.#proceed();
      return;
    }
    this.#enter('over');
    this.#socket.end(() => this.destroy());
  }

  /** The answer is sent: waits for the next request, or begins with what has arrived of it. */
  #proceed(): void {
    this.#enter('idle');
    const next = this.#next;
    if (next === undefined || next.length === 0) return;
    this.#next = undefined;
    this.#begin(next.bytes, next.length);
    next.release();
    // Otherwise there are more requests; or node:http has the socket.
    if (this.#next === undefined && !this.#isOver) this.#socket.resume();
  }

  #releaseRequest(): void {
    this.#listener.budget.recount(this.#countedBytes, 0);
    this.#countedBytes = 0;
    this.#request?.release();
    this.#request = undefined;
  }

  readonly #end = (): void => {
    // The client may still read its answer, but a long poll counts as abandoned.
    this.#isLast = true;
    this.#goneListener?.();
    if (this.#state === 'answering' || this.#state === 'unread') return;
    if (this.#state === 'reading') {
      const call = new HttpRequest('POST', this.#head as RequestHead, noBody, this.#whenGone);
      this.#send(this.#listener.refuseTruncated(call));
      return;
    }
    this.#enter('over');
    this.#socket.end();
  };

  readonly #fail = (error: unknown): void => {
    this.#releaseRequest();
    if (!this.#socket.destroyed) this.#listener.onError(error);
    this.destroy();
  };

  /** Errors of the socket itself are the client's and are not reported. */
  readonly #leave = (): void => this.destroy();

  readonly #close = (): void => {
    // A request that is being answered is released with its answer.
    if (this.#state !== 'answering') this.#releaseRequest();
    this.#next?.release();
    this.#enter('over');
    this.#goneListener?.();
    this.#onGone();
  };

  #enter(state: State): void {
    this.#state = state;
    this.#since = this.#listener.sweeps;
  }

  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    // Copied: the bytes may be in a shared buffer.
    const unanswered = Buffer.from(bytes);
    this.#releaseRequest();
    this.#enter('over');
    this.#reading.end();
    socket.off('end', this.#end);
    socket.off('error', this.#leave);
    socket.off('close', this.#close);
    this.#onGone();
    socket.pause();
    socket.unshift(unanswered);
    this.#listener.handOver(socket);
    process.nextTick(() => socket.resume());
  }
}

/** An answer without a body. */
export function bareHead(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`;
}

function headText(
  { status, headers }: ApiResponse,
  bodyBytes: number,
  keepAliveSeconds: number,
): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Length: ${bodyBytes}\r\n`;
  for (const name in headers) text += `${name}: ${headerValue(headers[name] as string)}\r\n`;
  return text + headEnd(keepAliveSeconds);
}

const illegalInHeader = /[^\t -~]/;
const allIllegalInHeader = /[^\t -~]/g;

/** Replaces line breaks, among others: they would let the author of the value inject headers. */
function headerValue(value: string): string {
  return illegalInHeader.test(value) ? value.replace(allIllegalInHeader, '?') : value;
}

let latestEnd = { text: '', second: -1, keepAliveSeconds: 0 };

/** Made once a second: the date, and how long the connection is kept alive, or that it is closed. */
function headEnd(keepAliveSeconds: number): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== latestEnd.second || keepAliveSeconds !== latestEnd.keepAliveSeconds) {
    const date = new Date(second * 1000).toUTCString();
    const connection =
      keepAliveSeconds === 0 ? 'close' : `keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}`;
    const text = `Date: ${date}\r\nConnection: ${connection}\r\n\r\n`;
    latestEnd = { text, second, keepAliveSeconds };
  }
  return latestEnd.text;
}
