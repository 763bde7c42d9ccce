/**
 * What the console asks the server for about a deduplication window, without a browser: counts by the second, the rows,
 * a suppressed send beside its original, and the search. Over real HTTP, on a manual clock.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestServer, type TestServer } from '../../src/testing.ts';
import { sqs } from './calls.ts';
import { get, open, send } from './data.ts';
import { consume, createFifo, sendMany, send as sendTo } from './scenes.ts';

test('the window counts accepted and suppressed sends per second', async (t) => {
  const server = await open(t);
  await send(server, 'one');
  await server.clock.advance(2);
  await send(server, 'one');
  await send(server, 'two');
  await server.clock.advance(10);
  const window = await get(server, 'queues/jobs.fifo/window');
  assert.equal(window.windowSeconds, 300);
  assert.deepEqual(places(window.accepted), { 287: 1, 289: 1 });
  assert.deepEqual(places(window.suppressed), { 289: 1 });
  assert.deepEqual(places(window.collisions), {});
  assert.deepEqual(
    window.rows.map(({ kind }: { kind: string }) => kind),
    ['suppressed', 'accepted', 'accepted'],
  );
});

test('sends suppressed at the same time are listed in their order, latest first', async (t) => {
  const server = await open(t);
  for (let copy = 0; copy < 6; copy += 1) await send(server, 'one');
  const { rows } = await get(server, 'queues/jobs.fifo/window');
  assert.deepEqual(
    rows.map(({ number }: { number?: number }) => number),
    [4, 3, 2, 1, 0, undefined],
  );
});

test('collisions and the last suppressed send of each second are listed despite any number of later sends', async (t) => {
  const server = await open(t);
  const blue = { tenant: 'blue' };
  await send(server, 'one', blue);
  await send(server, 'one', { tenant: 'red' });
  for (let copy = 0; copy < 3; copy += 1) await send(server, 'one', blue);
  await server.clock.advance(10);
  for (let copy = 0; copy < 3; copy += 1) await send(server, 'one', blue);
  await send(server, 'two');
  const { rows } = await get(server, 'queues/jobs.fifo/window?limit=1');
  assert.deepEqual(
    rows.map(({ kind, number }: { kind: string; number?: number }) => [kind, number]),
    [
      ['suppressed', 6],
      ['accepted', undefined],
      ['suppressed', 3],
      ['suppressed', 0],
    ],
  );
});

test('after a restart the answer says from when on suppressed sends are known, while older ones may be missing', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'oncemq-console-'));
  t.after(() => rmSync(data, { recursive: true }));
  const options = { clock: 'virtual', data } as const;
  const first = await startTestServer(options);
  await createFifo(first, 'jobs.fifo');
  for (let copy = 0; copy < 3; copy += 1) await send(first, 'one');
  await first.clock.advance(10);
  assert.equal((await get(first, 'queues/jobs.fifo/window')).suppressedCountedFrom, null);
  await first.close();
  const second = await startTestServer(options);
  t.after(() => second.close());
  const startedAt = second.clock.now();
  await second.clock.advance(20);
  const window = await get(second, 'queues/jobs.fifo/window');
  assert.ok(window.suppressedCountedFrom <= startedAt);
  assert.ok(window.suppressedCountedFrom > window.now - 25_000);
  await second.clock.advance(300);
  assert.equal((await get(second, 'queues/jobs.fifo/window')).suppressedCountedFrom, null);
});

test('when more sends were suppressed than are remembered, the answer says so', async (t) => {
  const server = await open(t);
  const body = Array.from({ length: 10 }, (_, index) => ({
    Id: String(index),
    MessageBody: 'same',
    MessageGroupId: 'g',
  }));
  const batch = () => sqs(server, 'SendMessageBatch', { QueueUrl: 'jobs.fifo', Entries: body });
  for (let round = 0; round < 10; round += 1) await batch();
  assert.equal((await get(server, 'queues/jobs.fifo/window')).suppressedCountedFrom, null);
  await server.clock.advance(1);
  for (let round = 0; round < 200; round += 1) await batch();
  const window = await get(server, 'queues/jobs.fifo/window');
  assert.equal(window.suppressedCountedFrom, window.now);
});

test('an accepted send leaves the window when it expires, a suppressed one after its own five minutes', async (t) => {
  const server = await open(t);
  await send(server, 'one');
  await server.clock.advance(100);
  await send(server, 'one');
  const kinds = async (): Promise<string[]> =>
    (await get(server, 'queues/jobs.fifo/window')).rows.map(({ kind }: { kind: string }) => kind);
  await server.clock.advance(200);
  assert.deepEqual(await kinds(), ['suppressed']);
  await server.clock.advance(100);
  assert.deepEqual(await kinds(), []);
});

test('a suppressed send is shown beside its original, which is still in the queue', async (t) => {
  const server = await open(t);
  const { body: sent } = await send(server, '{"a":1}', { tenant: 'blue' });
  await server.clock.advance(3);
  await send(server, '{"a":1}', { tenant: 'red', group: 'other' });
  const shown = await detail(server);
  assert.equal(shown.original.messageId, sent.MessageId);
  assert.equal(shown.original.isInQueue, true);
  assert.deepEqual(shown.original.content.attributes, [
    { name: 'tenant', type: 'String', value: 'blue' },
  ]);
  const [suppressed] = shown.suppressed;
  assert.deepEqual(suppressed.differed, ['attributes', 'group']);
  assert.equal(suppressed.collision, true);
  assert.equal(suppressed.content.body, '{"a":1}');
  assert.equal(suppressed.content.attributes[0].value, 'red');
});

test('the content of an original deleted after the suppression is remembered', async (t) => {
  const server = await open(t);
  await send(server, 'one', { tenant: 'blue' });
  await send(server, 'one', { tenant: 'red' });
  await consume(server, 'jobs.fifo');
  const { original } = await detail(server);
  assert.equal(original.isInQueue, false);
  assert.equal(original.content.attributes[0].value, 'blue');
});

test('for an original deleted before anybody watched, only what the window knows is shown', async (t) => {
  const server = await open(t);
  await send(server, 'one', { tenant: 'blue' });
  await consume(server, 'jobs.fifo');
  await send(server, 'one', { tenant: 'red' });
  const { original } = await detail(server);
  assert.equal(original.content, null);
  assert.equal(original.groupId, 'g');
  assert.match(original.bodyMd5, /^[0-9a-f]{32}$/);
});

test('the content of an original deleted while somebody watched is remembered', async (t) => {
  const server = await open(t);
  await get(server, 'overview');
  await send(server, 'one', { tenant: 'blue' });
  await consume(server, 'jobs.fifo');
  await send(server, 'one', { tenant: 'red' });
  const { original } = await detail(server);
  assert.equal(original.content.attributes[0].value, 'blue');
});

for (const [title, end] of [
  [
    'deleted and recreated',
    async (server: TestServer) => {
      await sqs(server, 'DeleteQueue', { QueueUrl: 'jobs.fifo' });
      await server.clock.advance(61);
    },
  ],
  ['recreated after a reset', (server: TestServer) => server.reset()],
] as const) {
  test(`a queue that is ${title} shows no body of the one before it`, async (t) => {
    const server = await open(t);
    await get(server, 'overview');
    await send(server, 'secret of another run');
    await end(server);
    await createFifo(server, 'jobs.fifo');
    // Too long to be remembered, and gone before it is suppressed: what it said is not known.
    await send(server, 'x'.repeat(100_000), { tenant: 'blue' });
    await consume(server, 'jobs.fifo');
    await send(server, 'x'.repeat(100_000), { tenant: 'red' });
    assert.equal((await detail(server)).original.content, null);
    const { rows } = await get(server, 'queues/jobs.fifo/window?search=secret');
    assert.deepEqual(rows, []);
    const [queue] = (await get(server, 'overview')).queues;
    assert.equal(queue.activity.sent.at(-1), 1);
  });
}

test('sends are still remembered after many resets', async (t) => {
  const server = await open(t);
  await get(server, 'overview');
  for (let round = 0; round < 25; round += 1) {
    await send(server, `${round}${'x'.repeat(60_000)}`);
    await server.reset();
    await createFifo(server, 'jobs.fifo');
  }
  await send(server, 'one', { tenant: 'blue' });
  await consume(server, 'jobs.fifo');
  await send(server, 'one', { tenant: 'red' });
  assert.equal((await detail(server)).original.content.body, 'one');
});

test('the memory of suppressed sends is bounded', async (t) => {
  const server = await open(t);
  const body = 'x'.repeat(200_000);
  await send(server, body, { tenant: 'blue' });
  for (let index = 0; index < 150; index += 1) await send(server, body, { tenant: `t${index}` });
  const { suppressed, suppressedCount } = await detail(server);
  assert.equal(suppressedCount, 150);
  assert.equal(suppressed.length, 50);
  assert.equal(suppressed[0].content.body.length, 16 * 1024);
  assert.equal(suppressed[0].content.bodyLength, 200_000);
});

test('the window is searched by id, message id, sequence number, group, body hash, and words of the body', async (t) => {
  const server = await open(t);
  const { body: sent } = await send(server, '{"dedupe_key":"landsat/32/29"}', { group: 'path-32' });
  await send(server, '{"dedupe_key":"landsat/33/30"}', { group: 'path-33' });
  const [, entry] = (await get(server, 'queues/jobs.fifo/window')).rows;
  const beginning = entry.id.slice(0, 12);
  const texts = [
    entry.id,
    beginning,
    sent.MessageId,
    'path-32',
    sent.SequenceNumber,
    sent.MD5OfMessageBody,
    'landsat/32',
  ];
  for (const text of texts) {
    const { rows, searched } = await get(
      server,
      `queues/jobs.fifo/window?search=${encodeURIComponent(text)}`,
    );
    assert.deepEqual(
      rows.map(({ sequence }: { sequence: number }) => sequence),
      [entry.sequence],
      text,
    );
    assert.equal(searched.isAll, true);
  }
  assert.deepEqual((await get(server, 'queues/jobs.fifo/window?search=none')).rows, []);
});

test('a suppressed send with a different body is found by the hashes of that body', async (t) => {
  const server = await open(t);
  for (const body of ['one', 'two']) await sendTo(server, 'jobs.fifo', body, { id: 'x' });
  for (const algorithm of ['md5', 'sha256']) {
    const hash = createHash(algorithm).update('two').digest('hex');
    const { rows } = await get(server, `queues/jobs.fifo/window?search=${hash}`);
    assert.deepEqual(
      rows.map(({ kind }: { kind: string }) => kind),
      ['suppressed'],
      algorithm,
    );
  }
});

for (const DeduplicationScope of ['queue', 'messageGroup']) {
  test(`with scope ${DeduplicationScope}, searching an id older than the newest thousand sends works as the answer says, and the send opens by id and group`, async (t) => {
    const server = await open(t);
    await createFifo(server, 'long.fifo', { DeduplicationScope });
    await sendTo(server, 'long.fifo', 'old', { id: 'first', group: 'g-1' });
    await sendMany(server, 'long.fifo', 1_000);
    const { rows, searched } = await get(server, 'queues/long.fifo/window?search=first');
    assert.deepEqual(searched, {
      entries: 1_000,
      isAll: false,
      hasOlderIds: DeduplicationScope === 'queue',
    });
    assert.equal(rows.length, DeduplicationScope === 'queue' ? 1 : 0);
    const opened = await get(server, 'queues/long.fifo/window/1?id=first&group=g-1');
    assert.equal(opened.original.content.body, 'old');
  });
}

/** Which places of a list hold what, without the zeros. */
function places(counts: readonly number[]): Record<number, number> {
  return Object.fromEntries([...counts.entries()].filter(([, count]) => count > 0));
}

/** The suppressed send at the top of the window, with its original. */
async function detail(server: TestServer) {
  const [row] = (await get(server, 'queues/jobs.fifo/window')).rows;
  assert.equal(row.kind, 'suppressed');
  return get(server, `queues/jobs.fifo/window/${row.sequence}`);
}
