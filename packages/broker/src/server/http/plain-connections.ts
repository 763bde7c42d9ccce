/**
 * All connections of a server that have not been handed to node:http. One periodic sweep, instead of a timer for each,
 * ends those that have waited for their client too long: the keep-alive timeout of node:http plus up to one sweep.
 */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { PlainConnection, type PlainListener } from './plain-connection.ts';

const sweepMs = 15_000;

type PlainAnswers = Pick<
  PlainListener,
  'isPlain' | 'answer' | 'refuseTruncated' | 'onError' | 'budget' | 'unread'
>;

export class PlainConnections implements PlainListener {
  readonly keepAliveSeconds: number;
  readonly handOver: (socket: Socket) => void;
  readonly isPlain: PlainListener['isPlain'];
  readonly answer: PlainListener['answer'];
  readonly refuseTruncated: PlainListener['refuseTruncated'];
  readonly onError: PlainListener['onError'];
  readonly budget: PlainListener['budget'];
  readonly unread: PlainListener['unread'];
  isClosing = false;
  sweeps = 0;
  readonly #open: Set<PlainConnection> = new Set();
  readonly #sweepsMax: number;
  readonly #sweeping: NodeJS.Timeout;

  /** Takes over every new connection of the server; `isPlain` says which paths `answer` handles. */
  constructor(server: Server, answers: PlainAnswers) {
    this.isPlain = answers.isPlain;
    this.answer = answers.answer;
    this.refuseTruncated = answers.refuseTruncated;
    this.onError = answers.onError;
    this.budget = answers.budget;
    this.unread = answers.unread;
    this.keepAliveSeconds = Math.floor(server.keepAliveTimeout / 1000);
    this.#sweepsMax = server.keepAliveTimeout / sweepMs;
    const toNode = server.listeners('connection');
    server.removeAllListeners('connection');
    this.handOver = (socket) => {
      for (const listener of toNode) listener.call(server, socket);
    };
    server.on('connection', (socket: Socket) => {
      const connection = new PlainConnection(socket, this, () => this.#open.delete(connection));
      this.#open.add(connection);
    });
    this.#sweeping = setInterval(() => this.#sweep(), sweepMs);
    this.#sweeping.unref();
  }

  get isAnswering(): boolean {
    return [...this.#open].some((connection) => connection.isAnswering);
  }

  /** Lets the requests in progress be answered, and those that have already arrived be read. */
  close(): void {
    this.isClosing = true;
    clearInterval(this.#sweeping);
    // After two immediates, the event loop has polled the sockets once more.
    setImmediate(() => setImmediate(() => this.#destroyIdle()));
  }

  destroyAll(): void {
    for (const connection of this.#open) connection.destroy();
  }

  #destroyIdle(): void {
    for (const connection of this.#open) if (connection.isIdle) connection.destroy();
  }

  #sweep(): void {
    this.sweeps += 1;
    const oldest = this.sweeps - this.#sweepsMax;
    for (const connection of this.#open) connection.sweep(oldest);
  }
}
