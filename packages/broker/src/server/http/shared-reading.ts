/**
 * Reads a connection into one buffer that all connections share. node:net reads an accepted connection into 64 KiB of new
 * memory each time, and passes what arrived through a stream: 2 µs for each request, a tenth of a SendMessage. For
 * connections that a program opens itself, it has the option `onread`, which does neither; so the handle of an accepted
 * connection moves to a new socket with that option.
 *
 * How to move a handle is not documented (`_handle`, and the option `handle`), though node:net, node:tls and
 * node:cluster all do it. Where it does not work, the accepted socket is read as usual.
 */

import { Buffer } from 'node:buffer';
import { Socket, type SocketConstructorOpts } from 'node:net';

/** As much as node:net reads at once. The bytes are only valid until the next read, of whatever connection. */
const shared: Buffer = Buffer.allocUnsafeSlow(64 * 1024);

interface Handle {
  reading: boolean;
  readStart(): number;
  readStop(): number;
}

type WithHandle = Socket & { _handle: Handle | null | undefined };

/**
 * Gets what was read: the first `length` bytes of the buffer, which may have others after them. A slice would take longer than
 * everything else that is done to read a request.
 */
export type OnRead = (buffer: Buffer, length: number) => void;

export class SharedReading {
  readonly socket: Socket;
  #onRead: OnRead | undefined;

  /** `onRead` must copy what it needs later. */
  constructor(accepted: Socket, onRead: OnRead) {
    this.#onRead = onRead;
    this.socket = this.#moved(accepted as WithHandle) ?? accepted;
    if (this.socket === accepted) accepted.on('data', this.#onData);
  }

  /** From now on the socket is a stream like any other. */
  end(): void {
    this.socket.off('data', this.#onData);
    this.#onRead = undefined;
  }

  readonly #onData = (chunk: Buffer): void => this.#onRead?.(chunk, chunk.length);

  #moved(accepted: WithHandle): Socket | undefined {
    const handle = accepted._handle;
    if (typeof handle?.readStop !== 'function') return undefined;
    // Only one of the two may read, and the new one begins by itself.
    handle.readStop();
    handle.reading = false;
    const options = {
      handle,
      allowHalfOpen: accepted.allowHalfOpen,
      onread: { buffer: shared, callback: (size: number) => this.#read(size) },
    };
    const socket = new Socket(options as SocketConstructorOpts) as WithHandle;
    if (socket._handle !== handle) {
      handle.reading = true;
      handle.readStart();
      return undefined;
    }
    accepted._handle = null;
    // The server counts the accepted one, which is an empty shell from here on.
    socket.once('close', () => accepted.destroy());
    return socket;
  }

  #read(size: number): boolean {
    if (this.#onRead === undefined) return this.socket.push(copyOf(shared, 0, size));
    this.#onRead(shared, size);
    return true;
  }
}

/** A copy of the bytes from `start` to `end`. */
export function copyOf(buffer: Buffer, start: number, end: number): Buffer {
  return Buffer.from(buffer.subarray(start, end));
}
