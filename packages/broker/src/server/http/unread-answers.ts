/**
 * Answers that their clients have not read: what the kernel does not take waits in the memory of the server. Meanwhile the
 * connection is not read either, so a client that does not read cannot ask for more. It is closed when it has taken nothing
 * for up to `msMax`; with a large answer, and while answers of others wait too, after `largeMsMax`. When all unread answers
 * together exceed `bytesMax`, those that have waited longest are closed, and the large ones first: a few of them would otherwise
 * cost many others their answers.
 */

import type { Socket } from 'node:net';

export interface UnreadBounds {
  readonly msMax: number;
  readonly largeMsMax: number;
  readonly bytesMax: number;
  /** Called for each connection that is closed because its client did not read. */
  readonly onClose?: (() => void) | undefined;
}

/** Several times what any usual message takes. */
const largeBytes = 4 * 1024 * 1024;

export class UnreadAnswers {
  readonly #bounds: UnreadBounds;
  /** Oldest first. */
  readonly #waiting: Map<Socket, { readonly bytes: number; readonly stop: () => void }> = new Map();
  #bytes = 0;

  constructor(bounds: UnreadBounds) {
    this.#bounds = bounds;
  }

  /** Call after an answer was written that the kernel did not take as a whole, or whose parts are written from now on. */
  watch(socket: Socket, bytes: number = socket.writableLength): void {
    const patience = bytes > largeBytes ? this.#bounds.largeMsMax : this.#bounds.msMax;
    const onTimeout = (): void => {
      const { msMax } = this.#bounds;
      const isPatient = this.#waiting.size === 1 && socket.timeout !== msMax / 2;
      // Everything has been taken, and the next part is still to be written: nobody waits for the client.
      const isOurTurn = socket.writableLength === 0;
      if (isPatient || isOurTurn) socket.setTimeout(msMax / 2);
      else this.#close(socket);
    };
    const onClose = (): void => this.forget(socket);
    const stop = (): void => {
      socket.off('timeout', onTimeout);
      socket.off('close', onClose);
    };
    this.#waiting.set(socket, { bytes, stop });
    this.#bytes += bytes;
    socket.pause();
    // When it ends, Node starts it again if the kernel took a part of the answer meanwhile; at first that is always so.
    socket.setTimeout(patience / 2);
    socket.on('timeout', onTimeout);
    socket.on('close', onClose);
    this.#closeBeyond(largeBytes);
    this.#closeBeyond(0);
  }

  /** Call when the answer has been taken: the connection is read again. */
  forget(socket: Socket): void {
    const found = this.#waiting.get(socket);
    if (found === undefined) return;
    this.#waiting.delete(socket);
    this.#bytes -= found.bytes;
    found.stop();
    if (socket.destroyed) return;
    // node:http may have set another one, for an idle connection.
    const { msMax, largeMsMax } = this.#bounds;
    if (socket.timeout === msMax / 2 || socket.timeout === largeMsMax / 2) socket.setTimeout(0);
    socket.resume();
  }

  /** Closes connections with more unread bytes than given, until all that remain are within the bound. */
  #closeBeyond(bytes: number): void {
    for (const [oldest, waiting] of this.#waiting) {
      if (this.#bytes <= this.#bounds.bytesMax) return;
      if (waiting.bytes > bytes) this.#close(oldest);
    }
  }

  #close(socket: Socket): void {
    socket.destroy();
    this.forget(socket);
    this.#bounds.onClose?.();
  }
}
