/**
 * What a backend does when its engine throws in the middle of a command: the request fails and nothing of it stays, whatever
 * other requests are on their way to the disk; work that was due is put off, and everything else goes on. (For every command
 * and call: failing-commands.test.ts.)
 */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Command } from '../../src/core/commands.ts';
import { CommandFailed, Engine } from '../../src/core/engine.ts';
import type { Event } from '../../src/core/events.ts';
import { strictLimits } from '../../src/core/limits.ts';
import { Queue } from '../../src/core/queue/queue.ts';
import { Topic } from '../../src/core/topic/topic.ts';
import { manualClock } from '../../src/server/clock.ts';
import { type Backend, Unavailable } from '../../src/storage/backend.ts';
import { openDataBackend } from '../../src/storage/lmdb/open.ts';
import { openMemoryBackend } from '../../src/storage/memory/open.ts';
import { Faults } from '../support/faults.ts';
import { temporaryDirectory, testEveryBackend } from './backends.ts';

const start = 1_800_000_000_000;
const patient = new AbortController();
const topicArn = 'arn:aws:sns:us-east-1:000000000000:prices.fifo';
const queues = ['a.fifo', 'b.fifo'];

const faults = new Faults();
after(() => faults.end());

/** The call at which the engine fails when it publishes. */
let failsAt = Number.POSITIVE_INFINITY;
instead({ after }, Engine.prototype, 'apply', (own, ...args) => {
  const isPublish = (args[0] as Command).type === 'publish';
  return isPublish ? faults.during(failsAt, () => own(...args)) : own(...args);
});

async function failAt<T>(n: number, run: () => Promise<T>): Promise<T> {
  failsAt = n;
  try {
    return await run();
  } finally {
    failsAt = Number.POSITIVE_INFINITY;
  }
}

async function withFanOut(backend: Backend): Promise<void> {
  const isFifo = { FifoQueue: 'true' };
  for (const queue of queues) {
    await backend.run({ type: 'create-queue', queue, attributes: isFifo });
  }
  const attributes = { FifoTopic: 'true' };
  await backend.run({ type: 'create-topic', name: 'prices.fifo', attributes });
  for (const queue of queues) {
    const endpoint = `arn:aws:sqs:us-east-1:000000000000:${queue}`;
    const baseUrl = 'http://mq.example';
    const told = { topicArn, protocol: 'sqs', endpoint, baseUrl } as const;
    await backend.run({ type: 'subscribe', ...told, attributes: { RawMessageDelivery: 'true' } });
  }
}

function publish(message: string, deduplicationId: string): Extract<Command, { type: 'publish' }> {
  const entries = [{ message, groupId: 'g', deduplicationId }];
  return { type: 'publish', topicArn, isBatch: false, baseUrl: 'http://mq.example', entries };
}

function send(
  queue: string,
  body: string,
  deduplicationId: string,
): Extract<Command, { type: 'send' }> {
  const entries = [{ body, groupId: 'g', deduplicationId }];
  return { type: 'send', queue, isBatch: false, entries };
}

async function bodiesIn(backend: Backend, queue: string): Promise<string[]> {
  const page = await backend.peek({ type: 'peek-messages', queue, limit: 1000 });
  assert.ok(page.ok);
  return page.messages.map(({ content }) => content.body);
}

/** Replaces a method until the test is over. */
function instead<T extends object>(
  t: { after(undo: () => void): void },
  prototype: T,
  name: keyof T,
  method: (this: T, own: (...args: unknown[]) => unknown, ...args: unknown[]) => unknown,
): void {
  const own = prototype[name];
  const replaced = function (this: T, ...args: unknown[]): unknown {
    return method.call(this, (own as (...args: unknown[]) => unknown).bind(this), ...args);
  };
  prototype[name] = replaced as T[keyof T];
  t.after(() => {
    prototype[name] = own;
  });
}

