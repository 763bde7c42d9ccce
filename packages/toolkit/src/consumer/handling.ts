/**
 * What happens to the messages of one receive: each is held by a heartbeat, handled, and deleted. Groups run side by side;
 * within a group, one message after another.
 *
 * After a failure the later messages of the group are given back untouched, because they must not overtake the failed one,
 * which stays hidden until its visibility timeout is over. The exception is a message that failed at its last receive: SQS
 * moves it to the dead-letter queue instead of delivering it again, so its group goes on at once.
 *
 * A message whose event another consumer is handling (BusyError) is kept and tried again, which costs no receive: after a kill,
 * an inbox in Redis or DynamoDB is busy for longer than maxReceiveCount visibility timeouts, and a good message would be
 * dead-lettered.
 *
 * At the end, what has not begun is given back, except messages at their last receive: they are handled before.
 */

import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Caution } from './caution.ts';
import {
  changeVisibility,
  type Every,
  type Heartbeat,
  type Held,
  interval,
  isNoLongerOurs,
  startHeartbeat,
} from './heartbeat.ts';
import { BusyError } from './idempotent.ts';
import { groupOf, type SqsMessage } from './received.ts';
import type { Slots } from './slots.ts';

export interface HandlingOptions {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly visibilitySeconds: number;
  readonly handler?: ((message: SqsMessage, held: Held) => Promise<unknown>) | undefined;
  readonly batchHandler?:
    | ((messages: readonly SqsMessage[], held: Held) => Promise<readonly SqsMessage[]>)
    | undefined;
  readonly telemetry?: Telemetry | undefined;
  readonly every?: Every | undefined;
  readonly caution: Caution;
  readonly slots: Slots;
  /** From its abort on, messages that have not begun are given back, unless they would never come again. */
  readonly ending: AbortSignal;
  /** Never throws. */
  readonly report: (error: unknown, message: SqsMessage | undefined) => void;
}

interface HeldMessage {
  readonly message: SqsMessage;
  readonly beat: Heartbeat;
  /** Whether it must run alone. */
  readonly isLastChance: boolean;
}

/** The first pause before a busy event is tried again; it doubles up to half the visibility timeout. */
const busyPauseMs = 1_000;

export class Handling {
  readonly #options: HandlingOptions;
  /** The end of each group's work: a message that was lost can come again while its old handler is still running. */
  readonly #groups: Map<string, Promise<void>> = new Map();
  /** A unit is what one handler works on at a time: the received messages of a group, or a whole batch. */
  #units = 0;
  #lastChances = 0;
  /** Units whose event another consumer is handling. */
  #paused = 0;
  readonly #working: Set<Promise<void>> = new Set();
  readonly #waitingForRoom: (() => void)[] = [];

  constructor(options: HandlingOptions) {
    this.#options = options;
  }

  /** How many more groups could start at once: none while a message at its last chance waits or runs. */
  get room(): number {
    const { total } = this.#options.slots;
    // Those that pause use no slot, but as many messages as there are slots are enough to hold.
    const active = this.#units - Math.min(this.#paused, total);
    return this.#lastChances > 0 ? 0 : Math.max(0, total - active);
  }

