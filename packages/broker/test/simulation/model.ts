/**
 * The reference model: what a queue does, as plainly as possible. Arrays and scans, no index, no cleverness; it is read
 * beside docs/reference/semantics.md (rule numbers in brackets) and is right when it says the same. Each command's rule
 * is the method of its name; `model-views.ts` has the read-only ones.
 *
 * Outcomes are the engine's, but sequences are the model's own numbers, receipt handles plain names, and its objects
 * hold more than an outcome shows; `simulation.ts` knows what may differ. Left out, since unit tests cover them: formats
 * and ranges of parameters, digests of attributes, details of refusals.
 */

import { createHash } from 'node:crypto';
import type { KeptDelivery, KeptMessage, KeptWindowEntry } from '../../src/core/changes.ts';
import type { CommandOf as C, Command, MoveTaskView, SendEntry } from '../../src/core/commands.ts';
import { refuse } from '../../src/core/errors.ts';
import { attemptMs, type Limits, movesPerCommandMax, moveTaskMs } from '../../src/core/limits.ts';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
export type MoveTask = Writable<MoveTaskView>;
export type WindowEntry = KeptWindowEntry & { sequence: number; sent: SendEntry };
export type State = 'visible' | 'delayed' | 'in-flight';
export type Result = { readonly ok: boolean };
type Batch<E> = { readonly isBatch: boolean; readonly entries: readonly E[] };

/** `visibleAt` before the first receive: the send, after the message's own delay. The last of `receipts` is current. */
export interface Message extends Writable<Omit<KeptMessage, 'delayMs'> & KeptDelivery> {
  sequence: number;
  receipts: string[];
}

/** `tasks` has the newest first; `receipts` has all that this queue ever gave out. */
export interface Queue {
  name: string;
  isFifo: boolean;
  attributes: Record<string, string>;
  purgedAt: number;
  counter: number;
  messages: Message[];
  window: WindowEntry[];
  attempts: { id: string; receivedAt: number; messages: { it: Message; receipt: string }[] }[];
  tasks: MoveTask[];
  receipts: string[];
}

const never = Number.NEGATIVE_INFINITY;
const tasksKept = 10;
const defaults = {
  VisibilityTimeout: '30',
  DelaySeconds: '0',
  MessageRetentionPeriod: '345600',
  ReceiveMessageWaitTimeSeconds: '0',
  ContentBasedDeduplication: 'false',
  DeduplicationScope: 'queue',
  DeduplicationIntervalSeconds: '300',
  Profile: 'aws',
};

export class Model {
  now = 0;
  queues: Queue[] = [];
  readonly deletedAt: Map<string, number> = new Map();
  readonly limits: Limits;
  /** The suppressed sends of the last command, each with the accepted one that it repeats. */
  duplicates: { entry: SendEntry; original: WindowEntry; matchedBy: 'id' | 'body' }[] = [];
  private readonly uuid: () => string;
  private messages = 0;
  find = (name?: string): Queue | undefined => this.queues.find((queue) => queue.name === name);
  inState = (queue: Queue, state: State): Message[] =>
    queue.messages.filter((it) => this.stateOf(queue, it) === state);

  constructor(uuid: () => string, limits: Limits) {
    this.uuid = uuid;
    this.limits = limits;
  }

  apply(command: Command, now: number): Result {
    this.advance(now);
    const { queue: name, sourceArn } = command as { queue?: string; sourceArn?: string };
    const queue = this.find(name ?? nameIn(sourceArn));
    if (queue === undefined && command.type !== 'create-queue' && command.type !== 'tick') {
      return refuse(name === undefined ? 'move-source-unknown' : 'queue-missing');
    }
    const rules = this as unknown as Record<string, (command: Command, queue?: Queue) => Result>;
    return (rules[command.type] as (typeof rules)[string]).call(this, command, queue);
  }

  /** Retention counts from the send, in flight or not (9.9); the window from the first acceptance (11.11). */
  advance(now: number): void {
    this.now = now;
    this.duplicates = [];
    for (const queue of this.queues) {
      queue.messages = queue.messages.filter((it) => now < endsAt(queue, it));
      queue.window = queue.window.filter((it) => now - it.acceptedAt < windowMs(queue));
      queue.attempts = queue.attempts.filter((it) => now - it.receivedAt < attemptMs);
    }
  }

