/**
 * One queue's state and the few moves that change it. The rules are in the files beside this one (send.ts, receive.ts,
 * …): they decide and call a move, and the move records what it did as a change. Absorbing a change makes the same move,
 * so an engine that applies and one that absorbs cannot drift apart.
 *
 * Costs: every move O(1), or O(log n) where times come out of order (time-queue.ts). Time passes in `advance`, which every
 * command on the queue calls first: it takes what fell due from the fronts of four time queues and looks at nothing else,
 * so expiry costs each message once, and there are no timers. Only a tick may leave a rest (engine.ts).
 */

import { queueArn, type Realm } from '../arn.ts';
import type {
  KeptAttempt,
  KeptDelivery,
  KeptMessage,
  KeptMoveTask,
  KeptQueue,
  KeptWindowEntry,
  QueueChange,
  QueueSize,
  WindowDigests,
} from '../changes.ts';
import type { MessageView, ReceivedMessage } from '../commands.ts';
import { DeduplicationWindow } from '../deduplication/window.ts';
import { WindowDigester } from '../deduplication/window-digests.ts';
import { Drifted } from '../drifted.ts';
import { attemptMs } from '../limits.ts';
import { MessageIds } from '../message-id.ts';
import { none } from '../structures/slab.ts';
import type { Transaction } from '../transaction.ts';
import { Attempts } from './attempts.ts';
import { type QueueSettings, settingsOf } from './attributes.ts';
import { MessageGroups } from './message-groups.ts';
import { MessageTable } from './message-table.ts';
import { nextMoveAt } from './move-task.ts';
import { MovedMessages } from './moved-messages.ts';
import { ReadyMessages, type Shelf } from './ready-messages.ts';
import { ReceiptTags } from './receipt.ts';
import { Visibility } from './visibility.ts';

export class Queue {
  readonly name: string;
  readonly arn: string;
  readonly isFifo: boolean;
  readonly table: MessageTable = new MessageTable();
  readonly shelf: Shelf;
  /** The shelf of a FIFO queue; undefined on a standard one. */
  readonly groups: MessageGroups | undefined;
  readonly visibility: Visibility;
  readonly window: DeduplicationWindow;
  readonly attempts: Attempts = new Attempts();
  readonly tasks: Map<string, KeptMoveTask> = new Map();
  readonly receiptTags: ReceiptTags;
  readonly #ids: MessageIds;
  #kept: KeptQueue;
  #settings: QueueSettings;
  /** The last number given out; sequences, stamps and receipts are drawn from it. */
  #counter = 0;
  #counterKept = 0;
  readonly #moved: MovedMessages = new MovedMessages();

