/**
 * What senders wrote, as this node wrote it to the journal lately. Most messages are delivered soon, often by the node that
 * took them; so most deliveries read nothing from the database. Bounded by bytes: the oldest leave first.
 */

import type { ContentKind } from './content-codec.ts';

export class ContentCache {
  readonly #bytesMax: number;
  /** The oldest first. */
  readonly #contents: Map<string, Buffer> = new Map();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(number: number, kind: ContentKind, id: number): Buffer | undefined {
    return this.#contents.get(`${number} ${kind} ${id}`);
  }

  set(number: number, { kind, id, bytes }: { kind: ContentKind; id: number; bytes: Buffer }): void {
    const key = `${number} ${kind} ${id}`;
    this.#remove(key);
    this.#contents.set(key, bytes);
    this.#bytes += bytes.length;
    for (const oldest of this.#contents.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#remove(oldest);
    }
  }

  remove(number: number, kind: ContentKind, id: number): void {
    this.#remove(`${number} ${kind} ${id}`);
  }

  clear(): void {
    this.#contents.clear();
    this.#bytes = 0;
  }

  #remove(key: string): void {
    this.#bytes -= this.#contents.get(key)?.length ?? 0;
    this.#contents.delete(key);
  }
}
