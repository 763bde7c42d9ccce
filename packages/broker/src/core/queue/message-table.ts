/**
 * All messages of one queue: 40 bytes for each, and 48 more once it has been received. Bodies are not here (see
 * changes.ts), nor are ids (see message-id.ts). Finds a message by its sequence (sequence-index.ts), and chains messages
 * in the order of their send time, so that the oldest, the next to expire, is at hand without a search.
 *
 * Dead letters of a standard queue keep the send time they had elsewhere (rule 12.7) and so are out of order; they have
 * a chain of their own, in order of arrival.
 *
 * A message's state is `visible`, `delayed` (never received, its delay not over) or `inFlight` (received, its timeout
 * not over). It changes only through Queue, which keeps counters and time queues in step.
 */

import type { KeptDelivery, KeptMessage } from '../changes.ts';
import { none, Slab } from '../structures/slab.ts';
import { SequenceIndex } from './sequence-index.ts';

export const visible = 0;
export const delayed = 1;
export const inFlight = 2;
export type MessageState = typeof visible | typeof delayed | typeof inFlight;

// A message's record.
const sequenceWord = 0;
const sentAtWord = 2;
const groupWord = 4;
const groupNextWord = 5;
const olderWord = 6;
const newerWord = 7;
/** State in two bits, then the flags, then the delay in milliseconds. */
const stateWord = 8;
/** Its node in its time queue; once it was received, the row of its delivery, which then has the node. */
const nodeOrDeliveryWord = 9;
const messageWords = 10;

const stateBits = 3;
/** A dead letter out of order. */
const isOutOfOrderFlag = 4;
const isReceivedFlag = 8;
const delayShift = 4;

// A delivery's record.
/** The receive count, shifted left by one; the lowest bit tells whether the visibility was changed. */
const countWord = 0;
const nodeWord = 1;
const firstReceivedAtWord = 2;
const receivedAtWord = 4;
const visibleAtWord = 6;
const stampWord = 8;
const receiptWord = 10;
const deliveryWords = 12;

/** How many messages are sampled to find where a walk starts. With ten million messages it is then some thousand steps. */
const signpostsMax = 4096;

interface Chain {
  oldest: number;
  newest: number;
}

export class MessageTable {
  readonly #messages: Slab = new Slab(messageWords);
  readonly #deliveries: Slab = new Slab(deliveryWords);
  readonly #bySequence: SequenceIndex = new SequenceIndex();
  readonly #inOrder: Chain = { oldest: none, newest: none };
  readonly #outOfOrder: Chain = { oldest: none, newest: none };

  get size(): number {
    return this.#messages.size;
  }

  add(sequence: number, message: KeptMessage, isOutOfOrder: boolean): number {
    const row = this.#messages.allocate();
    const chain = isOutOfOrder ? this.#outOfOrder : this.#inOrder;
    const page = this.#messages.page(row);
    const base = this.#messages.base(row);
    page[base + groupWord] = none;
    page[base + groupNextWord] = none;
    page[base + olderWord] = chain.newest;
    page[base + newerWord] = none;
    page[base + stateWord] =
      (message.delayMs << delayShift) | (isOutOfOrder ? isOutOfOrderFlag : 0);
    page[base + nodeOrDeliveryWord] = none;
    const doubles = this.#messages.doubles(row);
    doubles[(base + sequenceWord) >> 1] = sequence;
    doubles[(base + sentAtWord) >> 1] = message.sentAt;
    this.#bySequence.add(sequence, row);
    if (chain.newest === none) chain.oldest = row;
    else this.#messages.setInt(chain.newest, newerWord, row);
    chain.newest = row;
    return row;
  }

  /** Makes room for this many messages at once. */
  reserve(messages: number): void {
    this.#bySequence.reserve(messages);
  }

