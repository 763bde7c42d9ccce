/**
 * Moving house, from a data directory to PostgreSQL and back: whatever a server promised before the move holds after it,
 * also if the copy was killed on the way. What cannot be copied is refused, and a part of a copy is no store to serve.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Backend, Poster } from '../../../src/storage/backend.ts';
import { copy } from '../../../src/storage/copying/copy.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';
import { checked, withDirectory } from '../lmdb/data-directories.ts';
import { checkFixture, fillFixture, startedAt } from '../lmdb/format-fixture.ts';
import { copied, StoreLocation } from './store-locations.ts';

const script = fileURLToPath(new URL('store-locations.js', import.meta.url));
let database: Promise<TestDatabase> | undefined;

type Kind = 'directory' | 'database';

const moves: readonly (readonly [Kind, Kind])[] = [
  ['directory', 'database'],
  ['database', 'directory'],
];

async function withLocations(
  kinds: readonly [Kind, Kind],
  run: (from: StoreLocation, to: StoreLocation) => Promise<void>,
): Promise<void> {
  await withDirectory(async (path) => {
    database ??= startPostgres();
    const { url, newSchema } = await database;
    const [from, to] = kinds.map((kind, at) =>
      kind === 'directory'
        ? new StoreLocation(join(path, String(at)))
        : new StoreLocation(`${url}#${newSchema()}`),
    ) as [StoreLocation, StoreLocation];
    await run(from, to);
  });
}

async function served<T>(
  location: StoreLocation,
  use: (backend: Backend) => Promise<T>,
  poster?: Poster,
): Promise<T> {
  const backend = await location.open(poster);
  try {
    return await use(backend);
  } finally {
    await backend.close();
  }
}

for (const kinds of moves) {
  const way = kinds.join(' to ');

  test(`windows, deliveries, receipts, attempts, moves and names go on after a move (${way})`, () =>
    withLocations(kinds, async (from, to) => {
      await served(from, fillFixture);
      await copied(from, to);
      if (kinds[1] === 'directory') assert.deepEqual((await checked(to.text)).problems, []);
      await served(to, checkFixture);
      // The source is as it was.
      await served(from, checkFixture);
    }));

  test(`topics keep their window, subscriptions, archive and pending calls (${way})`, () =>
    withLocations(kinds, async (from, to) => {
      const down: Poster = async () => ({ ok: false, reason: 'down', isFinal: false });
      await served(from, fillTopics, down);
      const subscriptions = await served(from, listSubscriptions, down);
      await copied(from, to);
      let call: (url: string) => void = () => {};
      const called = new Promise<string>((resolve) => {
        call = resolve;
      });
      const up: Poster = async ({ url }) => {
        call(url);
        return { ok: true };
      };
      const check = (backend: Backend): Promise<void> => checkTopics(backend, () => called);
      assert.deepEqual(await served(to, listSubscriptions, down), subscriptions);
      await served(to, check, up);
    }));

  test(`a copy that is killed in the middle goes on, and lacks nothing (${way})`, () =>
    withLocations(kinds, async (from, to) => {
      await served(from, fillQueue);
      const child = spawnSync(process.execPath, [script, from.text, to.text, '2000'], {
        encoding: 'utf8',
      });
      assert.equal(child.signal, 'SIGKILL', child.stderr);
      await assertNotServed(kinds[1], to);
      const { changes, resumed } = await copied(from, to);
      assert.ok(resumed >= 2000 && resumed < changes, `${resumed} of ${changes} were there`);
      await served(to, checkQueue);
    }));
}

test('a copy of a copy is the same store', () =>
  withLocations(['directory', 'database'], async (from, to) => {
    await served(from, fillFixture);
    const back = new StoreLocation(`${from.text}-back`);
    const first = await copied(from, to);
    assert.equal((await copied(to, back)).changes, first.changes);
    await served(back, checkFixture);
  }));

test('what a server uses is not copied, and not copied over', () =>
  withLocations(['directory', 'database'], async (from, to) => {
    await served(from, fillFixture);
    await served(from, () => assert.rejects(copied(from, to), /is in use by another server/));
    await served(to, () => assert.rejects(copied(from, to), /A server uses the database\. Stop/));
    await copied(from, to);
    const back = new StoreLocation(`${from.text}-back`);
    await served(to, () => assert.rejects(copied(to, back), /A server uses the database\. Stop/));
  }));

for (const kinds of moves) {
  test(`a ${kinds[1]} that has something is refused, and left as it is`, () =>
    withLocations(kinds, async (from, to) => {
      await served(from, fillTopics);
      await served(to, fillFixture);
      await assert.rejects(copied(from, to), /already (contains data|has queues or topics)/);
      await served(to, checkFixture);
    }));

  test(`a ${kinds[1]} with a part of another copy is refused`, () =>
    withLocations(kinds, async (from, to) => {
      await served(from, fillQueue);
      spawnSync(process.execPath, [script, from.text, to.text, '2000']);
      await served(from, fillFixture);
      await assert.rejects(copied(from, to), /a part of (another|a) copy.* to begin again/s);
    }));
}

test('a database that changes while it is copied is not taken for copied', () =>
  withLocations(['database', 'directory'], async (from, to) => {
    await served(from, fillQueue);
    const source = await from.source();
    const target = to.target();
    try {
      await served(from, (backend) => send(backend, ['one-more']));
      await assert.rejects(
        copy(source, target, () => {}),
        /was changed while it was copied/,
      );
    } finally {
      await target.close();
      await source.close();
    }
    await assertNotServed('directory', to);
  }));

test('what differs in the copy is named', () =>
  withLocations(['directory', 'database'], async (from, to) => {
    await served(from, fillQueue);
    const source = await from.source();
    const target = to.target();
    const losing = Object.assign(Object.create(target), {
      begin: target.begin.bind(target),
      write: (changes: Parameters<typeof target.write>[0]) =>
        target.write(changes.filter((change) => !('id' in change && change.id === 17))),
      written: target.written.bind(target),
      finish: target.finish.bind(target),
    });
    try {
      const lost = /is not what was copied: jobs\.fifo: message: 1499 instead of 1500/;
      await assert.rejects(
        copy(source, losing, () => {}),
        lost,
      );
    } finally {
      await target.close();
      await source.close();
    }
    await assertNotServed('database', to);
  }));

/** A directory has no data yet; a database says why it is not served. */
async function assertNotServed(kind: Kind, location: StoreLocation): Promise<void> {
  if (kind === 'directory') assert.ok(!existsSync(join(location.text, 'data.mdb')));
  else await assert.rejects(location.open(), /a copy of .* into it is not finished/);
}