testEveryBackend(
  'a publish that fails at any call is delivered to nobody, and its retry to everybody',
  async (open) => {
    const backend = await open({ clock: manualClock(start) });
    await withFanOut(backend);
    const unanswered: Promise<unknown>[] = [];
    let failures = 0;
    for (let n = 1; ; n += 1) {
      // Of this one nothing is on the disk yet when the publish fails.
      unanswered.push(backend.run(send('a.fifo', `s${n}`, `s${n}`)));
      const published = failAt(n, () => backend.run(publish('hello', 'd')));
      const isPublished = await published.then(
        ({ ok }) => ok,
        (error: Error) => {
          assert.ok(error instanceof CommandFailed);
          assert.match(error.message, /^the command publish failed: a planted fault$/);
          return false;
        },
      );
      const sends = Array.from({ length: n }, (_, at) => `s${at + 1}`);
      assert.deepEqual(
        await bodiesIn(backend, 'a.fifo'),
        isPublished ? [...sends, 'hello'] : sends,
      );
      assert.deepEqual(await bodiesIn(backend, 'b.fifo'), isPublished ? ['hello'] : []);
      if (isPublished) break;
      failures += 1;
    }
    await Promise.all(unanswered);
    assert.ok(failures > 50, String(failures));
    assert.ok((await backend.run(send('b.fifo', 'next', 'next'))).ok);
    assert.deepEqual(await bodiesIn(backend, 'b.fifo'), ['hello', 'next']);
  },
);

test('after a failed publish the store is kept as the clients saw it', async () => {
  const directory = temporaryDirectory();
  const data = { directory: directory.path };
  const options = { clock: manualClock(start) };
  const backend = await openDataBackend(options, data);
  await withFanOut(backend);
  const sent = backend.run(send('b.fifo', 'one', '1'));
  await assert.rejects(
    failAt(60, () => backend.run(publish('hello', 'd'))),
    CommandFailed,
  );
  await sent;
  await backend.close();
  const again = await openDataBackend(options, data);
  assert.deepEqual(await bodiesIn(again, 'a.fifo'), []);
  assert.deepEqual(await bodiesIn(again, 'b.fifo'), ['one']);
  await again.close();
  directory.remove();
});

testEveryBackend('a waiting receive that fails does so alone, and loses nothing', async (open) => {
  const backend = await open({ clock: manualClock(start) });
  await withFanOut(backend);
  const receive = { type: 'receive', queue: 'a.fifo', waitSeconds: 20 } as const;
  const waiting = assert.rejects(backend.receive(receive, patient), /the command receive failed/);
  const tests: (() => void)[] = [];
  instead({ after: (undo) => tests.push(undo) }, Queue.prototype, 'handOut', () => {
    throw new Error('no');
  });
  assert.ok((await backend.run(send('a.fifo', 'one', '1'))).ok);
  await waiting;
  for (const undo of tests) undo();
  const received = await backend.receive(receive, patient);
  assert.ok(received.ok);
  assert.deepEqual(
    received.messages.map(({ content, receiveCount }) => [content.body, receiveCount]),
    [['one', 1]],
  );
});

test('a tick that fails is reported and put off, and holds up nothing else', async (t) => {
  const clock = manualClock(start);
  const failures: unknown[] = [];
  const backend = openMemoryBackend({ clock, onFailure: (error) => failures.push(error) });
  const expired: string[] = [];
  backend.listen((event: Event) => {
    if (event.type === 'expired') expired.push(event.queue);
  });
  for (const queue of ['bad.fifo', 'good.fifo']) {
    const attributes = { FifoQueue: 'true', MessageRetentionPeriod: '60' };
    await backend.run({ type: 'create-queue', queue, attributes });
    await backend.run(send(queue, 'one', '1'));
  }
  let isBroken = true;
  instead(t, Queue.prototype, 'advance', function (this: Queue, own, ...args) {
    const removed = own(...args);
    if (isBroken && this.name === 'bad.fifo' && args.length > 1) throw new Error('no');
    return removed;
  });
  await backend.advance(60_000);
  assert.equal(failures.length, 1);
  assert.match(String(failures[0]), /the command tick failed: no/);
  assert.deepEqual(expired, []);
  // No timer is set for what failed, which is still due.
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(failures.length, 1);
  await backend.advance(1_000);
  assert.deepEqual(expired, ['good.fifo']);
  await backend.advance(58_999);
  assert.equal(failures.length, 1);
  await backend.advance(1);
  assert.equal(failures.length, 2);
  isBroken = false;
  await backend.advance(60_000);
  assert.deepEqual(expired, ['good.fifo', 'bad.fifo']);
  await backend.close();
});