  /** An existing queue stays if every attribute named agrees (5.2); a deleted queue's name stays taken for a while (5.4). */
  'create-queue'(command: C<'create-queue'>, existing?: Queue): Result {
    const { queue: name = '', attributes = {} } = command;
    const given = Object.entries(attributes);
    const isSame = given.every(([key, value]) => existing?.attributes[key] === value);
    if (existing !== undefined) return isSame ? done({ queue: name }) : refuse('queue-exists');
    const isRecent = this.now - (this.deletedAt.get(name) ?? never) < this.limits.nameReuseMs;
    if (isRecent) return refuse('queue-deleted-recently');
    this.uuid();
    const empty = { counter: 0, messages: [], window: [], attempts: [], tasks: [], receipts: [] };
    const all = { isFifo: name.endsWith('.fifo'), attributes: { ...defaults, ...attributes } };
    this.queues.push({ name, ...all, purgedAt: never, ...empty });
    return done({ queue: name });
  }

  'delete-queue'(_: C<'delete-queue'>, queue: Queue): Result {
    this.queues = this.queues.filter((it) => it !== queue);
    this.deletedAt.set(queue.name, this.now);
    return done();
  }

  /** All or nothing (5.10); the dead-letter queue must exist and be of the same kind (12.1–12.2). */
  'set-attributes'({ attributes }: C<'set-attributes'>, queue: Queue): Result {
    const redrive = redriveIn(attributes);
    const target = this.find(redrive?.target);
    if (redrive && target === undefined) return refuse('redrive-target-unknown');
    if (redrive && target?.isFifo !== queue.isFifo) return refuse('redrive-target-type');
    Object.assign(queue.attributes, attributes);
    return done();
  }

  /** Messages go, and with them the window and the attempts (5.11). */
  'purge-queue'(_: C<'purge-queue'>, queue: Queue): Result {
    if (this.now - queue.purgedAt < this.limits.purgeIntervalMs) return refuse('purge-in-progress');
    Object.assign(queue, { purgedAt: this.now, messages: [], window: [], attempts: [] });
    return done();
  }

  'forget-window'(_: C<'forget-window'>, queue: Queue): Result {
    return done({ entries: queue.window.splice(0).length });
  }

  /** What a FIFO send needs is checked for the whole batch before any of it is sent (8.6). */
  send(command: C<'send'>, queue: Queue): Result {
    for (const entry of queue.isFifo && command.isBatch ? command.entries : []) {
      if (entry.groupId === undefined) return refuse('group-id-missing-in-batch');
      if (idOf(queue, entry) === undefined) return refuse('deduplication-id-missing');
    }
    const send = queue.isFifo ? this.sendFifo : this.sendStandard;
    return overEntries(command, (entry) => send.call(this, queue, entry));
  }

  private sendStandard(queue: Queue, { deduplicationId, delaySeconds, body }: SendEntry): Result {
    if (deduplicationId !== undefined) return refuse('deduplication-id-on-standard');
    const visibleAt = this.now + ms(queue, 'DelaySeconds', delaySeconds);
    const { messageId } = this.add(queue, { visibleAt });
    return done({ messageId, bodyMd5: hash('md5', body), isDuplicate: false });
  }

  /** Deduplication (11.8–11.14): the first accepted send with this id, within the scope, is the original. */
  private sendFifo(queue: Queue, entry: SendEntry): Result {
    const { groupId, delaySeconds = 0, body } = entry;
    const deduplicationId = idOf(queue, entry);
    if (delaySeconds > 0) return refuse('delay-on-fifo');
    if (groupId === undefined) return refuse('parameter-missing');
    if (deduplicationId === undefined) return refuse('deduplication-id-missing');
    // With profile yandex and content-based deduplication, an equal body is a duplicate whatever its id.
    const isByBody = isContentBased(queue) && queue.attributes['Profile'] === 'yandex';
    const bodyHash = isByBody ? hash('sha256', body) : undefined;
    const isWide = queue.attributes['DeduplicationScope'] === 'queue';
    const rivals = queue.window.filter((it) => isWide || it.groupId === groupId);
    const byId = rivals.find((it) => it.deduplicationId === deduplicationId);
    const isBody = (it: WindowEntry) => [it.bodyHash, it.deduplicationId].includes(bodyHash);
    const original = byId ?? (isByBody ? rivals.find(isBody) : undefined);
    const bodyMd5 = hash('md5', body);
    if (original !== undefined) {
      this.duplicates.push({ entry, original, matchedBy: byId === undefined ? 'body' : 'id' });
      return done({ ...original, bodyMd5, isDuplicate: true });
    }
    const { messageId, sequence } = this.add(queue, { groupId });
    const source = entry.deduplicationId === undefined ? 'content' : 'explicit';
    const ids = { sequence, messageId, deduplicationId, groupId, source, bodyHash } as const;
    queue.window.push({ ...ids, acceptedAt: this.now, bodyMd5, attributesMd5: '', sent: entry });
    return done({ messageId, sequence, bodyMd5, isDuplicate: false });
  }