  remove(row: number): void {
    const chain = this.#chainOf(row);
    const older = this.older(row);
    const newer = this.newer(row);
    if (older === none) chain.oldest = newer;
    else this.#messages.setInt(older, newerWord, newer);
    if (newer === none) chain.newest = older;
    else this.#messages.setInt(newer, olderWord, older);
    this.#bySequence.remove(this.sequence(row));
    this.#dropDelivery(row);
    this.#messages.release(row);
  }

  clear(): void {
    this.#messages.clear();
    this.#deliveries.clear();
    this.#bySequence.clear();
    this.#inOrder.oldest = this.#inOrder.newest = none;
    this.#outOfOrder.oldest = this.#outOfOrder.newest = none;
  }

  /** The message with this sequence, or `none`. */
  find(sequence: number): number {
    const row = this.#bySequence.find(sequence);
    // Clients may ask for a number that is no sequence.
    return row !== none && this.sequence(row) === sequence ? row : none;
  }

  /** The oldest of the messages that lie in order of their send time. */
  oldest(): number {
    return this.#inOrder.oldest;
  }

  newest(): number {
    return this.#inOrder.newest;
  }

  older(row: number): number {
    return this.#messages.int(row, olderWord);
  }

  newer(row: number): number {
    return this.#messages.int(row, newerWord);
  }

  /** Every message after the sequence `after`, in order of its sequence. */
  *inSequence(after: number): Generator<number> {
    let row = this.#firstBehind(after, this.#inOrder);
    let other = this.#firstBehind(after, this.#outOfOrder);
    while (row !== none || other !== none) {
      const takesOther =
        row === none || (other !== none && this.sequence(other) < this.sequence(row));
      if (takesOther) {
        yield other;
        other = this.newer(other);
      } else {
        yield row;
        row = this.newer(row);
      }
    }
  }

