/**
 * A failover to a standby that was behind loses commits. A node that knew them says so, in the log, in health and as a metric,
 * whether it notices at the next request or when it reaches the database again, and goes on with what is left. What is only
 * gone by right, deleted, reset or trimmed, is never told as lost.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../../src/server/clock.ts';
import { configOf } from '../../../src/server/config/options.ts';
import { start } from '../../../src/server/start-server.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';
import { CuttingProxy } from './cutting-proxy.ts';

let database: Promise<TestDatabase> | undefined;
const queue = 'jobs';

interface Node {
  readonly backend: Backend;
  readonly proxy: CuttingProxy;
  /** What it told about commits that are gone. */
  readonly told: readonly string[];
}

interface Home {
  readonly open: () => Promise<Node>;
  /** The database is as it was before the latest commit to the queue, as on a standby that had not got it. */
  readonly lose: (name?: string) => Promise<void>;
  /** The database is as it was before the queue was created. */
  readonly undo: () => Promise<void>;
}

async function withHome(run: (home: Home) => Promise<void>): Promise<void> {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const schema = newSchema();
  const connection = new Connection([url], 'test');
  const opened: Node[] = [];
  try {
    await run({
      open: async () => {
        const proxy = await CuttingProxy.start(url);
        const told: string[] = [];
        const clock = manualClock(1_800_000_000_000);
        const onLost = (text: string): void => void told.push(text);
        const backend = await openPostgresBackend({ clock }, { urls: [proxy.url], schema, onLost });
        opened.push({ backend, proxy, told });
        return { backend, proxy, told };
      },
      lose: (name = queue) => lose(connection, schema, name),
      undo: async () => {
        await lose(connection, schema, '*');
        await connection.run(
          {
            text: `DELETE FROM ${schema}.journal j USING ${schema}.owner o
              WHERE o.number = j.number AND o.name = '${queue}'`,
          },
          { text: `DELETE FROM ${schema}.owner WHERE name = '${queue}'` },
        );
      },
    });
  } finally {
    for (const { backend, proxy } of opened) {
      await backend.close();
      await proxy.close();
    }
    await connection.close();
  }
}

async function lose(connection: Connection, schema: string, name: string): Promise<void> {
  const values = [name];
  await connection.run(
    { text: 'BEGIN' },
    {
      text: `DELETE FROM ${schema}.journal j USING ${schema}.owner o
        WHERE o.number = j.number AND j.version = o.version AND o.name = $1`,
      values,
    },
    {
      text: `UPDATE ${schema}.owner o SET version = version - 1, tail = coalesce(
        (SELECT id FROM ${schema}.journal j WHERE j.number = o.number AND j.version = o.version - 1), 0)
        WHERE o.name = $1`,
      values,
    },
    { text: 'COMMIT' },
  );
}

