/**
 * Reads the file at a start: the store's list of queues and topics, and the records of each as the changes that bring an
 * engine into that state. Records that make no sense are reported as damage.
 */

import type {
  Change,
  KeptAttempt,
  KeptMessage,
  KeptMoveTask,
  KeptPost,
  KeptPostAttempt,
  KeptQueue,
  KeptSubscription,
  KeptTopic,
  KeptWindowEntry,
  Publication,
  WindowDigests,
} from '../../../core/changes.ts';
import { topicWindowMs } from '../../../core/limits.ts';
import { settingsOf } from '../../../core/queue/attributes.ts';
import { type BlockVisitor, blockOf, GroupTexts, readBlock } from './block.ts';
import { DamagedError } from './bytes.ts';
import type { Environment } from './environment.ts';
import { jsonIn } from './json-record.ts';
import { contentsIn, idIn, keyOf, nameIn, nameKeyOf, rangeOf, textIn } from './keys.ts';
import {
  Block,
  emptyHead,
  type Head,
  type PlaceRecord,
  PlaceRecords,
  readHead,
} from './place-records.ts';
import { readDelivery } from './records.ts';

export interface Store {
  readonly places: readonly PlaceRecords[];
  readonly names: readonly { readonly name: string; readonly time: number }[];
  readonly givenUp: readonly number[];
}

export function loadStore(environment: Environment): Store {
  const placesOf = (kind: PlaceRecords['kind']): PlaceRecords[] =>
    Array.from(environment.range(rangeOf(kind)), ({ key, value }) => {
      const name = nameIn(key);
      return new PlaceRecords(
        kind,
        name,
        jsonIn<PlaceRecord>(value, `record of the ${kind} ${name}`),
      );
    });
  const names = Array.from(environment.range(rangeOf('name')), ({ key, value }) => ({
    name: nameIn(key),
    time: jsonIn<number>(value, 'name'),
  }));
  const givenUp = Array.from(environment.range(rangeOf('given-up')), ({ key }) => contentsIn(key));
  // Queues first: a subscription may name one.
  return { places: [...placesOf('queue'), ...placesOf('topic')], names, givenUp };
}

/** The time of the last commit. */
export function latestTime(environment: Environment): number {
  const value = environment.get(nameKeyOf('store', 'time'));
  return value === undefined ? 0 : jsonIn<number>(value, 'time');
}

/** Everything of one queue or topic, piece by piece; `records` is filled in on the way. */
export function loadPlace(
  environment: Environment,
  records: PlaceRecords,
  now: number,
): Iterable<readonly Change[]> {
  return records.kind === 'queue'
    ? loadQueue(environment, records, now)
    : loadTopic(environment, records, now);
}

function* loadQueue(
  environment: Environment,
  records: PlaceRecords,
  now: number,
): Generator<readonly Change[]> {
  const { name: queue, contents, other } = records;
  const kept = records.kept as KeptQueue;
  yield [{ kind: 'queue', queue, value: kept }];
  const { counter: value, messages, windowEntries } = loadHead(environment, records);
  if (value > 0) yield [{ kind: 'counter', queue, value, room: { messages, windowEntries } }];
  const { windowMs } = settingsOf(queue.endsWith('.fifo'), kept.attributes);
  yield* loadBlocks(environment, records, now - windowMs);
  for (const { key, value } of environment.range(rangeOf('delivery', contents))) {
    const id = idIn(key);
    const block = records.blocks.get(blockOf(id));
    if (block === undefined || block.isRemoved(id)) {
      throw new DamagedError(`queue ${queue} has a delivery of message ${id}, but not the message`);
    }
    yield [{ kind: 'delivery', queue, id, value: readDelivery(value) }];
  }
  for (const { key, value } of environment.range(rangeOf('attempt', contents))) {
    const attempt = jsonIn<KeptAttempt>(value, 'attempt');
    yield [{ kind: 'attempt', queue, id: textIn(key), value: attempt }];
  }
  for (const { key, value } of environment.range(rangeOf('task', other))) {
    const task = jsonIn<KeptMoveTask>(value, 'task');
    yield [{ kind: 'task', queue, id: textIn(key), value: task }];
  }
}

