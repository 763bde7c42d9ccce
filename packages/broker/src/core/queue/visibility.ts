/**
 * Which of a queue's messages can be seen, and when the others will be. Where a message is, by its state:
 *   visible   on the shelf: deliverable itself (standard) or in its group (FIFO);
 *   delayed   in the queue of hidden messages until its delay is over; never received;
 *   inFlight  in the queue of hidden messages until its visibility timeout is over.
 */

import { none } from '../structures/slab.ts';
import { TimeQueue } from '../structures/time-queue.ts';
import { delayed, inFlight, type MessageTable, visible } from './message-table.ts';
import type { Shelf } from './ready-messages.ts';

export class Visibility {
  readonly #table: MessageTable;
  readonly #shelf: Shelf;
  /** Delayed messages and those in flight, by the time at which they become visible. */
  readonly #hidden: TimeQueue = new TimeQueue();
  /** The delay of a FIFO queue, the same for all its messages; 0 on a standard queue, where each has its own. */
  #commonDelayMs: number;
  #inFlight = 0;
  #delayed = 0;

  constructor(table: MessageTable, shelf: Shelf, commonDelayMs: number) {
    this.#table = table;
    this.#shelf = shelf;
    this.#commonDelayMs = commonDelayMs;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get delayed(): number {
    return this.#delayed;
  }

  get visible(): number {
    return this.#table.size - this.#inFlight - this.#delayed;
  }

  /** When a message that is hidden becomes visible; undefined if it is visible. */
  visibleAt(row: number): number | undefined {
    return this.#table.state(row) === visible
      ? undefined
      : this.#hidden.time(this.#table.node(row));
  }

  /** When the next one becomes visible; infinite if none is hidden. */
  nextAt(): number {
    const node = this.#hidden.first();
    return node === none ? Number.POSITIVE_INFINITY : this.#hidden.time(node);
  }

  /** Puts a message where it belongs by its times, as of now. */
  schedule(row: number, now: number): void {
    const wasReceived = this.#table.hasDelivery(row);
    const visibleAt = this.#table.availableAt(row) + (wasReceived ? 0 : this.#commonDelayMs);
    if (visibleAt <= now) {
      this.#show(row);
      return;
    }
    this.#table.setState(row, wasReceived ? inFlight : delayed);
    if (wasReceived) this.#inFlight += 1;
    else this.#delayed += 1;
    this.#table.setNode(row, this.#hidden.insert(row, visibleAt, this.#table.stamp(row)));
  }

  /** Takes a message from where it is, before it is removed or scheduled again. */
  unschedule(row: number): void {
    const state = this.#table.state(row);
    if (state === visible) {
      this.#shelf.hide(row);
      return;
    }
    if (state === inFlight) this.#inFlight -= 1;
    else this.#delayed -= 1;
    this.#hidden.remove(this.#table.node(row));
  }

  showDue(now: number): void {
    let node = this.#hidden.first();
    while (node !== none && this.#hidden.time(node) <= now) {
      const row = this.#hidden.item(node);
      this.unschedule(row);
      this.#show(row);
      node = this.#hidden.first();
    }
  }

  /**
   * A FIFO queue's delay is always its current setting (rule 11.24). Only messages younger than the longer of the two
   * delays can change their state, and they are at the end of the order.
   */
  setCommonDelay(delayMs: number, now: number): void {
    if (delayMs === this.#commonDelayMs) return;
    const longerMs = Math.max(delayMs, this.#commonDelayMs);
    this.#commonDelayMs = delayMs;
    let row = this.#table.newest();
    while (row !== none && this.#table.sentAt(row) + longerMs > now) {
      if (!this.#table.hasDelivery(row)) {
        this.unschedule(row);
        this.schedule(row, now);
      }
      row = this.#table.older(row);
    }
  }

  clear(): void {
    this.#hidden.clear();
    this.#inFlight = 0;
    this.#delayed = 0;
  }

  #show(row: number): void {
    this.#table.setState(row, visible);
    this.#shelf.show(row);
  }
}