async function create(backend: Backend, name: string = queue): Promise<void> {
  assert.ok((await backend.run({ type: 'create-queue', queue: name })).ok);
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

test('the next request finds that a commit is gone, and goes on with what is left', () =>
  withHome(async ({ open, lose }) => {
    const { backend, told } = await open();
    await create(backend);
    for (const body of ['one', 'two']) await send(backend, body);
    assert.deepEqual(backend.losses(), { count: 0, latest: undefined });
    await lose();
    await send(backend, 'three');
    assert.deepEqual(await bodies(backend), ['one', 'three']);
    const text =
      'the database has lost commits: jobs was at version 3 and is at 2; what is left is used';
    assert.deepEqual(told, [text]);
    assert.deepEqual(backend.losses(), { count: 1, latest: text });
  }));

test('it is also found when others have written in the place of what is gone', () =>
  withHome(async ({ open, lose }) => {
    const [first, other] = [await open(), await open()];
    await create(first.backend);
    await send(first.backend, 'one');
    await send(first.backend, 'two');
    await lose();
    await send(other.backend, 'instead');
    await send(other.backend, 'and more');
    assert.deepEqual(other.told, [], 'it never knew');
    assert.deepEqual(await bodies(first.backend), ['one', 'instead', 'and more']);
    assert.match(first.told.join(), /jobs was at version 3 and is at 4/);
  }));

test('a receipt of what is gone does nothing to a message that came in its place', () =>
  withHome(async ({ open, lose }) => {
    const { backend } = await open();
    await create(backend);
    await send(backend, 'one');
    const receive = { type: 'receive', queue, visibilitySeconds: 30 } as const;
    const received = await backend.receive(receive, new AbortController());
    const [message] = received.ok ? received.messages : [];
    assert.ok(message !== undefined);
    const { receiptHandle } = message;
    for (const count of [1, 2]) {
      await lose();
      if (count === 2) await send(backend, 'another');
      const entries = [{ id: '0', receiptHandle, visibilitySeconds: 60 }];
      for (const type of ['delete-messages', 'change-visibility'] as const) {
        const outcome = await backend.run({ type, queue, isBatch: true, entries });
        assert.ok(outcome.ok && outcome.results[0]?.ok === false, `${type} is refused`);
      }
      assert.deepEqual(await bodies(backend), [count === 1 ? 'one' : 'another']);
    }
  }));

test('a queue that is gone is not taken for another one that has its number now', () =>
  withHome(async ({ open, undo }) => {
    const [first, other] = [await open(), await open()];
    await create(first.backend);
    await send(first.backend, 'one');
    await undo();
    await create(other.backend, 'mails');
    const entries = [{ body: 'of others' }];
    await other.backend.run({ type: 'send', queue: 'mails', isBatch: false, entries });
    await assert.rejects(bodies(first.backend), 'there is no such queue');
    const listed = await first.backend.run({ type: 'list-queues' });
    assert.deepEqual(listed.ok && listed.queues, ['mails']);
    assert.match(first.told.join(), /the list of queues and topics was at version 1 and is at 1/);
  }));

test('a node that lost its connections finds it when it is back, without a request', () =>
  withHome(async ({ open, lose }) => {
    const { backend, proxy, told } = await open();
    await create(backend);
    await create(backend, 'mails');
    await send(backend, 'one');
    proxy.isRefusing = true;
    proxy.cut();
    await assert.rejects(send(backend, 'never'));
    await lose();
    // The creation of the other queue is gone, too.
    await lose('*');
    proxy.isRefusing = false;
    await back(backend);
    assert.equal(told.length, 1);
    assert.match(
      told[0] as string,
      /the list of queues and topics was at version 2 and is at 1, jobs was at version 2 and is at 1/,
    );
    assert.equal(backend.losses().count, 2);
    const listed = await backend.run({ type: 'list-queues' });
    assert.deepEqual(listed.ok && listed.queues, [queue]);
  }));

test('a node whose commit broke off in the failover finds what is gone from before it', () =>
  withHome(async ({ open, lose }) => {
    const [first, other] = [await open(), await open()];
    await create(first.backend);
    for (const body of ['one', 'two']) await send(first.backend, body);
    first.proxy.cutsCommit = 'request';
    // Until the other database has taken over, nobody can look what became of the commit.
    first.proxy.isRefusing = true;
    const late = send(first.backend, 'late');
    while (first.proxy.cutsCommit !== undefined) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await lose();
    await send(other.backend, 'instead');
    first.proxy.isRefusing = false;
    await late;
    assert.deepEqual(await bodies(first.backend), ['one', 'instead', 'late']);
    assert.match(first.told.join(), /jobs was at version 3 and is at 3/);
  }));

test('what another node deleted, reset or turned into records is not lost', () =>
  withHome(async ({ open }) => {
    const [first, other] = [await open(), await open()];
    await create(first.backend);
    await send(first.backend, 'one');
    await other.backend.run({ type: 'delete-queue', queue });
    await assert.rejects(bodies(first.backend));
    await other.backend.reset();
    await create(other.backend);
    await send(other.backend, 'two');
    assert.deepEqual(await bodies(first.backend), ['two']);
    first.proxy.cut();
    await send(first.backend, 'three');
    assert.deepEqual([...first.told, ...other.told], []);
  }));

test('health, the log and the metrics of a server say that commits were lost', async () => {
  database ??= startPostgres();
  const { url } = await database;
  const connection = new Connection([url], 'test');
  const server = await start(configOf({ postgres: url, port: 0, log: 'silent' }));
  try {
    const ask = async (path: string): Promise<Response> => fetch(`${server.url}${path}`);
    const metric = async (): Promise<string | undefined> =>
      /^oncemq_store_lost_commits_total(?:\{[^}]*\})? (\d+)$/m.exec(
        await (await ask('/metrics')).text(),
      )?.[1];
    await create(server.backend);
    await send(server.backend, 'one');
    assert.equal(await metric(), '0');
    await lose(connection, 'oncemq', queue);
    await send(server.backend, 'two');
    // It is looked up beside the requests.
    while (server.backend.losses().count === 0) await bodies(server.backend);
    const health = await ask('/_oncemq/health');
    assert.equal(health.status, 200, 'what is left is served');
    const { status, lostCommits } = (await health.json()) as {
      status: string;
      lostCommits: { count: number; latest: string };
    };
    assert.equal(status, 'commits were lost');
    assert.equal(lostCommits.count, 1);
    assert.match(lostCommits.latest, /jobs was at version 2 and is at 1/);
    assert.equal(await metric(), '1');
  } finally {
    await server.close();
    await connection.close();
  }
});

/** Resolves when changes are accepted again. */
async function back(backend: Backend): Promise<void> {
  while (backend.unavailable() !== undefined) await new Promise((resolve) => setImmediate(resolve));
}
