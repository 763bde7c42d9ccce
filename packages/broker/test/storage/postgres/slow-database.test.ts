/**
 * A database that says nothing: every wait ends in time with the reason, for requests and for health, at the start and later,
 * and the server goes on by itself when the database answers again.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../../src/server/clock.ts';
import { configOf } from '../../../src/server/config/options.ts';
import { start } from '../../../src/server/start-server.ts';
import { type Backend, Unavailable } from '../../../src/storage/backend.ts';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';
import { CuttingProxy } from './cutting-proxy.ts';

let database: Promise<TestDatabase> | undefined;
const queue = 'jobs';
const answerMs = 300;
const clock = manualClock(1_800_000_000_000);

async function send(backend: Backend, body: string): Promise<void> {
  const entries = [{ body }];
  assert.ok((await backend.run({ type: 'send', queue, isBatch: false, entries })).ok);
}

test('while the database says nothing requests are refused in time, and served again after it', async () => {
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
  const place = { urls: [proxy.url], schema: newSchema(), answerMs };
  const backend = await openPostgresBackend({ clock, onAvailability }, place);
  try {
    await backend.run({ type: 'create-queue', queue });
    await send(backend, 'one');
    proxy.isStalled = true;
    const began = performance.now();
    const refused = await Promise.allSettled([send(backend, 'lost'), send(backend, 'lost too')]);
    assert.ok(performance.now() - began < 10 * answerMs, 'in time');
    for (const { status, reason } of refused as PromiseRejectedResult[]) {
      assert.equal(status, 'rejected');
      assert.ok(reason instanceof Unavailable, String(reason));
      assert.match(reason.message, /the database|nobody knows its outcome/);
    }
    while (backend.unavailable() === undefined) await new Promise((done) => setImmediate(done));
    assert.match(
      backend.unavailable() ?? '',
      /^the database does not answer: .*no answer within 0\.3 s/,
    );
    proxy.isStalled = false;
    await back;
    await send(backend, 'two');
    const peeked = await backend.peek({ type: 'peek-messages', queue, limit: 10 });
    assert.ok(peeked.ok);
    const bodies = peeked.messages.map(({ content }) => content.body);
    assert.ok(bodies.includes('one') && bodies.includes('two'), bodies.join());
  } finally {
    await backend.close();
    await proxy.close();
  }
});

test('a request that waits for a lock is refused when its time is over', async () => {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const schema = newSchema();
  const backend = await openPostgresBackend({ clock }, { urls: [url], schema, answerMs });
  const holder = new Connection([url], 'test');
  try {
    await backend.run({ type: 'create-queue', queue });
    await holder.run(
      { text: 'BEGIN' },
      { text: `SELECT 1 FROM ${schema}.owner WHERE name = '${queue}' FOR UPDATE` },
    );
    await assert.rejects(send(backend, 'late'), /kept the request waiting for more than 0\.3 s/);
    await holder.run({ text: 'ROLLBACK' });
  } finally {
    await holder.close();
    await backend.close();
  }
});

test('a start on a database that says nothing is given up, with the reason', async () => {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const proxy = await CuttingProxy.start(url);
  proxy.isStalled = true;
  try {
    await assert.rejects(
      openPostgresBackend({ clock }, { urls: [proxy.url], schema: newSchema(), answerMs }),
      /no database can be reached: 127\.0\.0\.1:\d+: no answer within 0\.3 s/,
    );
  } finally {
    await proxy.close();
  }
});

test('health and requests have 503 with the reason while the database is away', async () => {
  database ??= startPostgres();
  const { url } = await database;
  const proxy = await CuttingProxy.start(url);
  const server = await start(configOf({ postgres: proxy.url, port: 0, log: 'silent' }));
  try {
    const ask = (path: string, action = 'ListQueues'): Promise<Response> =>
      path === '/'
        ? fetch(`${server.url}/`, {
            method: 'POST',
            headers: {
              'content-type': 'application/x-amz-json-1.0',
              'x-amz-target': `AmazonSQS.${action}`,
            },
            body: JSON.stringify({ QueueName: queue }),
          })
        : fetch(`${server.url}${path}`);
    assert.equal((await ask('/', 'CreateQueue')).status, 200);
    proxy.isRefusing = true;
    proxy.cut();
    const refused = await ask('/', 'CreateQueue').then((first) =>
      first.status === 200 ? ask('/', 'GetQueueUrl') : first,
    );
    assert.equal(refused.status, 503);
    assert.match(await refused.text(), /ServiceUnavailable/);
    while (server.backend.unavailable() === undefined) await ask('/');
    const health = await ask('/_oncemq/health');
    assert.equal(health.status, 503);
    const { status, reason } = (await health.json()) as Record<string, string>;
    assert.equal(status, 'changes are refused');
    assert.match(reason ?? '', /^the database does not answer: no database can be reached: 127/);
    proxy.isRefusing = false;
    while (server.backend.unavailable() !== undefined) {
      await new Promise((done) => setImmediate(done));
    }
    assert.equal((await ask('/_oncemq/health')).status, 200);
    assert.equal((await ask('/', 'GetQueueUrl')).status, 200);
  } finally {
    await server.close();
    await proxy.close();
  }
});