  constructor(realm: Realm, name: string, kept: KeptQueue) {
    this.name = name;
    this.arn = queueArn(realm, name);
    this.isFifo = name.endsWith('.fifo');
    this.receiptTags = new ReceiptTags(kept.secret);
    this.#ids = new MessageIds(kept.secret);
    this.#kept = kept;
    this.#settings = settingsOf(this.isFifo, kept.attributes);
    this.groups = this.isFifo ? new MessageGroups(this.table) : undefined;
    this.shelf = this.groups ?? new ReadyMessages(this.table);
    this.visibility = new Visibility(this.table, this.shelf, this.#commonDelayMs());
    this.window = new DeduplicationWindow(this.#settings.scope, new WindowDigester(kept.secret));
  }

  get kept(): KeptQueue {
    return this.#kept;
  }

  get settings(): QueueSettings {
    return this.#settings;
  }

  get counter(): number {
    return this.#counter;
  }

  get oldestSentAt(): number | undefined {
    const row = this.#oldest();
    return row === none ? undefined : this.table.sentAt(row);
  }

  get deadLetterSources(): Iterable<string> {
    return this.#moved.sources();
  }

  /** The next number of this queue's counter, which is kept at the end of the transaction (`keepCounter`). */
  nextStamp(tx: Transaction): number {
    tx.touch(this);
    this.#counter += 1;
    return this.#counter;
  }

  keepCounter(tx: Transaction): void {
    if (this.#counter === this.#counterKept) return;
    this.#counterKept = this.#counter;
    tx.changes.push({ kind: 'counter', queue: this.name, value: this.#counter });
  }

  // The moves that rules make: each notes the queue, changes the state and records the change, in this order.

  configure(tx: Transaction, kept: KeptQueue): void {
    tx.touch(this);
    this.#setKept(kept, tx.now);
    tx.changes.push({ kind: 'queue', queue: this.name, value: kept });
  }

  /** `groupHash` is the hash of the message's group (`groupDigest`), if the caller already has it. */
  addMessage(tx: Transaction, sequence: number, message: KeptMessage, groupHash?: number): void {
    tx.touch(this);
    const row = this.#add(sequence, message, groupHash);
    tx.changes.push({ kind: 'message', queue: this.name, id: sequence, value: message });
    this.visibility.schedule(row, tx.now);
  }

  /** Adds a message that was already received in the queue it came from. */
  addReceived(
    tx: Transaction,
    sequence: number,
    message: KeptMessage,
    delivery: KeptDelivery,
  ): void {
    tx.touch(this);
    const row = this.#add(sequence, message, undefined);
    this.table.setDelivery(row, delivery);
    this.visibility.schedule(row, tx.now);
    tx.changes.push({ kind: 'message', queue: this.name, id: sequence, value: message });
    tx.changes.push({ kind: 'delivery', queue: this.name, id: sequence, value: delivery });
  }

  removeMessage(tx: Transaction, row: number): void {
    tx.touch(this);
    const id = this.table.sequence(row);
    if (this.table.hasDelivery(row)) {
      tx.changes.push({ kind: 'delivery', queue: this.name, id, value: null });
    }
    tx.changes.push({ kind: 'message', queue: this.name, id, value: null });
    this.#remove(row);
  }

  setDelivery(tx: Transaction, row: number, delivery: KeptDelivery): void {
    tx.touch(this);
    const id = this.table.sequence(row);
    this.#setDelivery(row, delivery, tx.now);
    tx.changes.push({ kind: 'delivery', queue: this.name, id, value: delivery });
  }

  addToWindow(
    tx: Transaction,
    sequence: number,
    value: KeptWindowEntry,
    digests: WindowDigests,
  ): void {
    tx.touch(this);
    this.window.add(sequence, value, digests);
    tx.changes.push({ kind: 'window', queue: this.name, id: sequence, value, digests });
  }

  setAttempt(tx: Transaction, id: string, value: KeptAttempt | null): void {
    tx.touch(this);
    this.attempts.set(id, value);
    tx.changes.push({ kind: 'attempt', queue: this.name, id, value });
  }

  setTask(tx: Transaction, id: string, value: KeptMoveTask | null): void {
    tx.touch(this);
    this.#setTask(id, value);
    tx.changes.push({ kind: 'task', queue: this.name, id, value });
  }

  clear(tx: Transaction, what: 'contents' | 'window'): void {
    tx.touch(this);
    this.#clear(what);
    tx.changes.push({ kind: 'cleared', queue: this.name, what });
  }

  /** Makes room for this much at once: loading millions of entries takes a third less time. */
  reserve({ messages, windowEntries }: QueueSize): void {
    this.table.reserve(messages);
    this.window.reserve(windowEntries);
  }

  /** One change that another engine made to this queue. */
  absorb(change: QueueChange, now: number): void {
    switch (change.kind) {
      case 'queue':
        if (change.value !== null) this.#setKept(change.value, now);
        break;
      case 'counter':
        this.#counter = change.value;
        this.#counterKept = change.value;
        break;
      case 'message':
        if (change.value === null) this.#remove(this.#rowOf(change));
        else this.visibility.schedule(this.#add(change.id, change.value, undefined), now);
        break;
      case 'delivery':
        // A delivery ends only with its message, whose own change follows.
        if (change.value !== null) {
          this.#setDelivery(this.#rowOf(change), change.value, now);
        }
        break;
      case 'window':
        if (change.value === null) this.#removeFromWindow(change.id);
        else this.window.add(change.id, change.value, change.digests);
        break;
      case 'attempt':
        this.attempts.set(change.id, change.value);
        break;
      case 'task':
        this.#setTask(change.id, change.value);
        break;
      case 'cleared':
        this.#clear(change.what);
        break;
      case 'name':
        break;
    }
  }

  /** Lets time pass: shows what became visible, removes what expired, up to a limit. Returns how many it removed. */
  advance(tx: Transaction, limit: number = Number.POSITIVE_INFINITY): number {
    tx.touch(this);
    this.visibility.showDue(tx.now);
    let removed = this.#expireMessages(tx, limit);
    removed += this.#expireWindow(tx, limit - removed);
    return removed + this.#expireAttempts(tx, limit - removed);
  }

  /** Whether something that has expired is still here, because `advance` reached its limit or was not called. */
  hasExpired(now: number): boolean {
    return this.#nextRemovalAt() <= now;
  }

  /** The earliest time at which `advance` or a move task would do something; undefined if nothing is waiting. */
  nextDueAt(): number | undefined {
    let due = Math.min(this.visibility.nextAt(), this.#nextRemovalAt());
    if (this.tasks.size > 0) {
      for (const task of this.tasks.values()) due = Math.min(due, nextMoveAt(task));
    }
    return due === Number.POSITIVE_INFINITY ? undefined : due;
  }

  /** When a receive that found nothing may find something: a hidden message is shown, or expires and unblocks its group. */
  noneUntil(): number | undefined {
    const shownAt = this.visibility.nextAt();
    return shownAt === Number.POSITIVE_INFINITY
      ? undefined
      : Math.min(shownAt, this.#nextExpiryAt());
  }

  /** The id of the message that was sent here with this sequence, whatever has become of it. */
  idOf(sequence: number): string {
    return this.#ids.of(sequence);
  }

  messageId(row: number): string {
    return this.#moved.get(row)?.messageId ?? this.#ids.of(this.table.sequence(row));
  }

  view(row: number): MessageView {
    const { receiptHandle: _, ...view } = this.handOut(row, this.table.delivery(row), '');
    return view;
  }

  /** A message as a receive returns it. One literal, because spreading another object costs as much as a digest. */
  handOut(row: number, delivery: KeptDelivery | undefined, receiptHandle: string): ReceivedMessage {
    const moved = this.#moved.get(row);
    return {
      messageId: moved?.messageId ?? this.#ids.of(this.table.sequence(row)),
      sequence: this.table.sequence(row),
      sentAt: this.table.sentAt(row),
      receiveCount: delivery?.receiveCount ?? 0,
      firstReceivedAt: delivery?.firstReceivedAt,
      groupId: this.shelf.groupId(row),
      deduplicationId: moved?.deduplicationId,
      deadLetterSource: moved?.deadLetterSource,
      receiptHandle,
    };
  }

  /** Receives in this queue: a dead letter's count goes on (rule 12.5), but here it may be received as often as any other. */
  receivedHere(row: number): number {
    return this.table.receiveCount(row) - (this.#moved.get(row)?.receivedElsewhere ?? 0);
  }

  deadLetterSource(row: number): string | undefined {
    return this.#moved.get(row)?.deadLetterSource;
  }

  /** When the next message, window entry or attempt expires. */
  #nextRemovalAt(): number {
    let due = this.#nextExpiryAt();
    const acceptedAt = this.window.oldestAcceptedAt();
    if (acceptedAt !== undefined) due = Math.min(due, acceptedAt + this.#settings.windowMs);
    const receivedAt = this.attempts.oldestReceivedAt();
    return receivedAt === undefined ? due : Math.min(due, receivedAt + attemptMs);
  }

  /** When the next message expires. */
  #nextExpiryAt(): number {
    const row = this.#oldest();
    if (row === none) return Number.POSITIVE_INFINITY;
    return this.table.sentAt(row) + this.#settings.retentionMs;
  }

  #setKept(kept: KeptQueue, now: number): void {
    this.#kept = kept;
    this.#settings = settingsOf(this.isFifo, kept.attributes);
    this.window.setScope(this.#settings.scope);
    this.visibility.setCommonDelay(this.#commonDelayMs(), now);
  }

  #commonDelayMs(): number {
    return this.isFifo ? this.#settings.delayMs : 0;
  }

  #add(sequence: number, message: KeptMessage, groupHash: number | undefined): number {
    const isOutOfOrder = message.deadLetterSource !== undefined && !this.isFifo;
    const row = this.table.add(sequence, message, isOutOfOrder);
    this.shelf.add(row, message.groupId, groupHash);
    this.#moved.add(row, sequence, message, isOutOfOrder);
    return row;
  }

  #remove(row: number): void {
    this.visibility.unschedule(row);
    this.shelf.remove(row);
    this.#moved.remove(row);
    this.table.remove(row);
  }

  #rowOf({ kind, id }: { readonly kind: string; readonly id: number }): number {
    const row = this.table.find(id);
    if (row === none) throw new Drifted(this.name, `a ${kind} came for ${id}, which is not there`);
    return row;
  }

  #removeFromWindow(id: number): void {
    const oldest = this.window.size === 0 ? undefined : this.window.removeOldest();
    if (oldest !== id) throw new Drifted(this.name, `${id} is not its oldest window entry`);
  }

  /** The message that was sent first, and so expires first; or `none`. */
  #oldest(): number {
    const row = this.table.oldest();
    const moved = this.#moved.oldest();
    if (row === none || moved === none) return row === none ? moved : row;
    return this.table.sentAt(moved) < this.table.sentAt(row) ? moved : row;
  }

  #setDelivery(row: number, delivery: KeptDelivery, now: number): void {
    this.visibility.unschedule(row);
    this.table.setDelivery(row, delivery);
    this.visibility.schedule(row, now);
  }

  #setTask(id: string, value: KeptMoveTask | null): void {
    if (value === null) this.tasks.delete(id);
    else this.tasks.set(id, value);
  }

  #clear(what: 'contents' | 'window'): void {
    this.window.clear();
    if (what === 'window') return;
    this.table.clear();
    this.shelf.clear();
    this.attempts.clear();
    this.visibility.clear();
    this.#moved.clear();
  }