  /** Adds a message at the end of the queue; what is not given is as in a message just sent. */
  private add(queue: Queue, given: object): Message {
    const [sequence, messageId] = [++queue.counter, `message ${++this.messages}`];
    const fresh = { messageId, sentAt: this.now, visibleAt: this.now, receiveCount: 0, ...given };
    const message = { ...fresh, sequence, stamp: sequence, receipts: [] } as unknown as Message;
    queue.messages.push(message);
    return message;
  }

  /** Takes what can be delivered, in order, until enough is found (9.4, 9.8, 11.2–11.6, 12.4). */
  receive(command: C<'receive'>, queue: Queue): Result {
    const { count = 1, visibilitySeconds, waitSeconds, attemptId } = command;
    const timeoutMs = ms(queue, 'VisibilityTimeout', visibilitySeconds);
    const waitMs = ms(queue, 'ReceiveMessageWaitTimeSeconds', waitSeconds);
    if (attemptId !== undefined && !queue.isFifo) return refuse('attempt-id-on-standard');
    const again = this.replay(queue, attemptId, timeoutMs);
    if (again.length > 0) return done({ messages: again.map(withHandle), waitMs });
    const room = this.limits.inFlightMax - this.inState(queue, 'in-flight').length;
    if (room <= 0 && !queue.isFifo && waitMs === 0) return refuse('in-flight-too-many');
    const found: Message[] = [];
    let moves = 0;
    for (const message of this.deliverable(queue)) {
      if (found.length >= Math.min(count, room) || moves === movesPerCommandMax) break;
      if (this.moveIfDead(queue, message)) {
        moves += 1;
        continue;
      }
      if (message.receiveCount === 0) message.firstReceivedAt = this.now;
      message.receiveCount += 1;
      message.isChanged = false;
      message.receipts.push(`receipt ${message.receiveCount} of ${message.messageId}`);
      queue.receipts.push(receiptOf(message));
      this.hide(queue, message, timeoutMs);
      found.push(message);
    }
    if (attemptId !== undefined && found.length > 0) {
      const messages = found.map((it) => ({ it, receipt: receiptOf(it) }));
      queue.attempts.push({ id: attemptId, receivedAt: this.now, messages });
    }
    const times = queue.messages.map((it) => availableAt(queue, it)).filter((at) => at > this.now);
    // A hidden message may block others until it expires.
    const ends = times.length === 0 ? [] : queue.messages.map((it) => endsAt(queue, it));
    const noneUntil = moves === movesPerCommandMax ? this.now : Math.min(...times, ...ends);
    return done({ messages: found.map(withHandle), waitMs, noneUntil });
  }

  /** The messages of an earlier receive with this attempt id, if nothing happened to any of them (11.19–11.20). */
  private replay(queue: Queue, attemptId: string | undefined, timeoutMs: number): Message[] {
    const attempt = queue.attempts.find(({ id }) => id === attemptId);
    const isSame = attempt?.messages.every(({ it, receipt }) => {
      return queue.messages.includes(it) && this.isHeld(queue, it, receipt) && !it.isChanged;
    });
    if (!isSame) queue.attempts = queue.attempts.filter((each) => each !== attempt);
    const messages = (isSame && attempt?.messages.map(({ it }) => it)) || [];
    for (const it of messages) this.hide(queue, it, timeoutMs);
    return messages;
  }

  private hide(queue: Queue, message: Message, timeoutMs: number): void {
    const visibleAt = this.now + timeoutMs;
    Object.assign(message, { receivedAt: this.now, visibleAt, stamp: ++queue.counter });
  }

