/**
 * The published conformance suite on all stores of the toolkit, with real servers, and what only the inboxes with a
 * transaction of their own promise: effect and mark together, or neither.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Redis } from 'ioredis';
import sqlite from 'node-sqlite3-wasm';
import { dynamodbInbox } from '../src/inbox/dynamodb-inbox.ts';
import { openFileInbox } from '../src/inbox/file-inbox.ts';
import type { InboxEvent } from '../src/inbox/inbox.ts';
import { memoryInbox } from '../src/inbox/memory-inbox.ts';
import { postgresInbox } from '../src/inbox/postgres-inbox.ts';
import { redisInbox } from '../src/inbox/redis-inbox.ts';
import { sqliteInbox } from '../src/inbox/sqlite-inbox.ts';
import { dynamodbOutbox } from '../src/outbox/dynamodb-outbox.ts';
import { openFileOutbox } from '../src/outbox/file-outbox.ts';
import { postgresOutbox } from '../src/outbox/postgres-outbox.ts';
import { redisOutbox } from '../src/outbox/redis-outbox.ts';
import { sqliteOutbox } from '../src/outbox/sqlite-outbox.ts';
import type { RunSql } from '../src/sqlite.ts';
import {
  type InboxUnderTest,
  inboxChecks,
  type OutboxUnderTest,
  outboxChecks,
} from '../src/testing.ts';
import { startPostgres } from './support/postgres.ts';
import { type StoreServer, startStore } from './support/stores.ts';

const { pool, newTable } = await startPostgres();
const redisServer = await startStore('redis');
const dynamodbServer = await startStore('dynamodb');

const redis = new Redis(`redis://${redisServer.address || '127.0.0.1:1'}`, { lazyConnect: true });
after(() => redis.disconnect());
const runCommand = ([name = '', ...args]: string[]): Promise<unknown> => redis.call(name, ...args);

const dynamodb = new DynamoDB({
  endpoint: `http://${dynamodbServer.address}`,
  region: 'us-east-1',
  credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
});
after(() => dynamodb.destroy());

const folders = mkdtempSync(join(tmpdir(), 'oncemq-stores-'));
after(() => rmSync(folders, { recursive: true }));
const newFolder = (): string => join(folders, randomUUID());

function openSqlite(path = ':memory:'): RunSql {
  const database = new sqlite.Database(path);
  after(() => database.close());
  return (text, values) => database.all(text, values) as unknown[];
}

interface Kind<Open> {
  readonly needed?: StoreServer['needed'];
  readonly open: Open;
}

const inboxes: Readonly<Record<string, Kind<InboxUnderTest>>> = {
  memory: { open: async (options) => memoryInbox(options) },
  'a folder': {
    open: async (options) => {
      const inbox = await openFileInbox(newFolder(), options);
      after(() => inbox.close());
      return inbox;
    },
  },
  PostgreSQL: {
    open: async (options) => {
      const inbox = postgresInbox({ pool, table: newTable(), ...options });
      await inbox.migrate();
      return inbox;
    },
  },
  SQLite: {
    open: async (options) => {
      const inbox = sqliteInbox({ run: openSqlite(), ...options });
      await inbox.migrate();
      await inbox.migrate();
      return inbox;
    },
  },
  Redis: {
    needed: redisServer.needed,
    open: async (options) => redisInbox({ run: runCommand, prefix: randomUUID(), ...options }),
  },
  DynamoDB: {
    needed: dynamodbServer.needed,
    open: async (options) => {
      const inbox = dynamodbInbox({ client: dynamodb, table: `t-${randomUUID()}`, ...options });
      await inbox.migrate();
      await inbox.migrate();
      return inbox;
    },
  },
};

const outboxes: Readonly<Record<string, Kind<OutboxUnderTest>>> = {
  'a folder': {
    open: async (options) => {
      const outbox = await openFileOutbox(newFolder(), options);
      after(() => outbox.close());
      return outbox;
    },
  },
  PostgreSQL: {
    open: async (options) => {
      const outbox = postgresOutbox({ pool, table: newTable(), ...options });
      await outbox.migrate();
      return { ...outbox, append: (message) => outbox.append(pool, message) };
    },
  },
  SQLite: {
    open: async (options) => {
      const run = openSqlite();
      const outbox = sqliteOutbox({ run, ...options });
      await outbox.migrate();
      await outbox.migrate();
      return { ...outbox, append: (message) => outbox.append(run, message) };
    },
  },
  Redis: {
    needed: redisServer.needed,
    open: async (options) => redisOutbox({ run: runCommand, prefix: randomUUID(), ...options }),
  },
  DynamoDB: {
    needed: dynamodbServer.needed,
    open: async (options) => {
      const outbox = dynamodbOutbox({ client: dynamodb, table: `t-${randomUUID()}`, ...options });
      await outbox.migrate();
      await outbox.migrate();
      return outbox;
    },
  },
};

for (const [kind, { open, needed = {} }] of Object.entries(inboxes)) {
  describe(`an inbox in ${kind}`, needed, () => {
    for (const { name, run } of inboxChecks(open)) test(name, run);
  });
}

for (const [kind, { open, needed = {} }] of Object.entries(outboxes)) {
  describe(`an outbox in ${kind}`, needed, () => {
    for (const { name, run } of outboxChecks(open)) test(name, run);
  });
}

const event: InboxEvent = { source: 'orders', key: 'a', digest: '0'.repeat(64) };

test('in SQLite the effect and its mark commit together, or neither', async () => {
  const run = openSqlite();
  const inbox = sqliteInbox({ run });
  await inbox.migrate();
  await run('create table effects (name text)', []);
  const failing = inbox.once(event, async (transaction) => {
    await transaction(`insert into effects values ('a')`, []);
    throw new Error('afterwards');
  });
  await assert.rejects(failing, /afterwards/);
  assert.deepEqual(await run('select * from effects', []), []);
  assert.equal(
    await inbox.once(event, async (transaction) => {
      await transaction(`insert into effects values ('a')`, []);
    }),
    'done',
  );
  assert.equal((await run('select * from effects', [])).length, 1);
});

test('in SQLite, while another process writes, the outcome is busy', async () => {
  const path = newFolder();
  const [mine, other] = [openSqlite(path), openSqlite(path)];
  await other('pragma busy_timeout = 1', []);
  const [first, second] = [sqliteInbox({ run: mine }), sqliteInbox({ run: other })];
  await first.migrate();
  await first.once(event, async () => {
    assert.equal(await second.once({ ...event, key: 'b' }, async () => assert.fail()), 'busy');
  });
});

test('in SQLite a message is kept with its transaction, and one of two relays sends', async () => {
  const path = newFolder();
  const [mine, other] = [openSqlite(path), openSqlite(path)];
  let time = 0;
  const outbox = sqliteOutbox({ run: mine, now: () => time });
  await outbox.migrate();
  const body = `{"dedupe_key":"a","event_source":"s","event_time":"2025-12-04T00:00:00Z"}`;
  await mine('begin', []);
  await outbox.append(mine, { body, groupId: 'g' });
  await mine('rollback', []);
  assert.equal((await outbox.backlog()).unsent, 0);
  await outbox.append(mine, { body, groupId: 'g' });
  const second = sqliteOutbox({ run: other, now: () => time });
  const none = async () => ({ sent: [] });
  const during = async () => {
    assert.equal(await second.take(10, new Set(), none), 0);
    return none();
  };
  assert.equal(await outbox.take(10, new Set(), during), 1);
  assert.equal(await second.take(10, new Set(), none), 1);
  // One that is killed while it sends is replaced after its lease.
  void outbox.take(10, new Set(), () => new Promise(() => {}));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await second.take(10, new Set(), none), 0);
  time += 300_000;
  assert.equal(await second.take(10, new Set(), none), 1);
});

test(
  'in Redis queued commands take place with the mark, or not at all',
  redisServer.needed,
  async () => {
    const inbox = redisInbox({ run: runCommand, prefix: randomUUID() });
    const counter = randomUUID();
    const failing = inbox.once(event, async (transaction) => {
      transaction.queue('INCR', counter);
      throw new Error('afterwards');
    });
    await assert.rejects(failing, /afterwards/);
    assert.equal(await redis.get(counter), null);
    for (const outcome of ['done', 'duplicate']) {
      const seen = await inbox.once(event, async (transaction) =>
        transaction.queue('INCR', counter),
      );
      assert.equal(seen, outcome);
    }
    assert.equal(await redis.get(counter), '1');
  },
);

test(
  'in Redis an effect that outlives its lease fails, and its commands do not take place',
  redisServer.needed,
  async () => {
    let time = 1_765_000_000_000;
    const inbox = redisInbox({
      run: runCommand,
      prefix: randomUUID(),
      now: () => time,
      leaseMs: 10_000,
    });
    const counter = randomUUID();
    const slow = inbox.once(event, async (transaction) => {
      transaction.queue('INCR', counter);
      assert.equal(await inbox.once(event, async () => assert.fail()), 'busy');
      time += 10_000;
      assert.equal(await inbox.once(event, async () => {}), 'done');
    });
    await assert.rejects(slow, /took longer than its lease/);
    assert.equal(await redis.get(counter), null);
  },
);

test(
  'in DynamoDB writes take place with the mark, or not at all',
  dynamodbServer.needed,
  async () => {
    const table = `t-${randomUUID()}`;
    const inbox = dynamodbInbox({ client: dynamodb, table });
    await inbox.migrate();
    const Key = { key: { S: 'effect' } };
    const write = {
      Update: {
        TableName: table,
        Key,
        UpdateExpression: 'add times :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
      },
    };
    const failing = inbox.once(event, async (transaction) => {
      transaction.write(write);
      throw new Error('afterwards');
    });
    await assert.rejects(failing, /afterwards/);
    for (const outcome of ['done', 'duplicate']) {
      const seen = await inbox.once(event, async (transaction) => transaction.write(write));
      assert.equal(seen, outcome);
    }
    const { Item } = await dynamodb.getItem({ TableName: table, Key });
    assert.equal(Item?.['times']?.N, '1');
  },
);

test('in DynamoDB an effect that outlives its lease fails', dynamodbServer.needed, async () => {
  // The year 2100: DynamoDB removes by its own clock what has expired.
  let time = 4_102_444_800_000;
  const table = `t-${randomUUID()}`;
  const inbox = dynamodbInbox({ client: dynamodb, table, now: () => time, leaseMs: 10_000 });
  await inbox.migrate();
  const effect = { Put: { TableName: table, Item: { key: { S: 'effect' } } } };
  for (const [key, writes] of [
    ['a', []],
    ['b', [effect]],
  ] as const) {
    const slow = inbox.once({ ...event, key }, async (transaction) => {
      for (const write of writes) transaction.write(write);
      assert.equal(await inbox.once({ ...event, key }, async () => assert.fail()), 'busy');
      time += 10_000;
      assert.equal(await inbox.once({ ...event, key }, async () => {}), 'done');
    });
    await assert.rejects(slow, /took longer than its lease/);
    assert.equal(await inbox.once({ ...event, key }, async () => assert.fail()), 'duplicate');
  }
  const Key = { key: { S: 'effect' } };
  assert.equal((await dynamodb.getItem({ TableName: table, Key })).Item, undefined);
});

const kept = (key: string, groupId = 'g', text = '') => ({
  body: JSON.stringify({
    dedupe_key: key,
    event_source: 's',
    event_time: '2025-12-04T00:00:00Z',
    text,
  }),
  groupId,
});

for (const [store, needed, open] of [
  ['Redis', redisServer.needed, outboxes['Redis']?.open],
  ['DynamoDB', dynamodbServer.needed, outboxes['DynamoDB']?.open],
] as const) {
  test(
    `in ${store} every group gets its turn, and what was sent is forgotten`,
    needed,
    async () => {
      let time = 1_765_000_000_000;
      const outbox = await (open as OutboxUnderTest)({ now: () => time });
      // Groups whose names begin alike, or need encoding.
      const groups = ['a', 'a b', 'a!', 'a!b', 'ab', 'ä', '~~~', '%20'];
      for (const groupId of groups) {
        for (const part of ['1', '2']) await outbox.append(kept(groupId + part, groupId));
      }
      const taken: string[] = [];
      const takeThree = (): Promise<number> =>
        outbox.take(3, new Set(['ab']), async (given) => {
          taken.push(...given.map(({ message }) => message.groupId));
          return { sent: given.map(({ id }) => id) };
        });
      await takeThree();
      await takeThree();
      await takeThree();
      assert.equal(new Set(taken).size, groups.length - 1);
      while ((await takeThree()) > 0);
      assert.equal(taken.length, 2 * (groups.length - 1));
      time += 1;
      await outbox.prune(time);
      const left: string[] = [];
      for await (const { message } of outbox.between({ from: 0, to: time }))
        left.push(message.groupId);
      assert.deepEqual(left, ['ab', 'ab']);
      // The key is free again.
      await outbox.append(kept('a1', 'a', 'other'));
      assert.equal((await outbox.backlog()).unsent, 3);
    },
  );
}

test('in Redis a message is kept with its commands, once', redisServer.needed, async () => {
  const outbox = redisOutbox({ run: runCommand, prefix: randomUUID() });
  const counter = randomUUID();
  const id = await outbox.append(kept('a'), [['INCR', counter]]);
  assert.equal(await outbox.append(kept('a'), [['INCR', counter]]), id);
  await assert.rejects(outbox.append(kept('a', 'g', 'other'), [['INCR', counter]]), /key/);
  assert.equal(await redis.get(counter), '1');
  await assert.rejects(outbox.append(kept('b'), [['LPUSH', counter, 'x']]), /WRONGTYPE/);
  assert.equal((await outbox.backlog()).unsent, 1);
});

test('in DynamoDB a message is kept with the transaction', dynamodbServer.needed, async () => {
  const TableName = `t-${randomUUID()}`;
  const outbox = dynamodbOutbox({ client: dynamodb, table: TableName });
  await outbox.migrate();
  const item = { kind: { S: 'order' }, place: { S: '1' } };
  const change = {
    Put: { TableName, Item: item, ConditionExpression: 'attribute_not_exists(kind)' },
  };
  const first = await outbox.writes(kept('a'));
  await dynamodb.transactWriteItems({ TransactItems: [change, ...first.writes] });
  assert.deepEqual(await outbox.writes(kept('a')), { id: first.id, writes: [] });
  const { writes } = await outbox.writes(kept('b'));
  const again = dynamodb.transactWriteItems({ TransactItems: [change, ...writes] });
  await assert.rejects(again, { name: 'TransactionCanceledException' });
  assert.equal((await outbox.backlog()).unsent, 1);
  // Drawn before, committed after a later one: both are sent, and the same key only once.
  const both = [kept('c'), kept('c')];
  const ids = await Promise.all(both.map((message) => outbox.append(message)));
  assert.equal(ids[0], ids[1]);
  assert.equal((await outbox.backlog()).unsent, 2);
});