  #expireMessages(tx: Transaction, limit: number): number {
    const sentBefore = tx.now - this.#settings.retentionMs;
    let removed = 0;
    let row = this.#oldest();
    while (row !== none && this.table.sentAt(row) <= sentBefore && removed < limit) {
      this.#expire(tx, row);
      removed += 1;
      row = this.#oldest();
    }
    return removed;
  }

  #expire(tx: Transaction, row: number): void {
    tx.events.push({
      type: 'expired',
      at: tx.now,
      queue: this.name,
      messageId: this.messageId(row),
      sequence: this.table.sequence(row),
    });
    this.removeMessage(tx, row);
  }

  #expireWindow(tx: Transaction, limit: number): number {
    const acceptedBefore = tx.now - this.#settings.windowMs;
    let removed = 0;
    let oldest = this.window.oldestAcceptedAt();
    while (oldest !== undefined && oldest <= acceptedBefore && removed < limit) {
      const id = this.window.removeOldest();
      tx.changes.push({ kind: 'window', queue: this.name, id, value: null });
      removed += 1;
      oldest = this.window.oldestAcceptedAt();
    }
    return removed;
  }

  #expireAttempts(tx: Transaction, limit: number): number {
    if (this.attempts.oldestReceivedAt() === undefined) return 0;
    const ids = this.attempts.receivedBy(tx.now - attemptMs, limit);
    for (const id of ids) this.setAttempt(tx, id, null);
    return ids.length;
  }
}
