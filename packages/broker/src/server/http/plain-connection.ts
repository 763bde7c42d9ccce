/**
 * A connection whose requests have the plain form (request-head.ts) and come one at a time. They are read and answered
 * directly on the socket, which takes half the time that node:http needs with its own objects and streams. At the first
 * request that has another form, is large, or is pipelined, the connection is handed to node:http with every unanswered
 * byte, and stays there.
 *
 * Bounds: one request at a time, of at most `plainBytesMax`, and slightly more than that again of bytes that arrive before
 * the answer is sent. The sweep of PlainConnections ends idle connections and those whose request does not arrive.
 */

import { Buffer } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiRequest, ApiResponse } from '../../api/handler.ts';
import { Call, tellOf } from './call.ts';
import { type RequestHead, readPlainHead } from './request-head.ts';
import { copyOf, SharedReading } from './shared-reading.ts';

/** Head and body together; larger requests gain nothing from this path. */
const plainBytesMax = 64 * 1024;

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
}

type State = 'idle' | 'reading' | 'answering' | 'over';

export class PlainConnection {
  readonly #socket: Socket;
  readonly #reading: SharedReading;
  readonly #listener: PlainListener;
  readonly #onGone: () => void;
  #state: State = 'idle';
  /** The number of sweeps when the current state began. */
  #since: number;
  #head: RequestHead | undefined;
  /** The request being read, or the bytes that arrived while the previous request was being answered. */
  #chunks: Buffer[] = [];
  #missingBytes = 0;
  /** How many bytes arrived while the previous request was being answered. */
  #heldBytes = 0;
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
    socket.on('error', this.#fail);
    socket.on('close', this.#close);
  }

  get isIdle(): boolean {
    return this.#state === 'idle';
  }

  get isAnswering(): boolean {
    return this.#state === 'answering';
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Ends the connection if it has waited for a request, or for the rest of one, since before the given sweep. */
  sweep(sweep: number): void {
    if (this.#state === 'answering' || this.#since >= sweep) return;
    if (this.#state === 'reading') this.#socket.write(timedOut);
    this.destroy();
  }

  /** The buffer is overwritten by the next read, so what is kept of it is copied. */
  #take(buffer: Buffer, length: number): void {
    if (this.#state === 'idle') this.#begin(buffer, length);
    else this.#continue(copyOf(buffer, 0, length));
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
      this.#listener.isPlain(head.path) &&
      !this.#socket.writableNeedDrain;
    const missingBytes = isTaken ? bodyAt + head.bodyBytes - length : -1;
    if (!isTaken || missingBytes < 0) {
      this.#handOver([buffer.subarray(0, length)]);
    } else if (missingBytes === 0) {
      this.#answer(head, copyOf(buffer, bodyAt, length));
    } else {
      this.#enter('reading');
      this.#head = head;
      this.#chunks = [copyOf(buffer, 0, length)];
      this.#missingBytes = missingBytes;
    }
  }

  #continue(chunk: Buffer): void {
    this.#chunks.push(chunk);
    if (this.#state === 'answering') {
      // Held until the answer is sent. Reading continues meanwhile: a socket must be read to notice that the client left.
      this.#heldBytes += chunk.length;
      if (this.#heldBytes > plainBytesMax) this.#socket.pause();
      return;
    }
    this.#missingBytes -= chunk.length;
    if (this.#missingBytes > 0) return;
    const chunks = this.#chunks;
    this.#chunks = [];
    if (this.#missingBytes < 0) {
      this.#handOver(chunks);
      return;
    }
    const request = Buffer.concat(chunks);
    const head = this.#head as RequestHead;
    this.#answer(head, request.subarray(request.length - head.bodyBytes));
  }

  #answer(head: RequestHead, body: Buffer): void {
    this.#enter('answering');
    const call = new Call('POST', head, body, this.#whenGone);
    tellOf(call, this.#socket);
    this.#listener.answer(call).then(this.#send, this.#fail);
  }

  readonly #whenGone = (listener: () => void): void => {
    if (this.#socket.destroyed || this.#isLast) listener();
    else this.#goneListener = listener;
  };

  readonly #send = (response: ApiResponse): void => {
    if (this.#state === 'over') return;
    this.#goneListener = undefined;
    // While the server stops, a connection must not be kept open for another request.
    const isLast = this.#isLast || this.#listener.isClosing;
    const { body, bodyBytes = Buffer.byteLength(body) } = response;
    const text = headText(response, bodyBytes, isLast ? 0 : this.#listener.keepAliveSeconds) + body;
    const encoding = bodyBytes === body.length ? 'latin1' : 'utf8';
    if (isLast) {
      this.#enter('over');
      this.#socket.end(text, encoding, () => this.destroy());
      return;
    }
    this.#socket.write(text, encoding);
    this.#enter('idle');
    if (this.#chunks.length > 0) this.#handOver(this.#chunks);
  };

  readonly #end = (): void => {
    // The client may still read its answer, but a long poll counts as abandoned.
    this.#isLast = true;
    this.#goneListener?.();
    if (this.#state === 'answering') return;
    if (this.#state === 'reading') {
      const call = new Call('POST', this.#head as RequestHead, noBody, this.#whenGone);
      this.#send(this.#listener.refuseTruncated(call));
      return;
    }
    this.#enter('over');
    this.#socket.end();
  };

  readonly #fail = (error: unknown): void => {
    // Errors of the socket itself are the client's and are not reported.
    if (this.#state === 'answering' && !this.#socket.destroyed) this.#listener.onError(error);
    this.destroy();
  };

  readonly #close = (): void => {
    this.#enter('over');
    this.#goneListener?.();
    this.#onGone();
  };

  #enter(state: State): void {
    this.#state = state;
    this.#since = this.#listener.sweeps;
  }

  #handOver(chunks: readonly Buffer[]): void {
    const socket = this.#socket;
    this.#enter('over');
    this.#reading.end();
    socket.off('end', this.#end);
    socket.off('error', this.#fail);
    socket.off('close', this.#close);
    this.#onGone();
    socket.pause();
    socket.unshift(Buffer.concat(chunks));
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