function* loadTopic(
  environment: Environment,
  records: PlaceRecords,
  now: number,
): Generator<readonly Change[]> {
  const { name: topic, contents, other } = records;
  yield [{ kind: 'topic', topic, value: records.kept as KeptTopic }];
  const { counter } = loadHead(environment, records);
  if (counter > 0) yield [{ kind: 'topic-counter', topic, value: counter }];
  for (const { key, value } of environment.range(rangeOf('subscription', contents))) {
    const subscription = jsonIn<KeptSubscription>(value, 'subscription');
    yield [{ kind: 'subscription', topic, id: textIn(key), value: subscription }];
  }
  yield* loadBlocks(environment, records, now - topicWindowMs);
  for (const { key, value } of environment.range(rangeOf('archived', other))) {
    const publication = jsonIn<Publication>(value, 'publication');
    yield [{ kind: 'archived', topic, id: idIn(key), value: publication }];
  }
  for (const { key, value } of environment.range(rangeOf('post', contents))) {
    yield [{ kind: 'post', topic, id: idIn(key), value: jsonIn<KeptPost>(value, 'post') }];
  }
  for (const { key, value } of environment.range(rangeOf('post-attempt', contents))) {
    const attempt = jsonIn<KeptPostAttempt>(value, 'post attempt');
    yield [{ kind: 'post-attempt', topic, id: idIn(key), value: attempt }];
  }
}

function loadHead(environment: Environment, records: PlaceRecords): Head {
  const bytes = environment.get(keyOf('head', records.contents, 0));
  const head = bytes === undefined ? emptyHead : readHead(bytes);
  records.counter = head.counter;
  records.windowFrom = head.windowFrom;
  return head;
}

function* loadBlocks(
  environment: Environment,
  records: PlaceRecords,
  acceptedAfter: number,
): Generator<readonly Change[]> {
  const { contents } = records;
  for (const { key, value } of environment.range(rangeOf('removed', contents))) {
    const block = new Block(idIn(key));
    block.setRemoved(value);
    records.blocks.set(block.number, block);
  }
  const groups = new GroupTexts();
  let last: { readonly block: Block; readonly bytes: Buffer } | undefined;
  for (const { key, value: bytes } of environment.range(rangeOf('block', contents))) {
    const number = idIn(key);
    const block = records.blocks.get(number) ?? new Block(number);
    block.isInFile = true;
    records.blocks.set(number, block);
    last = { block, bytes };
    const loading = new LoadingBlock(records, block, acceptedAfter);
    readBlock({ owner: records, number, bytes }, groups, loading);
    yield loading.changes;
  }
  if (last !== undefined) records.goOnWith(last.block, last.bytes);
}

/** Turns a block's records into changes, leaving out what was removed or has expired. */
class LoadingBlock implements BlockVisitor {
  readonly changes: Change[] = [];
  readonly #records: PlaceRecords;
  readonly #block: Block;
  readonly #acceptedAfter: number;

  constructor(records: PlaceRecords, block: Block, acceptedAfter: number) {
    this.#records = records;
    this.#block = block;
    this.#acceptedAfter = acceptedAfter;
  }

  message(id: number, value: KeptMessage, isFirst: boolean): void {
    this.#records.lastSequence = id;
    this.#block.add(id, isFirst);
    if (this.#block.isRemoved(id)) return;
    this.#records.messages += 1;
    this.changes.push({ kind: 'message', queue: this.#records.name, id, value });
  }

  windowEntry(id: number, value: KeptWindowEntry, digests: WindowDigests): void {
    this.#records.lastSequence = id;
    if (id < this.#records.windowFrom) return;
    // What has expired need not pass through an engine.
    if (value.acceptedAt <= this.#acceptedAfter) {
      this.#records.windowFrom = id + 1;
      this.#records.hasMovedWindow = true;
      return;
    }
    this.#block.windowEntries += 1;
    this.#records.windowEntries += 1;
    const { kind, name } = this.#records;
    this.changes.push(
      kind === 'queue'
        ? { kind: 'window', queue: name, id, value, digests }
        : { kind: 'topic-window', topic: name, id, value, digests },
    );
  }
}