const queue = 'jobs.fifo';
const messages = 1500;
const client = new AbortController();
const bodies = Array.from({ length: messages }, (_, at) => `body-${at}`);

/** Returns which of them were duplicates. */
async function send(backend: Backend, texts: readonly string[]): Promise<boolean[]> {
  const batches = Array.from({ length: Math.ceil(texts.length / 10) }, async (_, batch) => {
    const at = 10 * batch;
    const entries = texts.slice(at, at + 10).map((body, index) => ({
      id: String(index),
      body,
      groupId: `g${body.length}`,
      deduplicationId: body,
    }));
    const sent = await backend.run({ type: 'send', queue, isBatch: true, entries });
    assert.ok(sent.ok);
    return sent.results.map((result) => {
      assert.ok(result.ok);
      return result.isDuplicate === true;
    });
  });
  return (await Promise.all(batches)).flat();
}

async function fillQueue(backend: Backend): Promise<void> {
  await backend.run({ type: 'create-queue', queue, attributes: { FifoQueue: 'true' } });
  await send(backend, bodies);
}

async function checkQueue(backend: Backend): Promise<void> {
  const found: string[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = await backend.peek({ type: 'peek-messages', queue, limit: 100, after });
    assert.ok(page.ok);
    found.push(...page.messages.map(({ content }) => content.body));
    after = page.next;
  }
  assert.deepEqual(found, bodies, 'all of them, in order, once');
  const again = await send(backend, [bodies[0] as string, bodies.at(-1) as string, 'new']);
  assert.deepEqual(again, [true, true, false], 'the window is there, and new messages follow');
}

