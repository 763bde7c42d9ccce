/**
 * Connections that break: a commit whose answer is lost is looked up and counts once; one that never arrived is made again;
 * while the database is away requests are refused with the reason, and it goes on by itself when it is back.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../../src/server/clock.ts';
import { type Backend, Unavailable } from '../../../src/storage/backend.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';
import { CuttingProxy } from './cutting-proxy.ts';

let database: Promise<TestDatabase> | undefined;
const queue = 'jobs';

interface Home {
  /** A node whose connections pass the proxy, and one whose do not. */
  readonly backend: Backend;
  readonly another: Backend;
  readonly proxy: CuttingProxy;
  /** Resolves when changes are accepted again. */
  readonly back: Promise<void>;
}

async function withProxy(run: (home: Home) => Promise<void>): Promise<void> {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const proxy = await CuttingProxy.start(url);
  let isBack: () => void = () => {};
  const back = new Promise<void>((resolve) => {
    isBack = resolve;
  });
  const onAvailability = (reason: string | undefined): void => {
    if (reason === undefined) isBack();
  };
  const options = { clock: manualClock(1_800_000_000_000), onAvailability };
  const schema = newSchema();
  const backend = await openPostgresBackend(options, { urls: [proxy.url], schema });
  const another = await openPostgresBackend({ clock: options.clock }, { urls: [url], schema });
  try {
    await backend.run({ type: 'create-queue', queue });
    await run({ backend, another, proxy, back });
  } finally {
    await backend.close();
    await another.close();
    await proxy.close();
  }
}

async function send(backend: Backend, body: string): Promise<void> {
  const entries = [{ body }];
  assert.ok((await backend.run({ type: 'send', queue, isBatch: false, entries })).ok);
}

async function bodies(backend: Backend): Promise<string[]> {
  const peeked = await backend.peek({ type: 'peek-messages', queue, limit: 100 });
  assert.ok(peeked.ok);
  return peeked.messages.map(({ content }) => content.body);
}

for (const part of ['answer', 'request'] as const) {
  test(`a send whose commit loses its ${part} is answered, and there once`, async () => {
    await withProxy(async ({ backend, proxy }) => {
      await send(backend, 'one');
      proxy.cutsCommit = part;
      await send(backend, 'two');
      assert.equal(proxy.cutsCommit, undefined, 'the commit was cut');
      await send(backend, 'three');
      assert.deepEqual(await bodies(backend), ['one', 'two', 'three']);
    });
  });

  test(`a new queue whose commit loses its ${part} is there`, async () => {
    await withProxy(async ({ backend, proxy }) => {
      proxy.cutsCommit = part;
      assert.ok((await backend.run({ type: 'create-queue', queue: 'more' })).ok);
      const listed = await backend.run({ type: 'list-queues' });
      assert.deepEqual(listed.ok && listed.queues, ['jobs', 'more']);
    });
  });
}

test('a commit that others were faster than leaves nothing behind, not even in memory', async () => {
  await withProxy(async ({ backend, another, proxy }) => {
    await send(backend, 'one');
    proxy.cutsCommit = 'request';
    // Until the other node has sent its message, this one cannot look what became of its own.
    proxy.isRefusing = true;
    const late = send(backend, 'late');
    while (proxy.cutsCommit !== undefined) await new Promise((resolve) => setImmediate(resolve));
    await send(another, 'faster');
    proxy.isRefusing = false;
    await late;
    for (const node of [backend, another]) {
      assert.deepEqual(await bodies(node), ['one', 'faster', 'late']);
    }
  });
});

test('connections that break between requests are made again, and nobody is told', async () => {
  await withProxy(async ({ backend, proxy }) => {
    await send(backend, 'one');
    proxy.cut();
    await send(backend, 'two');
    assert.deepEqual(await bodies(backend), ['one', 'two']);
  });
});

test('while the database is away requests are refused with the reason; then it goes on by itself', async () => {
  await withProxy(async ({ backend, proxy, back }) => {
    await send(backend, 'one');
    proxy.isRefusing = true;
    proxy.cut();
    await assert.rejects(send(backend, 'lost'), Unavailable);
    assert.match(backend.unavailable() ?? '', /^the database does not answer: /);
    await assert.rejects(bodies(backend), Unavailable);
    proxy.isRefusing = false;
    await back;
    assert.equal(backend.unavailable(), undefined);
    await send(backend, 'two');
    assert.deepEqual(await bodies(backend), ['one', 'two']);
  });
});
