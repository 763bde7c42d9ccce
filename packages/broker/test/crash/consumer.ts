/**
 * A consumer of a crash run, a process of its own: a poller for each queue, which receives some messages and does with
 * them what consumers do. Mostly it deletes them; but it also keeps receipts until the server has died and come back,
 * changes timeouts, deletes a part, repeats its attempt, or forgets what it has received.
 *
 * Told to drain, it deletes everything it receives; told to stop, it ends.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { Chance } from '../support/chance.ts';
import { CrashClient, outcomeOf, type ReceivedOutput, type Reply, resultOf } from './client.ts';
import { HistoryWriter, type ReceivedEntry } from './history.ts';
import { type Task, taskOfProcess, whenTold } from './task.ts';
import { allQueues, type CrashQueue, nameOf, urlOf } from './workload.ts';

/** How many lots a poller holds at a time, besides the one it works on. */
const keptLotsMax = 10;

interface Attempt {
  readonly count: number;
  readonly waitSeconds: number;
  readonly visibilitySeconds: number;
  readonly attemptId: string | undefined;
}

type Lot = readonly ReceivedEntry[];

class Poller {
  readonly #queue: CrashQueue;
  readonly #chance: Chance;
  readonly #name: string;
  readonly #kept: Set<Promise<void>> = new Set();
  #attempts = 0;

  constructor({ name, seed, round }: Task, queue: CrashQueue, number: number) {
    this.#queue = queue;
    this.#chance = new Chance(seed, number);
    this.#name = `${round}-${name}-${number}`;
  }

  async run(): Promise<void> {
    while (!stopping.aborted) {
      const attempt = this.#attempt();
      const lot = await this.#receive(attempt);
      if (lot.length === 0) continue;
      if (draining.aborted) await this.#delete(lot);
      else await this.#treat(lot, attempt);
    }
    await Promise.all(this.#kept);
  }

  #attempt(): Attempt {
    this.#attempts += 1;
    const hasId = this.#queue.ids !== 'none' && this.#chance.isOneIn(3);
    return {
      count: this.#chance.pick([1, 2, 5, 10]),
      waitSeconds: this.#chance.below(2),
      visibilitySeconds: this.#chance.pick([2, 2, 3, 4]),
      attemptId: hasId ? `${this.#name}-${this.#attempts}` : undefined,
    };
  }