  /** What can be delivered, by availability; on FIFO, groups by their heads, and of each group the leading run (11.2–11.4). */
  private deliverable(queue: Queue): Message[] {
    const visible = this.inState(queue, 'visible').sort(
      (a, b) => a.visibleAt - b.visibleAt || a.stamp - b.stamp,
    );
    if (!queue.isFifo) return visible;
    return visible.flatMap((head) => {
      const group = queue.messages.filter((it) => it.groupId === head.groupId);
      const end = group.findIndex((it) => !visible.includes(it));
      return group[0] !== head ? [] : group.slice(0, end === -1 ? undefined : end);
    });
  }

  /** A message received too often goes to the dead-letter queue (12.4–12.8); one that is already there stays. */
  private moveIfDead(queue: Queue, message: Message): boolean {
    const redrive = redriveIn(queue.attributes);
    const target = this.find(redrive?.target);
    const receivedHere = message.receiveCount - (message.receivedElsewhere ?? 0);
    const isDead = redrive && receivedHere >= redrive.maxReceiveCount;
    const deadLetterSource = arnOf(queue.name);
    if (!isDead || !target || message.deadLetterSource === deadLetterSource) return false;
    remove(queue, message);
    const renewed = queue.isFifo ? { sentAt: this.now, deduplicationId: message.messageId } : {};
    const moved = { deadLetterSource, receivedElsewhere: message.receiveCount };
    this.add(target, { ...message, ...renewed, ...moved, visibleAt: this.now });
    return true;
  }

  /** On FIFO only the current receipt deletes, and only while its timeout runs (10.6–10.10). */
  'delete-messages'(command: C<'delete-messages'>, queue: Queue): Result {
    return overEntries(command, ({ receiptHandle: receipt }) => {
      if (receipt === undefined) return refuse('parameter-missing');
      if (!queue.receipts.includes(receipt)) return refuse('receipt-invalid');
      const message = queue.messages.find((it) => it.receipts.includes(receipt));
      if (message === undefined) return done();
      if (queue.isFifo && !this.isHeld(queue, message, receipt)) return refuse('receipt-expired');
      remove(queue, message);
      return done();
    });
  }

  /** A new deadline for this receipt, at most twelve hours after the latest receive (10.2–10.5, 10.10). */
  'change-visibility'(command: C<'change-visibility'>, queue: Queue): Result {
    return overEntries(command, ({ receiptHandle: receipt, visibilitySeconds: seconds }) => {
      if (seconds === undefined || receipt === undefined) return refuse('parameter-missing');
      if (!queue.receipts.includes(receipt)) return refuse('receipt-invalid');
      const message = queue.messages.find((it) => it.receipts.includes(receipt));
      const isOpen = message && (!queue.isFifo || this.isHeld(queue, message, receipt));
      if (!isOpen) return refuse(`visibility-unavailable${command.isBatch ? '-in-batch' : ''}`);
      const visibleAt = this.now + seconds * 1000;
      if (visibleAt > message.receivedAt + 43_200_000) return refuse('visibility-total');
      Object.assign(message, { visibleAt, stamp: ++queue.counter, isChanged: true });
      return done();
    });
  }

  private isHeld(queue: Queue, message: Message, receipt: string): boolean {
    return receiptOf(message) === receipt && this.stateOf(queue, message) === 'in-flight';
  }

  'start-move-task'({ destinationArn, perSecond }: C<'start-move-task'>, source: Queue): Result {
    const isTarget = this.queues.some((it) => redriveIn(it.attributes)?.target === source.name);
    if (!isTarget) return refuse('move-source-not-dead-letter');
    const destination = this.find(nameIn(destinationArn)) ?? { isFifo: source.isFifo, name: '' };
    if (destinationArn && !destination.name) return refuse('move-destination-unknown');
    if (destination === source) return refuse('move-to-itself');
    if (destination.isFifo !== source.isFifo) return refuse('move-type-differs');
    if (source.tasks[0]?.status === 'RUNNING') return refuse('move-already-running');
    const [taskId, toMove] = [this.uuid(), this.inState(source, 'visible').length];
    const begun = { status: 'RUNNING', startedAt: this.now, moved: 0, toMove } as const;
    source.tasks.unshift({ taskId, ...begun, destinationArn, perSecond, failureReason: undefined });
    source.tasks.splice(tasksKept);
    return done({ taskId, sourceArn: arnOf(source.name) });
  }

