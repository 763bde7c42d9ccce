/**
 * What can be delivered from a standard queue, and in which order: every visible message, the one that has been
 * available longest first (rule 9.5). Amazon promises no order here.
 *
 * `Shelf` is what both kinds of queue implement; message-groups.ts is the one for FIFO queues.
 */

import { none } from '../structures/slab.ts';
import { TimeQueue } from '../structures/time-queue.ts';
import type { MessageTable } from './message-table.ts';

export interface Shelf {
  /** How many message groups have messages. */
  readonly groups: number;
  /** A message was added, in whatever state; `show` follows if it is visible. `groupHash` (`groupDigest`) may be undefined. */
  add(row: number, groupId: string | undefined, groupHash: number | undefined): void;
  /** A message is removed; `hide` was called before. */
  remove(row: number): void;
  show(row: number): void;
  hide(row: number): void;
  /** The message to deliver first, or `none`. */
  first(): number;
  /** The message to deliver right after this one if the answer has room, before the next `first`; or `none`. */
  following(row: number): number;
  groupId(row: number): string | undefined;
  clear(): void;
}

export class ReadyMessages implements Shelf {
  readonly groups: number = 0;
  readonly #table: MessageTable;
  readonly #byTime: TimeQueue = new TimeQueue();

  constructor(table: MessageTable) {
    this.#table = table;
  }

  add(): void {}

  remove(): void {}

  show(row: number): void {
    const node = this.#byTime.insert(row, this.#table.availableAt(row), this.#table.stamp(row));
    this.#table.setNode(row, node);
  }

  hide(row: number): void {
    this.#byTime.remove(this.#table.node(row));
  }

  first(): number {
    const node = this.#byTime.first();
    return node === none ? none : this.#byTime.item(node);
  }

  following(): number {
    return none;
  }

  groupId(): undefined {
    return undefined;
  }

  clear(): void {
    this.#byTime.clear();
  }
}