test('ticks that fail for no queue or topic are tried once a second', async () => {
  const failures: unknown[] = [];
  const limits = {
    ...strictLimits,
    get expiredPerTickMax(): number {
      throw new Error('no');
    },
  };
  const onFailure = (error: unknown) => failures.push(error);
  const backend = openMemoryBackend({ clock: manualClock(start), limits, onFailure });
  const attributes = { FifoQueue: 'true', MessageRetentionPeriod: '60' };
  await backend.run({ type: 'create-queue', queue: 'a.fifo', attributes });
  await backend.run(send('a.fifo', 'one', '1'));
  await backend.advance(60_000);
  assert.equal(failures.length, 1);
  // Nobody waits for ticks: other commands see that it has expired.
  assert.deepEqual(await bodiesIn(backend, 'a.fifo'), []);
  await backend.advance(240_000 + 5_000);
  assert.equal(failures.length, 1 + 6);
  await backend.close();
});

test('a replay that fails is put off', async (t) => {
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const backend = openMemoryBackend({ clock: manualClock(start), onFailure });
  await withFanOut(backend);
  const ArchivePolicy = '{"MessageRetentionPeriod":"1"}';
  const archive = { name: 'ArchivePolicy', value: ArchivePolicy };
  await backend.run({ type: 'set-topic-attribute', topicArn, ...archive });
  await backend.run(publish('hello', 'd'));
  await backend.run({ type: 'create-queue', queue: 'c.fifo', attributes: { FifoQueue: 'true' } });
  let isBroken = true;
  instead(t, Topic.prototype, 'setSubscription', function (this: Topic, own, ...args) {
    const kept = args[2] as { replay?: { after: number } } | null;
    if (isBroken && (kept?.replay?.after ?? 0) > 0) throw new Error('no');
    return own(...args);
  });
  const StartingPoint = new Date(start).toISOString();
  await backend.run({
    type: 'subscribe',
    topicArn,
    protocol: 'sqs',
    endpoint: 'arn:aws:sqs:us-east-1:000000000000:c.fifo',
    baseUrl: 'http://mq.example',
    attributes: { ReplayPolicy: JSON.stringify({ PointType: 'Timestamp', StartingPoint }) },
  });
  await backend.advance(1);
  assert.equal(failures.length, 1);
  assert.match(String(failures[0]), /the command replay failed: no/);
  assert.deepEqual(await bodiesIn(backend, 'c.fifo'), []);
  await backend.advance(59_998);
  assert.equal(failures.length, 1);
  isBroken = false;
  await backend.advance(2);
  assert.equal((await bodiesIn(backend, 'c.fifo')).length, 1);
  await backend.close();
});

testEveryBackend(
  'when what failed cannot be loaded again, nothing is answered, and the reason is told',
  async (open) => {
    const told: (string | undefined)[] = [];
    const onAvailability = (reason: string | undefined) => told.push(reason);
    const backend = await open({ clock: manualClock(start), onAvailability });
    await withFanOut(backend);
    const unkept = backend.run(send('a.fifo', 'one', '1'));
    const undo: (() => void)[] = [];
    instead({ after: (each) => undo.push(each) }, Engine.prototype, 'absorb', () => {
      throw new Error('unreadable');
    });
    await assert.rejects(
      failAt(20, () => backend.run(publish('hello', 'd'))),
      /the command publish failed/,
    );
    for (const each of undo) each();
    const reason = /could not be loaded again, so the server has to be restarted: .*unreadable/;
    assert.match(told.at(-1) ?? '', reason);
    const look = backend.run({ type: 'list-queues' });
    await assert.rejects(
      look,
      (error) => error instanceof Unavailable && reason.test(error.message),
    );
    // It was applied, and may or may not have been kept; its client does not wait in vain.
    await unkept.catch((error: unknown) => assert.ok(error instanceof Unavailable));
  },
  'a node loads again as soon as it can, without a restart',
);