  'cancel-move-task'({ taskId }: C<'cancel-move-task'>, source: Queue): Result {
    const task = source.tasks.find((it) => it.taskId === taskId);
    if (task === undefined) return refuse('task-unknown');
    if (task.status !== 'RUNNING') return refuse('task-not-active');
    task.status = 'CANCELLED';
    return done({ moved: task.moved });
  }

  tick(): Result {
    for (const queue of this.queues.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const task = queue.tasks[0];
      if (task?.status === 'RUNNING') Object.assign(task, this.work(queue, task));
    }
    // Only topics ask for these, and this is a model of queues.
    return done({ posts: [], replays: [] });
  }

  /** Moves what may move now (13.3–13.5), and returns what became of the task. */
  private work(queue: Queue, task: MoveTask): object {
    const failed = (failureReason: string) => ({ status: 'FAILED', failureReason });
    if (this.now - task.startedAt >= moveTaskMs) return failed('TaskTimedOut');
    for (let moves = 0; task.moved < task.toMove; moves += 1) {
      if (moves === movesPerCommandMax || nextMoveAt(task) > this.now) return {};
      const message = this.deliverable(queue)[0];
      if (message === undefined) break;
      const arn = task.destinationArn ?? message.deadLetterSource;
      if (arn === undefined) return failed('CouldNotDetermineMessageSource');
      const target = this.find(nameIn(arn));
      if (target === undefined) return failed('AWS.SimpleQueueService.NonExistentQueue');
      remove(queue, message);
      const { groupId, deduplicationId } = message;
      const visibleAt = this.now + (target.isFifo ? 0 : ms(target, 'DelaySeconds'));
      this.add(target, { visibleAt, groupId, deduplicationId });
      task.moved += 1;
    }
    return { status: 'COMPLETED' };
  }

  stateOf(queue: Queue, it: Message): State {
    const hidden = it.receiveCount === 0 ? 'delayed' : 'in-flight';
    return availableAt(queue, it) <= this.now ? 'visible' : hidden;
  }
}

/** One action over a list; alone, its refusal is the command's. */
function overEntries<E>(command: Batch<E>, one: (entry: E) => Result): Result {
  const results = command.entries.map(one);
  return !command.isBatch && results[0]?.ok === false ? results[0] : done({ results });
}

/** When it can be delivered; until its first receive a FIFO queue's current delay counts (11.23–11.24). */
export const availableAt = (queue: Queue, { visibleAt, receiveCount }: Message): number =>
  visibleAt + (queue.isFifo && receiveCount === 0 ? ms(queue, 'DelaySeconds') : 0);

export const nextMoveAt = ({ startedAt, moved, perSecond }: MoveTask): number =>
  startedAt + (perSecond === undefined ? 0 : Math.ceil((moved * 1000) / perSecond));

function redriveIn(attributes: Readonly<Record<string, string>>) {
  if (!attributes['RedrivePolicy']) return undefined;
  const { deadLetterTargetArn, maxReceiveCount } = JSON.parse(attributes['RedrivePolicy']);
  return { target: nameIn(deadLetterTargetArn), maxReceiveCount };
}

/** A time setting of the queue, in milliseconds; the command's own value overrides it. */
export const ms = (queue: Queue, name: string, seconds?: number): number =>
  1000 * (seconds ?? Number(queue.attributes[name]));
const endsAt = (queue: Queue, it: Message) => it.sentAt + ms(queue, 'MessageRetentionPeriod');
export const windowMs = (queue: Queue): number => ms(queue, 'DeduplicationIntervalSeconds');
export const arnOf = (name: string): string => `arn:aws:sqs:us-east-1:000000000000:${name}`;
export const done = (rest: object = {}): Result => ({ ok: true, ...rest });
export const hash = (by: string, text = ''): string => createHash(by).update(text).digest('hex');
const nameIn = (arn: string | undefined) => arn?.split(':').at(-1);
const isContentBased = (queue: Queue) => queue.attributes['ContentBasedDeduplication'] === 'true';
const remove = ({ messages }: Queue, it: Message) => messages.splice(messages.indexOf(it), 1);
const idOf = (queue: Queue, { deduplicationId, body }: SendEntry) =>
  deduplicationId ?? (isContentBased(queue) ? hash('sha256', body) : undefined);
const receiptOf = (message: Message) => message.receipts.at(-1) ?? '';
const withHandle = (message: Message) => ({ ...message, receiptHandle: receiptOf(message) });
