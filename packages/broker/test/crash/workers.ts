/**
 * The clients of a crash run: one producer and some consumers, each a process of its own; and what is around them: the
 * queues and the topic that they use, the wait until they have emptied the queues, and the count of what is left.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { CrashClient, Reply } from './client.ts';
import { type HistoryWriter, now } from './history.ts';
import type { Task, Word } from './task.ts';
import { allQueues, arnOf, subscribers, topic, urlOf } from './workload.ts';

const consumers = 3;
/** How long no queue may get shorter. */
const drainMsMax = 60_000;
const drainLookMs = 100;

export type WorkersOptions = Omit<Task, 'name'> & { readonly onFailure: (error: Error) => void };

export class Workers {
  readonly #options: WorkersOptions;
  readonly #producer: ChildProcess;
  readonly #consumers: readonly ChildProcess[];

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#producer = this.#start('producer', 1);
    this.#consumers = Array.from({ length: consumers }, (_, at) => this.#start('consumer', at + 2));
  }

  /** Ends the producer, lets the consumers empty the queues, and ends them too. */
  async drain(client: CrashClient): Promise<void> {
    await tell('finish', [this.#producer]);
    for (const consumer of this.#consumers) consumer.send('drain' satisfies Word);
    // If they get no further, the count of what is left will show it.
    let least = Number.POSITIVE_INFINITY;
    for (let lastAt = now(); least > 0 && now() - lastAt < drainMsMax; ) {
      const counts = await Promise.all(allQueues.map(({ name }) => countOf(client, name)));
      const sum = counts.reduce((all, count) => all + count, 0);
      if (sum < least) lastAt = now();
      least = Math.min(least, sum);
      if (sum > 0) await pause(drainLookMs);
    }
    await tell('stop', this.#consumers);
  }

  kill(): void {
    for (const child of [this.#producer, ...this.#consumers]) child.kill('SIGKILL');
  }

  #start(kind: 'producer' | 'consumer', number: number): ChildProcess {
    const { onFailure, ...options } = this.#options;
    const name = `${kind}-${number}`;
    const task: Task = { ...options, name, seed: options.seed + number * 7_919 };
    const file = fileURLToPath(new URL(`${kind}.js`, import.meta.url));
    const child = fork(file, [JSON.stringify(task)]);
    child.once('exit', (code, signal) => {
      if (code !== 0) onFailure(new Error(`${name} ended with ${code ?? signal}`));
    });
    return child;
  }
}

export async function createAll(client: CrashClient, history: HistoryWriter): Promise<void> {
  for (const { name, ids, windowMs, attributes } of allQueues) {
    const input = { QueueName: name, Attributes: attributes };
    await done(`the queue ${name}`, client.call('CreateQueue', input));
    history.add({ type: 'queue', queue: name, isFifo: ids !== 'none', windowMs });
  }
  const fifo = { 'Attributes.entry.1.key': 'FifoTopic', 'Attributes.entry.1.value': 'true' };
  await done('the topic', client.callTopic('CreateTopic', { Name: topic.name, ...fifo }));
  for (const { name } of subscribers) {
    const raw = {
      'Attributes.entry.1.key': 'RawMessageDelivery',
      'Attributes.entry.1.value': 'true',
    };
    const input = { TopicArn: topic.arn, Protocol: 'sqs', Endpoint: arnOf(name), ...raw };
    await done(`the subscription of ${name}`, client.callTopic('Subscribe', input));
  }
}

/** Writes down what each queue still has. */
export async function noteLeft(client: CrashClient, history: HistoryWriter): Promise<void> {
  for (const { name } of allQueues) {
    history.add({ type: 'left', queue: name, count: await countOf(client, name) });
  }
}

async function countOf(client: CrashClient, queue: string): Promise<number> {
  const input = { QueueUrl: urlOf(queue), AttributeNames: ['All'] };
  let reply = await client.call('GetQueueAttributes', input);
  while (reply.outcome === 'unanswered') reply = await client.call('GetQueueAttributes', input);
  if (reply.outcome !== 'done') throw new Error(`${queue} cannot be counted: ${reply.outcome}`);
  return Object.entries(reply.output.Attributes ?? {})
    .filter(([name]) => name.startsWith('ApproximateNumberOfMessages'))
    .reduce((sum, [, count]) => sum + Number(count), 0);
}

async function done(what: string, reply: Promise<Reply>): Promise<void> {
  const { outcome } = await reply;
  if (outcome !== 'done') throw new Error(`${what} could not be created: ${outcome}`);
}

async function tell(word: Word, children: readonly ChildProcess[]): Promise<void> {
  const ended = children.map((child) => once(child, 'exit'));
  for (const child of children) child.send(word);
  await Promise.all(ended);
}
