/**
 * What only messages from another queue have, dead letters and redriven ones: the message id they kept, the
 * deduplication id that the move gave them, the queue they died in and how often they had been received until then, and, on
 * a standard queue, a send time older than their arrival (rule 12.7), which makes them expire out of order.
 */

import type { KeptMessage } from '../changes.ts';
import { none } from '../structures/slab.ts';
import { TimeQueue } from '../structures/time-queue.ts';

interface Moved {
  readonly messageId: string | undefined;
  readonly deduplicationId: string | undefined;
  readonly deadLetterSource: string | undefined;
  readonly receivedElsewhere: number | undefined;
  /** Its node among those that expire out of order, or `none`. */
  readonly node: number;
}

export class MovedMessages {
  readonly #byRow: Map<number, Moved> = new Map();
  /** ARNs of the queues that dead letters here have come from, with how many lie here. */
  readonly #sources: Map<string, number> = new Map();
  /** Those that came with an older send time, by that time. */
  readonly #byAge: TimeQueue = new TimeQueue();

  /** Remembers the message if it came from another queue. */
  add(row: number, sequence: number, message: KeptMessage, isOutOfOrder: boolean): void {
    const { messageId, deadLetterSource, deduplicationId, receivedElsewhere } = message;
    if (deadLetterSource === undefined && deduplicationId === undefined) return;
    const node = isOutOfOrder ? this.#byAge.insert(row, message.sentAt, sequence) : none;
    this.#byRow.set(row, {
      messageId,
      deduplicationId,
      deadLetterSource,
      receivedElsewhere,
      node,
    });
    if (deadLetterSource !== undefined) this.#count(deadLetterSource, 1);
  }

  remove(row: number): void {
    const moved = this.get(row);
    if (moved === undefined) return;
    this.#byRow.delete(row);
    if (moved.node !== none) this.#byAge.remove(moved.node);
    if (moved.deadLetterSource !== undefined) this.#count(moved.deadLetterSource, -1);
  }

  get(row: number): Moved | undefined {
    // Most queues have none: skip the lookup.
    return this.#byRow.size === 0 ? undefined : this.#byRow.get(row);
  }

  sources(): Iterable<string> {
    return this.#sources.keys();
  }

  /** The out-of-order message that was sent first, or `none`. */
  oldest(): number {
    const node = this.#byAge.first();
    return node === none ? none : this.#byAge.item(node);
  }

  clear(): void {
    this.#byRow.clear();
    this.#sources.clear();
    this.#byAge.clear();
  }

  #count(arn: string, by: number): void {
    const count = (this.#sources.get(arn) ?? 0) + by;
    if (count === 0) this.#sources.delete(arn);
    else this.#sources.set(arn, count);
  }
}