  /** Resolves when there is room, or at the abort. */
  untilRoom(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (this.room > 0 || signal.aborted) return resolve();
      const end = (): void => {
        signal.removeEventListener('abort', end);
        resolve();
      };
      signal.addEventListener('abort', end);
      this.#waitingForRoom.push(end);
    });
  }

  /** Resolves as soon as the messages are held; `untilDone` tells when they are handled, failed, or given back. */
  async begin(messages: readonly SqsMessage[]): Promise<void> {
    const held = await Promise.all(messages.map((message) => this.#hold(message)));
    const units = this.#options.batchHandler === undefined ? [...byGroup(held).values()] : [held];
    for (const unit of units) {
      const work = this.#run(unit).finally(() => this.#working.delete(work));
      this.#working.add(work);
    }
  }

  async untilDone(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working);
  }

  async #hold(message: SqsMessage): Promise<HeldMessage> {
    const { client, queueUrl, visibilitySeconds, every, report, caution } = this.#options;
    const timer = every === undefined ? {} : { every };
    const beat = startHeartbeat(message, { client, queueUrl, visibilitySeconds, ...timer });
    beat.signal.addEventListener('abort', () => report(beat.signal.reason, message));
    return { message, beat, isLastChance: await caution.isLastChance(message) };
  }

  /** Counts the unit from the start, so that `room` is exact whenever it is asked for. */
  async #run(unit: readonly HeldMessage[]): Promise<void> {
    const lastChances = unit.filter(({ isLastChance }) => isLastChance).length;
    this.#units += 1;
    this.#lastChances += lastChances;
    try {
      await this.#afterEarlier(unit);
    } finally {
      for (const { beat } of unit) beat.stop();
      this.#units -= 1;
      this.#lastChances -= lastChances;
      this.#tellOfRoom();
    }
  }

  #tellOfRoom(): void {
    if (this.room > 0) for (const tell of this.#waitingForRoom.splice(0)) tell();
  }

  async #afterEarlier(unit: readonly HeldMessage[]): Promise<void> {
    const groups = [...byGroup(unit).keys()];
    const earlier = groups.map((group) => this.#groups.get(group));
    const work = Promise.all(earlier).then(() => this.#handleAll(unit));
    for (const group of groups) this.#groups.set(group, work);
    try {
      await work;
    } finally {
      for (const group of groups) if (this.#groups.get(group) === work) this.#groups.delete(group);
    }
  }

  async #handleAll(unit: readonly HeldMessage[]): Promise<void> {
    const { batchHandler, slots, ending, visibilitySeconds } = this.#options;
    let waiting = unit;
    let pauseMs = busyPauseMs;
    while (waiting.length > 0) {
      const taken = batchHandler === undefined ? waiting.slice(0, 1) : waiting;
      const isAlone = taken.some(({ isLastChance }) => isLastChance);
      let isBusy = false;
      waiting = await slots.use(isAlone ? slots.total : 1, async () => {
        if (ending.aborted && !(await this.#isAnyLast(taken))) {
          await this.#giveBack(waiting);
          return [];
        }
        const { done, error } = await this.#call(taken);
        isBusy = error instanceof BusyError && done.length === 0 && !ending.aborted;
        if (isBusy) return waiting;
        for (const { beat } of done) beat.stop();
        return this.#goOn(
          waiting.filter((each) => !done.includes(each)),
          new Set(taken),
          error,
        );
      });
      if (isBusy) await this.#pause(pauseMs, unit);
      pauseMs = isBusy ? Math.min(pauseMs * 2, visibilitySeconds * 500) : busyPauseMs;
    }
  }

  /** Ends early at the end of the loop. Meanwhile others may run, and be received. */
  async #pause(milliseconds: number, unit: readonly HeldMessage[]): Promise<void> {
    const { every = interval, ending } = this.#options;
    const lastChances = unit.filter(({ isLastChance }) => isLastChance).length;
    this.#paused += 1;
    this.#lastChances -= lastChances;
    this.#tellOfRoom();
    await new Promise<void>((resolve) => {
      const stop = every(milliseconds, () => end());
      const end = (): void => {
        stop();
        ending.removeEventListener('abort', end);
        resolve();
      };
      ending.addEventListener('abort', end);
      if (ending.aborted) end();
    });
    this.#paused -= 1;
    this.#lastChances += lastChances;
  }

  /** Given back, a message at its last receive would go to the dead-letter queue without having been handled. */
  async #isAnyLast(taken: readonly HeldMessage[]): Promise<boolean> {
    const { caution } = this.#options;
    for (const { message, isLastChance } of taken)
      if (isLastChance || (await caution.isDead(message))) return true;
    return false;
  }

  /** Calls the handler and deletes what it has handled. Never throws. */
  async #call(
    taken: readonly HeldMessage[],
  ): Promise<{ done: readonly HeldMessage[]; error: unknown }> {
    const { batchHandler } = this.#options;
    const ours = taken.filter(({ beat }) => !beat.signal.aborted);
    try {
      if (ours.length === 0) return { done: [], error: taken[0]?.beat.signal.reason };
      if (batchHandler === undefined) await this.#callOne(ours[0] as HeldMessage);
      const handled = batchHandler === undefined ? ours : await this.#callBatch(ours, batchHandler);
      return await this.#delete(handled);
    } catch (error) {
      return { done: [], error };
    }
  }

  async #callOne({ message, beat: { signal } }: HeldMessage): Promise<void> {
    const { handler, telemetry, queueUrl } = this.#options;
    const call = async (): Promise<unknown> => handler?.(message, { signal, queueUrl });
    await (telemetry === undefined ? call() : telemetry.processing(message, queueUrl, call));
  }

  async #callBatch(
    held: readonly HeldMessage[],
    batchHandler: NonNullable<HandlingOptions['batchHandler']>,
  ): Promise<readonly HeldMessage[]> {
    const { queueUrl } = this.#options;
    const lost = new AbortController();
    const listeners = held.map(({ beat: { signal } }) => {
      const tell = (): void => lost.abort(signal.reason);
      signal.addEventListener('abort', tell);
      return () => signal.removeEventListener('abort', tell);
    });
    try {
      const messages = held.map(({ message }) => message);
      const done = new Set(
        (await batchHandler(messages, { signal: lost.signal, queueUrl })).map(
          ({ MessageId }) => MessageId,
        ),
      );
      return held.filter(({ message }) => done.has(message.MessageId));
    } finally {
      for (const stop of listeners) stop();
    }
  }

  async #delete(
    handled: readonly HeldMessage[],
  ): Promise<{ done: readonly HeldMessage[]; error: unknown }> {
    const { client, queueUrl: QueueUrl } = this.#options;
    const sdk = await import('@aws-sdk/client-sqs');
    const notReturned = new Error('The batch handler did not return the message.');
    const [first] = handled;
    if (first === undefined) return { done: [], error: notReturned };
    if (handled.length === 1) {
      const { ReceiptHandle } = first.message;
      await client.send(new sdk.DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      return { done: handled, error: notReturned };
    }
    const Entries = handled.map(({ message: { ReceiptHandle } }, index) => ({
      Id: String(index),
      ReceiptHandle,
    }));
    const { Failed = [] } = await client.send(
      new sdk.DeleteMessageBatchCommand({ QueueUrl, Entries }),
    );
    const [failed] = Failed;
    const failedIds = new Set(Failed.map(({ Id }) => Number(Id)));
    return {
      done: handled.filter((_, index) => !failedIds.has(index)),
      error: failed === undefined ? notReturned : new Error(`${failed.Code}: ${failed.Message}`),
    };
  }

  /** What of the rest may still be handled now: groups without a failure, and those whose failed message is dead. */
  async #goOn(
    rest: readonly HeldMessage[],
    taken: ReadonlySet<HeldMessage>,
    error: unknown,
  ): Promise<readonly HeldMessage[]> {
    const { caution, report } = this.#options;
    const next: HeldMessage[] = [];
    const back: HeldMessage[] = [];
    for (const [head, ...later] of byGroup(rest).values()) {
      if (head === undefined) continue;
      if (!taken.has(head)) {
        next.push(head, ...later);
        continue;
      }
      const { message, beat } = head;
      beat.stop();
      caution.noticeTrouble();
      // A lost message has already been reported.
      const isLost = beat.signal.aborted;
      if (!isLost || error !== beat.signal.reason) report(error, message);
      const isDead = !isLost && (await caution.isDead(message));
      // A dead message is moved at the next receive that finds it visible, so that must not wait for the timeout.
      if (isDead) back.push(head);
      (isDead ? next : back).push(...later);
    }
    await this.#giveBack(back);
    return next;
  }

  /** What could not be given back comes again after its visibility timeout. */
  async #giveBack(held: readonly HeldMessage[]): Promise<void> {
    const { client, queueUrl, report } = this.#options;
    const ours = held.filter(({ beat }) => !beat.signal.aborted);
    for (const { beat } of ours) beat.stop();
    await Promise.all(
      ours.map(({ message }) =>
        changeVisibility(message, 0, { client, queueUrl }).catch((error: unknown) => {
          if (!isNoLongerOurs(error)) report(error, message);
        }),
      ),
    );
  }
}

function byGroup(held: readonly HeldMessage[]): Map<string, HeldMessage[]> {
  const groups = new Map<string, HeldMessage[]>();
  for (const each of held) {
    const group = groupOf(each.message);
    groups.set(group, [...(groups.get(group) ?? []), each]);
  }
  return groups;
}
