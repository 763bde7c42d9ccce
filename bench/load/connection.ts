/**
 * One connection of the load, on a bare socket: writes a request, reads its response, tells the load, and is free for the
 * next. Node's HTTP client would cost more than the servers under test and would dominate the measurement.
 *
 * If a server answers with `Connection: close`, the next request gets a new connection.
 */

import { connect, type Socket } from 'node:net';
import type { Conversation } from './conversation.ts';

export interface ConnectionUser {
  onAnswer(connection: Connection): void;
  /** Connected, with no request in flight. May write the next request at once. */
  onFree(connection: Connection): void;
  onFailure(error: Error): void;
}

const answerBytesMax = 64 * 1024;
const headEnd = Buffer.from('\r\n\r\n');

export class Connection {
  /** For the caller's use: when the request in flight was due. */
  dueAt = 0;
  readonly #port: number;
  readonly #conversation: Conversation;
  readonly #user: ConnectionUser;
  readonly #buffer: Buffer = Buffer.allocUnsafe(answerBytesMax);
  #socket: Socket;
  /** The beginning of an incomplete response. */
  #part: Buffer | undefined;
  #isClosed = false;

  constructor(port: number, conversation: Conversation, user: ConnectionUser) {
    this.#port = port;
    this.#conversation = conversation;
    this.#user = user;
    this.#socket = this.#connect();
  }

  get isAmid(): boolean {
    return this.#conversation.isAmid;
  }

  write(): void {
    this.#socket.write(this.#conversation.request());
  }

  close(): void {
    this.#isClosed = true;
    this.#socket.destroy();
  }

  #connect(): Socket {
    const socket: Socket = connect({
      port: this.#port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: this.#buffer,
        callback: (size: number) => this.#read(socket, this.#buffer.subarray(0, size)),
      },
    });
    socket.on('connect', () => this.#user.onFree(this));
    socket.on('error', (error) => this.#user.onFailure(error));
    socket.on('close', () => {
      if (this.#isClosed || socket !== this.#socket) return;
      this.#user.onFailure(new Error('the server closed a connection'));
    });
    return socket;
  }

  #read(socket: Socket, fresh: Buffer): boolean {
    if (socket !== this.#socket) return false;
    const bytes = this.#part === undefined ? fresh : Buffer.concat([this.#part, fresh]);
    const headLength = bytes.indexOf(headEnd);
    const head = headLength < 0 ? undefined : bytes.toString('latin1', 0, headLength);
    const start = headLength + headEnd.length;
    const end = head === undefined ? Number.POSITIVE_INFINITY : start + lengthIn(head);
    if (head === undefined || bytes.length < end) {
      // The socket reuses the buffer, so what is kept of it must be copied.
      this.#part = Buffer.from(bytes);
      return true;
    }
    this.#part = undefined;
    this.#answered(head, { bytes, start, end });
    return true;
  }

  #answered(head: string, body: { bytes: Buffer; start: number; end: number }): void {
    try {
      if (!head.startsWith('200', 'HTTP/1.1 '.length)) {
        throw new Error(`an answer had another status than 200: ${body.bytes.toString('utf8')}`);
      }
      this.#conversation.answered(body);
      this.#user.onAnswer(this);
    } catch (error) {
      this.#user.onFailure(error as Error);
      return;
    }
    if (/\r\nconnection: close/i.test(head)) {
      const old = this.#socket;
      this.#socket = this.#connect();
      old.destroy();
    } else {
      this.#user.onFree(this);
    }
  }
}

function lengthIn(head: string): number {
  const found = /\r\ncontent-length: (\d+)/i.exec(head);
  if (found === null) throw new Error(`an answer had no Content-Length: ${head}`);
  return Number(found[1]);
}
