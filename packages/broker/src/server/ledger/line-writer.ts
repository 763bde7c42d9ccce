/**
 * Writes lines to segments without blocking the caller: `append` only buffers, and the buffer is written a moment later in
 * one batch. If writing fails, lines stay buffered, up to a bound, and the write is retried every second. Lines that arrive
 * while the buffer is full are lost and counted, and a line of its own reports them as soon as there is room.
 *
 * Writing: off -> (append) gathering -> (gatherMs) writing -> off, or failing -> (retryMs) writing.
 */

import type { Segments } from './segments.ts';

export interface LineWriterOptions {
  readonly segments: Segments;
  /** The line to write where some are missing. */
  readonly gapLine: (lost: number) => string;
  readonly onFailure: (error: unknown) => void;
  readonly onRecovery: () => void;
}

/** How long lines are collected; a kill loses at most this long and one write. */
const gatherMs = 20;
const retryMs = 1_000;
/** The buffered lines, in characters. */
const waitingLengthMax = 64 * 1024 * 1024;
const batchBytesMax = 4 * 1024 * 1024;

export class LineWriter {
  readonly #options: LineWriterOptions;
  #lines: string[] = [];
  #length = 0;
  /** Lines that were lost and not reported yet. */
  #untold = 0;
  #lost = 0;
  #failure: unknown;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  /** How many lines were lost so far. */
  get lost(): number {
    return this.#lost;
  }

  /** Why nothing can be written at the moment; undefined if nothing is wrong. */
  get failure(): unknown {
    return this.#failure;
  }

  append(line: string): void {
    if (this.#isClosed || this.#length + line.length > waitingLengthMax) {
      this.#lost += 1;
      this.#untold += 1;
      return;
    }
    this.#tellGap();
    this.#push(line);
    if (this.#failure === undefined) this.#writeIn(gatherMs);
  }

  /** Writes the buffered lines, if possible, and closes the file. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#writing;
    await this.#write();
    clearTimeout(this.#timer);
    if (this.#lines.length > 0) this.#lost += this.#lines.length;
    await this.#options.segments.close().catch(this.#options.onFailure);
  }

  #push(line: string): void {
    this.#lines.push(line);
    this.#length += line.length;
  }

  #tellGap(): void {
    if (this.#untold === 0) return;
    this.#push(this.#options.gapLine(this.#untold));
    this.#untold = 0;
  }

  #writeIn(milliseconds: number): void {
    if (this.#timer !== undefined || this.#writing !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined;
        if (this.#lines.length > 0) this.#writeIn(this.#failure === undefined ? 0 : retryMs);
      });
    }, milliseconds).unref();
  }

  /** Writes all buffered lines, or until something fails. Never rejects. */
  async #write(): Promise<void> {
    const { segments, onFailure, onRecovery } = this.#options;
    try {
      while (this.#lines.length > 0) {
        const count = this.#batchWithin(Math.min(segments.room, batchBytesMax));
        const batch = this.#lines.slice(0, count).join('');
        await segments.append(Buffer.from(batch));
        this.#lines = this.#lines.slice(count);
        this.#length -= batch.length;
        this.#tellGap();
        if (this.#failure !== undefined) onRecovery();
        this.#failure = undefined;
      }
    } catch (error) {
      if (this.#failure === undefined) onFailure(error);
      this.#failure = error;
    }
  }

  /** How many buffered lines fit into `bytesMax`; at least one. */
  #batchWithin(bytesMax: number): number {
    let bytes = 0;
    const end = this.#lines.findIndex((line) => {
      bytes += Buffer.byteLength(line);
      return bytes > bytesMax;
    });
    return end < 0 ? this.#lines.length : Math.max(end, 1);
  }
}
