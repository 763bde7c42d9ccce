/**
 * Messages whose content is damaged on disk: whoever would get one gets an error, everybody else is served as if it were
 * not there, and the message stays, in its queue or its dead-letter queue, until it is purged or expires.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueDescription, SendEntry } from '../../../src/core/commands.ts';
import { manualClock } from '../../../src/server/clock.ts';
import type { Backend, Delivered } from '../../../src/storage/backend.ts';
import type { Clock } from '../../../src/storage/clock.ts';
import { openDataBackend } from '../../../src/storage/lmdb/open.ts';
import { keyOf } from '../../../src/storage/lmdb/records/keys.ts';
import { ServerProcess } from '../../support/server-process.ts';
import { checked, meddle, withDirectory } from './data-directories.ts';

const startedAt = 1_800_000_000_000;
const client = new AbortController();
const unreadable = /message 1 of jobs(\.fifo)? cannot be read: .*damaged: a record is cut off/;

/** Two queues, the first with these messages. */
async function writeQueues(
  directory: string,
  queue: string,
  entries: readonly SendEntry[],
  attributes: Readonly<Record<string, string>> = {},
): Promise<void> {
  const clock = manualClock(startedAt);
  const backend = await openDataBackend({ clock }, { directory });
  const isFifo = queue.endsWith('.fifo');
  const own = isFifo ? { FifoQueue: 'true' } : {};
  const other = isFifo ? 'other.fifo' : 'other';
  await backend.run({ type: 'create-queue', queue, attributes: own });
  await backend.run({ type: 'create-queue', queue: other, attributes: own });
  await backend.run({ type: 'set-attributes', queue, attributes });
  for (const entry of entries) await send(backend, queue, entry);
  await backend.close();
}

async function send(backend: Backend, queue: string, entry: SendEntry): Promise<void> {
  const sent = await backend.run({ type: 'send', queue, isBatch: false, entries: [entry] });
  assert.equal(sent.ok && sent.results[0]?.ok, true);
}

/** Cuts off the content of a message of the first queue, or removes it. */
function damage(directory: string, sequence: number, isGone = false): Promise<void> {
  return meddle(directory, (put, environment) => {
    const bytes = environment.get(keyOf('content', 1, sequence));
    assert.ok(bytes);
    put(keyOf('content', 1, sequence), isGone ? null : Buffer.from(bytes.subarray(0, 5)));
  });
}

async function receive(
  backend: Backend,
  queue: string,
  options: { count?: number; waitSeconds?: number; visibilitySeconds?: number } = {},
): Promise<readonly Delivered[]> {
  const received = await backend.receive({ type: 'receive', queue, ...options }, client);
  assert.ok(received.ok);
  return received.messages;
}

async function describe(backend: Backend, queue: string): Promise<QueueDescription> {
  const described = await backend.run({ type: 'describe-queue', queue });
  assert.ok(described.ok);
  return described;
}

const bodies = (messages: readonly Delivered[]): string[] =>
  messages.map(({ content }) => content.body);

async function withBackend(
  directory: string,
  run: (backend: Backend, clock: Clock, problems: string[]) => Promise<void>,
): Promise<void> {
  const clock = manualClock(startedAt);
  const problems: string[] = [];
  const onUnreadable = (error: unknown) => problems.push(String(error));
  const backend = await openDataBackend({ clock, onUnreadable }, { directory });
  try {
    await run(backend, clock, problems);
  } finally {
    await backend.close();
  }
}

test('a waiting receiver whose message cannot be read gets the error, and the sender whose request led there does not', () =>
  withDirectory(async (directory) => {
    await writeQueues(directory, 'jobs', [{ body: 'b', delaySeconds: 10 }]);
    await damage(directory, 1);
    await withBackend(directory, async (backend, clock) => {
      const failing = assert.rejects(receive(backend, 'jobs', { waitSeconds: 20 }), unreadable);
      const next = receive(backend, 'jobs', { waitSeconds: 20 });
      clock.moveTo(startedAt + 10_000);
      await send(backend, 'other', { body: 'b' });
      await failing;
      await send(backend, 'jobs', { body: 'next' });
      assert.deepEqual(bodies(await next), ['next'], 'whoever waits behind it goes on waiting');
      assert.equal((await describe(backend, 'jobs')).inFlight, 2);
      await backend.advance(30_000);
      assert.equal((await describe(backend, 'jobs')).visible, 2, 'it is still there');
      await backend.run({ type: 'purge-queue', queue: 'jobs' });
      assert.equal((await describe(backend, 'jobs')).visible, 0, 'until somebody removes it');
    });
  }));