const arn = (service: 'sqs' | 'sns', name: string): string =>
  `arn:aws:${service}:us-east-1:000000000000:${name}`;
const topicArn = arn('sns', 'news.fifo');
const baseUrl = 'http://queues.example';
const hook = 'http://hooks.example/';

async function publish(backend: Backend, message: string): Promise<boolean> {
  const entries = [{ message, groupId: 'g', deduplicationId: message }];
  const published = await backend.run({
    type: 'publish',
    topicArn,
    isBatch: false,
    entries,
    baseUrl,
  });
  assert.ok(published.ok);
  const [result] = published.results;
  assert.ok(result?.ok);
  return result.isDuplicate === true;
}

async function subscribe(backend: Backend, name: string, attributes: object = {}): Promise<void> {
  const fifo = { FifoQueue: 'true' };
  assert.ok((await backend.run({ type: 'create-queue', queue: name, attributes: fifo })).ok);
  const subscribed = await backend.run({
    type: 'subscribe',
    topicArn,
    protocol: 'sqs',
    endpoint: arn('sqs', name),
    attributes: { RawMessageDelivery: 'true', ...attributes },
    baseUrl,
  });
  assert.ok(subscribed.ok, JSON.stringify(subscribed));
}

async function fillTopics(backend: Backend): Promise<void> {
  const archive = JSON.stringify({ MessageRetentionPeriod: 30 });
  const attributes = { FifoTopic: 'true', ArchivePolicy: archive };
  assert.ok((await backend.run({ type: 'create-topic', name: 'news.fifo', attributes })).ok);
  await subscribe(backend, 'reader.fifo');
  for (const message of ['one', 'two', 'three'])
    assert.equal(await publish(backend, message), false);
  assert.ok((await backend.run({ type: 'create-topic', name: 'calls', attributes: {} })).ok);
  const endpoint = { protocol: 'http', endpoint: hook, topicArn: arn('sns', 'calls') };
  const subscribed = await backend.run({ type: 'subscribe', ...endpoint, attributes: {}, baseUrl });
  assert.ok(subscribed.ok, JSON.stringify(subscribed));
}

async function listSubscriptions(backend: Backend): Promise<unknown> {
  const listed = await backend.run({ type: 'list-subscriptions', isByTopic: false });
  assert.ok(listed.ok);
  assert.equal(listed.subscriptions.length, 2);
  return listed.subscriptions;
}

/** Waits for so many. */
async function received(backend: Backend, name: string, count: number): Promise<string[]> {
  const texts: string[] = [];
  while (texts.length < count) {
    const command = { type: 'receive', queue: name, count: 10, waitSeconds: 20 } as const;
    const found = await backend.receive(command, client);
    assert.ok(found.ok);
    texts.push(...found.messages.map(({ content }) => content.body));
  }
  return texts;
}

async function checkTopics(backend: Backend, called: () => Promise<string>): Promise<void> {
  assert.equal(await publish(backend, 'two'), true, 'the window is there');
  const expected = ['one', 'two', 'three'];
  assert.deepEqual(await received(backend, 'reader.fifo', 3), expected, 'so are the deliveries');
  const from = new Date(startedAt).toISOString();
  const replay = JSON.stringify({ PointType: 'Timestamp', StartingPoint: from });
  await subscribe(backend, 'late.fifo', { ReplayPolicy: replay });
  await backend.advance(60_000);
  assert.deepEqual(await received(backend, 'late.fifo', 3), expected, 'and the archive');
  assert.equal(await called(), hook, 'the call is made again');
}
