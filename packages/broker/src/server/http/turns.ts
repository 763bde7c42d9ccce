/**
 * One request at a time on each connection of node:http. Node hands over pipelined requests as it parses them; here, each waits
 * until the answer to the one before it has been read, and the connection is not read while any waits.
 *
 * Node may parse thousands of short requests from a single read, and each costs some kilobytes until it is answered, so a
 * connection on which more than `pipelinedMax` wait is closed. AWS clients do not pipeline at all; plain requests
 * (plain-connection.ts) may be pipelined without limit.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

const pipelinedMax = 32;

interface Latest {
  request: IncomingMessage;
  response: ServerResponse;
  /** How many requests wait, the latest among them. */
  waiting: number;
}

export class Turns {
  /** The latest request of each connection. */
  readonly #latest: WeakMap<Duplex, Latest> = new WeakMap();
  readonly #onClose: () => void;

  /** `onClose` is called for each connection that is closed because too many requests wait. */
  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  latest(socket: Duplex): Readonly<Latest> | undefined {
    return this.#latest.get(socket);
  }

  /** Calls `then` when it is the request's turn; never, if the connection ends first. */
  take(request: IncomingMessage, response: ServerResponse, then: () => void): void {
    const { socket } = request;
    const latest = this.#latest.get(socket);
    if (latest === undefined) {
      this.#latest.set(socket, { request, response, waiting: 0 });
      then();
      return;
    }
    const before = latest.response;
    latest.request = request;
    latest.response = response;
    // A response counts as destroyed once it has been written.
    if (before.destroyed && latest.waiting === 0) {
      then();
      return;
    }
    latest.waiting += 1;
    if (latest.waiting > pipelinedMax) {
      if (!socket.destroyed) this.#onClose();
      socket.destroy();
      return;
    }
    socket.pause();
    before.once('close', () => {
      latest.waiting -= 1;
      if (socket.destroyed) return;
      if (latest.waiting === 0) socket.resume();
      else socket.pause();
      then();
    });
  }
}
