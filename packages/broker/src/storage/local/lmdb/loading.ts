/**
 * Reading the file at a start: the store's list of queues, and each queue's records as the changes that bring an engine
 * into the state they stand for. What the records cannot mean is damage, and said to be.
 */

import type {
  Change,
  KeptAttempt,
  KeptMoveTask,
  KeptQueue,
  KeptWindowEntry,
  WindowDigests,
} from '../../../core/changes.ts';
import { settingsOf } from '../../../core/queue/attributes.ts';
import { type BlockVisitor, blockOf, GroupTexts, type LoadedMessage, readBlock } from './block.ts';
import { DamagedError } from './bytes.ts';
import type { Environment } from './environment.ts';
import { contentsIn, idIn, keyOf, nameIn, nameKeyOf, rangeOf, textIn } from './keys.ts';
import { Block, type QueueRecords, readHead } from './queue-records.ts';
import { readDelivery } from './records.ts';

export interface Store {
  readonly queues: readonly {
    readonly name: string;
    readonly kept: KeptQueue;
    readonly contents: number;
  }[];
  readonly names: readonly { readonly name: string; readonly time: number }[];
  readonly givenUp: readonly number[];
}

export function loadStore(environment: Environment): Store {
  const queues = Array.from(environment.range(rangeOf('queue')), ({ key, value }) => ({
    name: nameIn(key),
    ...jsonIn<{ kept: KeptQueue; contents: number }>(value, 'queue'),
  }));
  const names = Array.from(environment.range(rangeOf('name')), ({ key, value }) => ({
    name: nameIn(key),
    time: jsonIn<number>(value, 'name'),
  }));
  const givenUp = Array.from(environment.range(rangeOf('given-up')), ({ key }) => contentsIn(key));
  return { queues, names, givenUp };
}

/** The time of the last commit. */
export function latestTime(environment: Environment): number {
  const value = environment.get(nameKeyOf('store', 'time'));
  return value === undefined ? 0 : jsonIn<number>(value, 'time');
}

/** Everything of one queue, piece by piece; on the way, `records` takes note of what stands where. */
export function* loadQueue(
  environment: Environment,
  records: QueueRecords,
  now: number,
): Generator<readonly Change[]> {
  const { name: queue, kept, contents } = records;
  yield [{ kind: 'queue', queue, value: kept }];
  const bytes = environment.get(keyOf('head', contents, 0));
  if (bytes !== undefined) {
    const { counter: value, windowFrom, messages, windowEntries } = readHead(bytes);
    records.counter = value;
    records.windowFrom = windowFrom;
    if (value > 0) yield [{ kind: 'counter', queue, value, room: { messages, windowEntries } }];
  }
  yield* loadBlocks(environment, records, now);
  for (const { key, value } of environment.range(rangeOf('delivery', contents))) {
    const id = idIn(key);
    const block = records.blocks.get(blockOf(id));
    if (block === undefined || block.isRemoved(id)) {
      throw new DamagedError(`queue ${queue} has a delivery of message ${id}, which is not there`);
    }
    yield [{ kind: 'delivery', queue, id, value: readDelivery(value) }];
  }
  for (const { key, value } of environment.range(rangeOf('attempt', contents))) {
    const attempt = jsonIn<KeptAttempt>(value, 'attempt');
    yield [{ kind: 'attempt', queue, id: textIn(key), value: attempt }];
  }
  yield* loadTasks(environment, records);
}

function* loadBlocks(
  environment: Environment,
  records: QueueRecords,
  now: number,
): Generator<readonly Change[]> {
  const { name: queue, kept, contents } = records;
  for (const { key, value } of environment.range(rangeOf('removed', contents))) {
    const block = new Block(idIn(key));
    block.setRemoved(value);
    records.blocks.set(block.number, block);
  }
  const groups = new GroupTexts();
  const acceptedAfter = now - settingsOf(queue.endsWith('.fifo'), kept.attributes).windowMs;
  let last: { readonly block: Block; readonly bytes: Buffer } | undefined;
  for (const { key, value: bytes } of environment.range(rangeOf('block', contents))) {
    const number = idIn(key);
    const block = records.blocks.get(number) ?? new Block(number);
    block.isInFile = true;
    records.blocks.set(number, block);
    last = { block, bytes };
    const loading = new LoadingBlock(records, block, acceptedAfter);
    readBlock(number, bytes, groups, loading);
    yield loading.changes;
  }
  if (last !== undefined) records.goOnWith(last.block, last.bytes);
}

/** Makes changes of a block's records, leaving out what was removed or is over. */
class LoadingBlock implements BlockVisitor {
  readonly changes: Change[] = [];
  readonly #records: QueueRecords;
  readonly #block: Block;
  readonly #acceptedAfter: number;

  constructor(records: QueueRecords, block: Block, acceptedAfter: number) {
    this.#records = records;
    this.#block = block;
    this.#acceptedAfter = acceptedAfter;
  }

  message(id: number, message: LoadedMessage): void {
    this.#records.lastSequence = id;
    if (this.#block.isRemoved(id)) return;
    this.#block.live += 1;
    this.#records.messages += 1;
    const { name: queue } = this.#records;
    const { messageId, sentAt, delayMs, groupId, deduplicationId, deadLetterSource } = message;
    const content = { from: { queue, sequence: id } };
    const value = {
      messageId,
      sentAt,
      delayMs,
      groupId,
      deduplicationId,
      deadLetterSource,
      content,
    };
    this.changes.push({ kind: 'message', queue, id, value });
  }

  windowEntry(id: number, value: KeptWindowEntry, digests: WindowDigests): void {
    this.#records.lastSequence = id;
    if (id < this.#records.windowFrom) return;
    // What is over already need not pass through an engine.
    if (value.acceptedAt <= this.#acceptedAfter) {
      this.#records.windowFrom = id + 1;
      return;
    }
    this.#block.windowEntries += 1;
    this.#records.windowEntries += 1;
    this.changes.push({ kind: 'window', queue: this.#records.name, id, value, digests });
  }
}

function* loadTasks(environment: Environment, records: QueueRecords): Generator<readonly Change[]> {
  const { name: queue } = records;
  const start = nameKeyOf('task', `${queue} `);
  const end = nameKeyOf('task', `${queue}!`);
  for (const { key, value } of environment.range({ start, end })) {
    const id = nameIn(key).slice(queue.length + 1);
    records.tasks.add(id);
    yield [{ kind: 'task', queue, id, value: jsonIn<KeptMoveTask>(value, 'task') }];
  }
}

function jsonIn<T>(bytes: Buffer, what: string): T {
  try {
    return JSON.parse(bytes.toString('utf8')) as T;
  } catch {
    throw new DamagedError(`a ${what} is not readable`);
  }
}
