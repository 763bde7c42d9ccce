/**
 * A small store with one of everything, and all that clients can learn from it: what flips.test.ts compares after it has
 * flipped a bit. Everything is determined by the clock and the ids, so two runs on the same bytes answer the same.
 */

import assert from 'node:assert/strict';
import type { SendEntry } from '../../../src/core/commands.ts';
import { manualClock } from '../../../src/server/clock.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import type { DataOptions } from '../../../src/storage/lmdb/open.ts';
import { openDataBackend } from '../../../src/storage/lmdb/open.ts';
import { CountedIds } from '../../support/counted-ids.ts';

const startedAt = 1_800_000_000_000;
/** So small that the files of the journal are written in no time. */
const journalBytes = 128 * 1024;
const client = new AbortController();
const baseUrl = 'http://localhost';
const arn = (queue: string): string => `arn:aws:sqs:us-east-1:000000000000:${queue}`;
const topicArn = 'arn:aws:sns:us-east-1:000000000000:news.fifo';
const queues = ['dead.fifo', 'orders.fifo', 'plain', 'replayed.fifo'];

export interface Opening extends Omit<DataOptions, 'directory'> {
  readonly onUnreadable?: (error: unknown) => void;
}

export function openStore(
  directory: string,
  { onUnreadable = () => {}, ...data }: Opening = {},
): Promise<Backend> {
  const options = { clock: manualClock(startedAt), ids: new CountedIds(), onUnreadable };
  return openDataBackend(options, { directory, journalBytes, ...data });
}

/** `copy` sees it as a server that is killed would leave it. */
export async function writeStore(directory: string, copy: () => void): Promise<void> {
  const backend = await openStore(directory);
  const fifo = { FifoQueue: 'true' };
  await backend.run({ type: 'create-queue', queue: 'dead.fifo', attributes: fifo });
  const RedrivePolicy = JSON.stringify({
    deadLetterTargetArn: arn('dead.fifo'),
    maxReceiveCount: 2,
  });
  const attributes = { ...fifo, ContentBasedDeduplication: 'true', RedrivePolicy };
  await backend.run({ type: 'create-queue', queue: 'orders.fifo', attributes });
  await backend.run({ type: 'create-queue', queue: 'replayed.fifo', attributes: fifo });
  await backend.run({
    type: 'create-queue',
    queue: 'plain',
    attributes: { DelaySeconds: '5' },
    tags: { team: 'parts' },
  });
  await backend.run({ type: 'create-queue', queue: 'gone', attributes: {} });
  await backend.run({ type: 'delete-queue', queue: 'gone' });
  for (let number = 0; number < 70; number += 1) {
    await send(backend, 'orders.fifo', { body: `order ${number}`, groupId: `g${number % 7}` });
  }
  for (let number = 0; number < 6; number += 1) {
    await send(backend, 'plain', { body: `${number} `.repeat(number * 500), delaySeconds: number });
  }
  const received = await backend.receive(
    { type: 'receive', queue: 'orders.fifo', count: 10, attemptId: 'attempt' },
    client,
  );
  assert.ok(received.ok);
  const entries = received.messages
    .slice(0, 4)
    .map(({ receiptHandle }, index) => ({ id: String(index), receiptHandle }));
  await backend.run({ type: 'delete-messages', queue: 'orders.fifo', isBatch: true, entries });
  const topicAttributes = { ...fifo, ArchivePolicy: '{"MessageRetentionPeriod":"7"}' };
  await backend.run({ type: 'create-topic', name: 'news.fifo', attributes: topicAttributes });
  await backend.run({
    type: 'subscribe',
    topicArn,
    protocol: 'sqs',
    endpoint: arn('dead.fifo'),
    attributes: { RawMessageDelivery: 'true' },
    baseUrl,
  });
  for (const message of ['one', 'two', 'three']) await publish(backend, message);
  await backend.advance(1_000);
  copy();
  await backend.close();
}

/** What clients learn, in the order in which they ask. */
export async function answersOf(directory: string, opening: Opening): Promise<string[]> {
  const answers: string[] = [];
  const note = (answer: unknown): void => void answers.push(JSON.stringify(answer));
  let backend = await openStore(directory, opening);
  try {
    note(await backend.run({ type: 'list-queues', limit: undefined }));
    for (const queue of queues) await describe(backend, queue, note);
    note(await backend.run({ type: 'describe-topic', topic: 'news.fifo' }));
    note(await backend.run({ type: 'list-subscriptions', topicArn, isByTopic: true }));
    note(await backend.run({ type: 'create-queue', queue: 'gone', attributes: {} }));
    note(await send(backend, 'orders.fifo', { body: 'order 3', groupId: 'g3' }));
    note(await send(backend, 'orders.fifo', { body: 'order 69', groupId: 'g6' }));
    note(await publish(backend, 'two'));
    note(await publish(backend, 'four'));
    const ReplayPolicy = JSON.stringify({
      PointType: 'Timestamp',
      StartingPoint: new Date(startedAt - 1000).toISOString(),
    });
    await backend.run({
      type: 'subscribe',
      topicArn,
      protocol: 'sqs',
      endpoint: arn('replayed.fifo'),
      attributes: { RawMessageDelivery: 'true', ReplayPolicy },
      baseUrl,
    });
    await backend.advance(10_000);
    note(await receiveAll(backend, 'orders.fifo', 'attempt'));
    await backend.advance(60_000);
    // Enough for new blocks, and for pages that are free.
    for (let number = 0; number < 80; number += 1) {
      await send(backend, 'plain', { body: `later ${number}`.repeat(200) });
    }
    for (const queue of queues) note(await receiveAll(backend, queue));
    await backend.close();
    backend = await openStore(directory, opening);
    await backend.advance(600_000);
    for (const queue of queues) {
      await describe(backend, queue, note);
      note(await receiveAll(backend, queue));
    }
    return answers;
  } finally {
    await backend.close();
  }
}

async function describe(
  backend: Backend,
  queue: string,
  note: (answer: unknown) => void,
): Promise<void> {
  note(await backend.run({ type: 'get-attributes', queue, names: ['All'] }));
  note(await backend.run({ type: 'list-tags', queue }));
  note(await backend.run({ type: 'describe-queue', queue }));
  note(await backend.explain({ type: 'explain', queue, limit: 100 }));
  note(await backend.peek({ type: 'peek-messages', queue, limit: 100 }));
}

async function send(backend: Backend, queue: string, entry: SendEntry): Promise<unknown> {
  return backend.run({ type: 'send', queue, isBatch: false, entries: [entry] });
}

function publish(backend: Backend, message: string): Promise<unknown> {
  const entries = [{ message, groupId: 'g', deduplicationId: message }];
  return backend.run({ type: 'publish', topicArn, isBatch: false, entries, baseUrl });
}

/** The receive attempt is repeated first, if one is named. */
async function receiveAll(backend: Backend, queue: string, attemptId?: string): Promise<unknown[]> {
  const received: unknown[] = [];
  for (let attempts = 0; attempts < 40; attempts += 1) {
    const command = { type: 'receive', queue, count: 10, visibilitySeconds: 300 } as const;
    const first = attempts === 0 && attemptId !== undefined ? { attemptId } : {};
    const found = await backend.receive({ ...command, ...first }, client);
    assert.ok(found.ok);
    if (found.messages.length === 0) break;
    received.push(found.messages);
  }
  return received;
}