test('a server whose timer finds a message that cannot be read goes on', () =>
  withDirectory(async (directory) => {
    await writeQueues(directory, 'jobs', [{ body: 'b', delaySeconds: 1 }]);
    await damage(directory, 1);
    // It begins at the store's time, which is later than the machine's.
    const server = await ServerProcess.start(['--data', directory]);
    try {
      const QueueUrl = server.queueUrl('jobs');
      const failed = await server.call('ReceiveMessage', { QueueUrl, WaitTimeSeconds: 20 });
      assert.equal(failed.status, 500);
      assert.match(server.said(), unreadable);
      assert.equal((await server.inspect('health')).status, 200);
    } finally {
      await server.kill();
    }
  }));

test('the other messages that a receive has found are delivered, but none overtakes one of its group', () =>
  withDirectory(async (directory) => {
    const entries = ['a', 'a', 'b', 'a', 'c'].map((groupId, index) => ({
      body: `${groupId}${index + 1}`,
      groupId,
      deduplicationId: String(index),
    }));
    await writeQueues(directory, 'jobs.fifo', entries);
    await damage(directory, 1);
    await withBackend(directory, async (backend, _, problems) => {
      assert.deepEqual(bodies(await receive(backend, 'jobs.fifo', { count: 10 })), ['b3', 'c5']);
      assert.equal(problems.length, 1);
      assert.match(problems.join(), unreadable);
      await backend.advance(30_000);
      assert.equal((await describe(backend, 'jobs.fifo')).visible, 5, 'all are still there');
      await backend.advance(4 * 24 * 3600 * 1000);
      assert.equal((await describe(backend, 'jobs.fifo')).visible, 0, 'until they expire');
    });
  }));

for (const isGone of [false, true]) {
  const what = isGone ? 'is missing' : 'cannot be read';
  test(`a message whose content ${what} moves to the dead-letter queue, and is the same after a restart`, () =>
    withDirectory(async (directory) => {
      const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:other';
      const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
      await writeQueues(directory, 'jobs', [{ body: 'b' }, { body: 'c' }], { RedrivePolicy });
      await damage(directory, 1, isGone);
      const counts = async (backend: Backend) => [
        (await describe(backend, 'jobs')).visible,
        (await describe(backend, 'other')).visible,
      ];
      await withBackend(directory, async (backend) => {
        await assert.rejects(receive(backend, 'jobs', { visibilitySeconds: 0 }));
        assert.deepEqual(bodies(await receive(backend, 'jobs', { count: 10 })), ['c']);
        assert.deepEqual(await counts(backend), [0, 1]);
        await assert.rejects(
          receive(backend, 'other', { visibilitySeconds: 0 }),
          /message 1 of other cannot be read/,
        );
        await backend.advance(30_000);
        assert.deepEqual(await receive(backend, 'jobs'), []);
        assert.deepEqual(bodies(await receive(backend, 'other', { count: 10 })), ['c']);
        await backend.advance(30_000);
        assert.deepEqual(await counts(backend), [0, 2]);
      });
      await withBackend(directory, async (backend) => {
        assert.deepEqual(await counts(backend), [0, 2]);
      });
      const { problems } = await checked(directory);
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.match(problems.join(), /^other: (content|message) 1\b/);
    }));
}

test('a duplicate of a message that cannot be read is suppressed like any other', () =>
  withDirectory(async (directory) => {
    const entry = { body: 'b', groupId: 'g', deduplicationId: 'd' };
    await writeQueues(directory, 'jobs.fifo', [entry]);
    await damage(directory, 1);
    await withBackend(directory, async (backend, _, problems) => {
      await send(backend, 'jobs.fifo', { ...entry, body: 'another' });
      await send(backend, 'jobs.fifo', { ...entry, deduplicationId: 'e' });
      const [suppressed] = await backend.suppressed('jobs.fifo');
      assert.equal(suppressed?.content?.body, 'another');
      assert.equal(suppressed?.originalContent, undefined);
      assert.equal(problems.length, 1);
    });
  }));
