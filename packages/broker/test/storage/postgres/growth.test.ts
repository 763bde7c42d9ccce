/**
 * Nothing grows: what has gone leaves the database, bodies included, and rows and records stay few under churn, also while
 * somebody else's transaction is open.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../../../src/server/clock.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { Checkpoints } from '../../../src/storage/postgres/checkpoints.ts';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { openPostgresBackend, type PostgresOptions } from '../../../src/storage/postgres/open.ts';
import { arnOf, redrivePolicy } from '../../core/fixture.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';

let database: Promise<TestDatabase> | undefined;
const patient = new AbortController();

class Home {
  readonly backend: Backend;
  readonly #connection: Connection;
  readonly #checkpoints: Checkpoints;
  readonly #schema: string;

  constructor(backend: Backend, connection: Connection, schema: string) {
    this.backend = backend;
    this.#connection = connection;
    this.#checkpoints = new Checkpoints({ schema, connection });
    this.#schema = schema;
  }

  async create(queue: string, attributes: Readonly<Record<string, string>> = {}): Promise<void> {
    assert.ok((await this.backend.run({ type: 'create-queue', queue, attributes })).ok);
  }

  async send(queue: string, body: string): Promise<void> {
    const entries = [{ body }];
    assert.ok((await this.backend.run({ type: 'send', queue, isBatch: false, entries })).ok);
  }

  async receive(queue: string): Promise<string | undefined> {
    const command = { type: 'receive', queue, count: 1, visibilitySeconds: 0 } as const;
    const received = await this.backend.receive(command, patient);
    return received.ok ? received.messages[0]?.receiptHandle : undefined;
  }

  async remove(queue: string, receiptHandle: string | undefined): Promise<void> {
    const entries = [{ receiptHandle }];
    const command = { type: 'delete-messages', queue, isBatch: false, entries } as const;
    assert.ok((await this.backend.run(command)).ok);
  }

  /** All rows become records, and leave the journal. */
  async checkpoint(): Promise<void> {
    for (let round = 0; round < 2; round += 1) {
      await this.#connection.run({ text: `UPDATE ${this.#schema}.checkpoint SET trim_at = 0` });
      await this.#checkpoints.round(() => false);
    }
  }

  /** How often this text is in the database. */
  async found(text: string): Promise<number> {
    return this.#number(`SELECT count(*)::int AS number FROM
      (SELECT contents AS bytes FROM {schema}.journal UNION ALL SELECT value FROM {schema}.record) all_bytes
      WHERE position('${text}'::bytea in bytes) > 0`);
  }

  async rows(): Promise<number> {
    return this.#number(`SELECT ((SELECT count(*) FROM {schema}.journal) +
      (SELECT count(*) FROM {schema}.record))::int AS number`);
  }

  async #number(sql: string): Promise<number> {
    const [rows] = await this.#connection.run({ text: sql.replaceAll('{schema}', this.#schema) });
    return Number(rows?.rows[0]?.['number']);
  }
}

async function withHome(
  run: (home: Home, url: string, schema: string) => Promise<void>,
  options: Partial<PostgresOptions> = {},
): Promise<void> {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const schema = newSchema();
  const clock = manualClock(1_800_000_000_000);
  const backend = await openPostgresBackend({ clock }, { urls: [url], schema, ...options });
  const connection = new Connection([url], 'test');
  try {
    await run(new Home(backend, connection, schema), url, schema);
  } finally {
    await connection.close();
    await backend.close();
  }
}

test('the body of a message that has moved is in the database once', async () => {
  await withHome(async (home) => {
    await home.create('dead');
    await home.create('jobs', { RedrivePolicy: redrivePolicy(arnOf('dead'), 1) });
    await home.send('jobs', 'a body that moves');
    await home.checkpoint();
    for (let count = 0; count < 2; count += 1) await home.receive('jobs');
    assert.equal(await home.found('a body that moves'), 2, 'the row of the move, and the record');
    await home.checkpoint();
    assert.equal(await home.found('a body that moves'), 1);
    await home.remove('dead', await home.receive('dead'));
    await home.checkpoint();
    assert.equal(await home.found('a body that moves'), 0);
  });
});

test('the body of a message that a move task has moved is in the database once', async () => {
  await withHome(async (home) => {
    await home.create('dead');
    await home.create('jobs', { RedrivePolicy: redrivePolicy(arnOf('dead'), 1) });
    await home.send('jobs', 'a body that comes back');
    for (let count = 0; count < 2; count += 1) await home.receive('jobs');
    await home.checkpoint();
    const started = await home.backend.run({ type: 'start-move-task', sourceArn: arnOf('dead') });
    assert.ok(started.ok);
    await home.backend.advance(1_000);
    assert.notEqual(await home.receive('jobs'), undefined);
    await home.checkpoint();
    assert.equal(await home.found('a body that comes back'), 1);
  });
});

test('the bodies of messages that expired, were purged or went with their queue leave the database', async () => {
  await withHome(async (home) => {
    const ends: readonly (readonly [string, (queue: string) => Promise<unknown>])[] = [
      ['expired', () => home.backend.advance(61_000)],
      ['purged', (queue) => home.backend.run({ type: 'purge-queue', queue })],
      ['deleted', (queue) => home.backend.run({ type: 'delete-queue', queue })],
    ];
    for (const [queue, end] of ends) {
      await home.create(queue, { MessageRetentionPeriod: '60' });
      // One of them has become a record, the other is still a row.
      await home.send(queue, 'a body that ends');
      await home.checkpoint();
      await home.send(queue, 'a body that ends');
      assert.equal(await home.found('a body that ends'), 2);
      await end(queue);
      await home.checkpoint();
      assert.equal(await home.found('a body that ends'), 0, queue);
    }
  });
});

test("rows and records stay few under churn, also while somebody else's transaction is open", async () => {
  await withHome(async (home, url, schema) => {
    const foreign = new Connection([url], 'foreign');
    await home.create('jobs');
    const live = async (): Promise<void> => {
      for (let count = 0; count < 10; count += 1) {
        await home.send('jobs', `body ${count}`);
        await home.remove('jobs', await home.receive('jobs'));
      }
      await home.checkpoint();
    };
    await live();
    const before = await home.rows();
    // As a report or a backup does: it sees the tables as they were, for as long as it takes.
    await foreign.run(
      { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ' },
      { text: `SELECT count(*) FROM ${schema}.journal` },
    );
    for (let round = 0; round < 3; round += 1) {
      await live();
      assert.equal(await home.rows(), before, `round ${round}`);
    }
    await foreign.close();
  });
});

const forgetMsMax = 10_000;

test('a node forgets what nobody has used for a while, keeps what is used, and knows all of it again', async () => {
  await withHome(
    async (home) => {
      const held = (): number => home.backend.cluster()?.loadedOwners ?? 0;
      for (const queue of ['used', 'left', 'idle']) {
        await home.create(queue);
        await home.send(queue, `a body of ${queue}`);
      }
      assert.equal(held(), 3);
      // It forgets in rounds of its own, every two seconds, of which nobody is told.
      const until = performance.now() + forgetMsMax;
      while (held() > 1) {
        assert.ok(performance.now() < until, `${held()} queues are still in memory`);
        assert.notEqual(await home.receive('used'), undefined);
      }
      assert.equal(held(), 1);
      assert.notEqual(await home.receive('left'), undefined);
      assert.equal(held(), 2);
    },
    { unusedMs: 1_000 },
  );
});