  async #treat(lot: Lot, attempt: Attempt): Promise<void> {
    const choice = this.#chance.below(100);
    if (choice < 12) this.#keep(() => this.#deleteLater(lot, attempt));
    else if (choice < 20) this.#keep(() => this.#change(lot));
    else if (choice < 28) await this.#delete(lot.filter(() => this.#chance.isOneIn(2)));
    else if (choice >= 32) await this.#delete(await this.#perhapsAgain(lot, attempt));
  }

  /** Starts work that takes a while, and goes on receiving meanwhile; if there is too much, the work is dropped. */
  #keep(work: () => Promise<void>): void {
    if (this.#kept.size >= keptLotsMax) return;
    const done = work().finally(() => this.#kept.delete(done));
    this.#kept.add(done);
  }

  async #deleteLater(lot: Lot, attempt: Attempt): Promise<void> {
    await outage(attempt.visibilitySeconds * 1000);
    await this.#delete(await this.#perhapsAgain(lot, attempt));
  }

  async #change(lot: Lot): Promise<void> {
    const seconds = this.#chance.pick([0, 1, 4]);
    const reply = await this.#ask('ChangeMessageVisibility', lot, { VisibilityTimeout: seconds });
    this.#note({ type: 'change', visibilityMs: seconds * 1000 }, lot, reply);
    await outage(2_000);
    if (this.#chance.isOneIn(2)) await this.#delete(lot);
  }

  /** The lot, or what its attempt gives when it is repeated: the same, unless that took too long. */
  #perhapsAgain(lot: Lot, attempt: Attempt): Lot | Promise<Lot> {
    const isRepeated = attempt.attemptId !== undefined && this.#chance.isOneIn(2);
    return isRepeated ? this.#receive(attempt) : lot;
  }

  /** Receives until there is an answer; an attempt with an id is repeated under it. */
  async #receive({ count, waitSeconds, visibilitySeconds, attemptId }: Attempt): Promise<Lot> {
    for (;;) {
      const reply = await client.call('ReceiveMessage', {
        QueueUrl: urlOf(this.#queue.name),
        MaxNumberOfMessages: count,
        WaitTimeSeconds: waitSeconds,
        VisibilityTimeout: visibilitySeconds,
        MessageSystemAttributeNames: ['All'],
        ...(attemptId === undefined ? {} : { ReceiveRequestAttemptId: attemptId }),
      });
      const { from, to } = reply;
      const output = reply.outcome === 'done' ? (reply.output.Messages ?? []) : [];
      const messages = output.map(entryOf);
      history.add({
        type: 'receive',
        from,
        to,
        queue: this.#queue.name,
        ...(attemptId === undefined ? {} : { attemptId }),
        visibilityMs: visibilitySeconds * 1000,
        messages,
        ...outcomeOf(reply),
      });
      if (reply.outcome !== 'unanswered') return messages;
    }
  }

  /** In the order of the lot or in reverse, at once or one by one, until there is an answer or patience ends. */
  async #delete(lot: Lot): Promise<void> {
    const ordered = this.#chance.isOneIn(4) ? [...lot].reverse() : lot;
    const parts = this.#chance.isOneIn(2) ? [ordered] : ordered.map((message) => [message]);
    for (const part of parts.filter(({ length }) => length > 0)) {
      let isOver = false;
      while (!isOver) {
        const reply = await this.#ask('DeleteMessage', part, {});
        this.#note({ type: 'delete' }, part, reply);
        isOver = reply.outcome !== 'unanswered' || this.#chance.isOneIn(8);
      }
    }
  }

  /** One message in the action's single form, more as a batch. */
  #ask(action: string, lot: Lot, change: object): Promise<Reply> {
    const QueueUrl = urlOf(this.#queue.name);
    const inputs = lot.map(({ receipt }) => ({ ReceiptHandle: receipt, ...change }));
    if (inputs.length === 1) return client.call(action, { QueueUrl, ...inputs[0] });
    const Entries = inputs.map((input, place) => ({ Id: `${place}`, ...input }));
    return client.call(`${action}Batch`, { QueueUrl, Entries });
  }

  #note(
    kind: { type: 'delete' } | { type: 'change'; visibilityMs: number },
    lot: Lot,
    reply: Reply,
  ): void {
    const { from, to } = reply;
    const entries = lot.map(({ messageId, receipt }, place) => {
      const result = outcomeOf(resultOf(reply, `${place}`));
      return { ...kind, from, to, messageId, receipt, ...result };
    });
    history.add(...entries);
  }
}

function entryOf({ MessageId, ReceiptHandle, Body, Attributes }: ReceivedOutput): ReceivedEntry {
  const { SequenceNumber: sequence, MessageGroupId: group, ApproximateReceiveCount } = Attributes;
  return {
    messageId: MessageId,
    receipt: ReceiptHandle,
    body: nameOf(Body),
    receiveCount: Number(ApproximateReceiveCount),
    ...(sequence === undefined ? {} : { sequence }),
    ...(group === undefined ? {} : { group }),
  };
}

/** Waits until the server has died, but no longer than this, and not beyond a drain. */
async function outage(msMax: number): Promise<void> {
  const patience = pause(msMax, undefined, { signal: draining });
  await Promise.race([client.nextOutage(), patience]).catch(() => {});
}

const task = taskOfProcess();
const client = new CrashClient(task.ports, task.lateMs);
const history = new HistoryWriter(task.directory, task.name);
const draining = whenTold('drain');
const stopping = whenTold('stop');
await Promise.all(allQueues.map((queue, number) => new Poller(task, queue, number).run()));
client.close();
history.close();
process.disconnect();