  /**
   * The best start for a walk to what comes after the sequence `after`: its message or, if that is gone, the nearest
   * earlier one in a sample spread over the table. A walk from the oldest would be as long as the queue. `oldest` is the
   * start of a chain; `isInChain` tells whether a message belongs to it.
   */
  nearest(after: number, oldest: number, isInChain: (row: number) => boolean): number {
    if (oldest === none || this.sequence(oldest) > after) return oldest;
    const known = this.find(after);
    if (known !== none && isInChain(known)) return known;
    let nearest = oldest;
    const step = Math.ceil(this.#messages.end / signpostsMax);
    for (let row = 0; row < this.#messages.end; row += step) {
      const sequence = this.sequence(row);
      if (sequence > after || sequence <= this.sequence(nearest)) continue;
      // A released row may hold anything; only a live message is found by its sequence.
      if (this.find(sequence) === row && isInChain(row)) nearest = row;
    }
    return nearest;
  }

  sequence(row: number): number {
    return this.#messages.double(row, sequenceWord);
  }

  sentAt(row: number): number {
    return this.#messages.double(row, sentAtWord);
  }

  delayMs(row: number): number {
    return this.#messages.int(row, stateWord) >> delayShift;
  }

  isOutOfOrder(row: number): boolean {
    return (this.#messages.int(row, stateWord) & isOutOfOrderFlag) !== 0;
  }

  state(row: number): MessageState {
    return (this.#messages.int(row, stateWord) & stateBits) as MessageState;
  }

  setState(row: number, state: MessageState): void {
    const before = this.#messages.int(row, stateWord);
    this.#messages.setInt(row, stateWord, (before & ~stateBits) | state);
  }

  /** The message's group, as a row of MessageGroups. */
  group(row: number): number {
    return this.#messages.int(row, groupWord);
  }

  setGroup(row: number, group: number): void {
    this.#messages.setInt(row, groupWord, group);
  }

  groupNext(row: number): number {
    return this.#messages.int(row, groupNextWord);
  }

  setGroupNext(row: number, next: number): void {
    this.#messages.setInt(row, groupNextWord, next);
  }

  /** Its node in its time queue, or `none`. */
  node(row: number): number {
    const at = this.#delivery(row);
    return at === none
      ? this.#messages.int(row, nodeOrDeliveryWord)
      : this.#deliveries.int(at, nodeWord);
  }

  setNode(row: number, node: number): void {
    const at = this.#delivery(row);
    if (at === none) this.#messages.setInt(row, nodeOrDeliveryWord, node);
    else this.#deliveries.setInt(at, nodeWord, node);
  }

  hasDelivery(row: number): boolean {
    return (this.#messages.int(row, stateWord) & isReceivedFlag) !== 0;
  }

  delivery(row: number): KeptDelivery | undefined {
    const at = this.#delivery(row);
    if (at === none) return undefined;
    return {
      receiveCount: this.#deliveries.int(at, countWord) >> 1,
      firstReceivedAt: this.#deliveries.double(at, firstReceivedAtWord),
      receivedAt: this.#deliveries.double(at, receivedAtWord),
      visibleAt: this.#deliveries.double(at, visibleAtWord),
      stamp: this.#deliveries.double(at, stampWord),
      receipt: this.#deliveries.double(at, receiptWord),
      isChanged: (this.#deliveries.int(at, countWord) & 1) !== 0,
    };
  }

  setDelivery(row: number, delivery: KeptDelivery): void {
    let at = this.#delivery(row);
    if (at === none) {
      at = this.#deliveries.allocate();
      this.#deliveries.setInt(at, nodeWord, none);
      this.#messages.setInt(row, nodeOrDeliveryWord, at);
      this.#messages.setInt(row, stateWord, this.#messages.int(row, stateWord) | isReceivedFlag);
    }
    const page = this.#deliveries.page(at);
    const doubles = this.#deliveries.doubles(at);
    const base = this.#deliveries.base(at);
    page[base + countWord] = (delivery.receiveCount << 1) | (delivery.isChanged ? 1 : 0);
    doubles[(base + firstReceivedAtWord) >> 1] = delivery.firstReceivedAt;
    doubles[(base + receivedAtWord) >> 1] = delivery.receivedAt;
    doubles[(base + visibleAtWord) >> 1] = delivery.visibleAt;
    doubles[(base + stampWord) >> 1] = delivery.stamp;
    doubles[(base + receiptWord) >> 1] = delivery.receipt;
  }

  receiveCount(row: number): number {
    const at = this.#delivery(row);
    return at === none ? 0 : this.#deliveries.int(at, countWord) >> 1;
  }

  /** Names the current receipt of a message that was received; 0 when there is none. */
  receipt(row: number): number {
    const at = this.#delivery(row);
    return at === none ? 0 : this.#deliveries.double(at, receiptWord);
  }

  /** When it was first received; undefined if it never was. */
  firstReceivedAt(row: number): number | undefined {
    const at = this.#delivery(row);
    return at === none ? undefined : this.#deliveries.double(at, firstReceivedAtWord);
  }

  /** The end of its own delay or of its timeout: one half of the rule of order (11.4). */
  availableAt(row: number): number {
    const at = this.#delivery(row);
    return at === none
      ? this.sentAt(row) + this.delayMs(row)
      : this.#deliveries.double(at, visibleAtWord);
  }

  /** Orders what became available in the same millisecond: the other half. */
  stamp(row: number): number {
    const at = this.#delivery(row);
    return at === none ? this.sequence(row) : this.#deliveries.double(at, stampWord);
  }

  #firstBehind(after: number, chain: Chain): number {
    let row = this.nearest(after, chain.oldest, (other) => this.#chainOf(other) === chain);
    while (row !== none && this.sequence(row) <= after) row = this.newer(row);
    return row;
  }

  /** The row of its delivery; `none` if it was never received. */
  #delivery(row: number): number {
    return this.hasDelivery(row) ? this.#messages.int(row, nodeOrDeliveryWord) : none;
  }

  #dropDelivery(row: number): void {
    const at = this.#delivery(row);
    if (at !== none) this.#deliveries.release(at);
  }

  #chainOf(row: number): Chain {
    return this.isOutOfOrder(row) ? this.#outOfOrder : this.#inOrder;
  }
}
