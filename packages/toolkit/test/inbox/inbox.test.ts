/**
 * The behavior shared by all three inboxes, tested on each: one effect per key, as long as the key is remembered, with any
 * number of concurrent handlers. What only one of them promises is at the end.
 */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { sha256 } from '../../src/contract/canonical.ts';
import { openFileInbox } from '../../src/inbox/file-inbox.ts';
import {
  type Inbox,
  type InboxEvent,
  InboxFullError,
  type InboxOptions,
} from '../../src/inbox/inbox.ts';
import { memoryInbox } from '../../src/inbox/memory-inbox.ts';
import { postgresInbox } from '../../src/inbox/postgres-inbox.ts';
import { RecordLog } from '../../src/log/record-log.ts';
import { openFileOutbox } from '../../src/outbox/file-outbox.ts';
import { landsat, scenes } from '../support/landsat.ts';
import { type Database, startPostgres } from '../support/postgres.ts';

type Open = (t: TestContext, options: InboxOptions) => Promise<Inbox<unknown>>;

const database: Database = await startPostgres();
const dayMs = 86_400_000;

function event(key: string, body = 'a body', source = 'kfm.orders.billing'): InboxEvent {
  return { source, key, digest: sha256(body) };
}

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'oncemq-inbox-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

const kinds: Readonly<Record<string, Open>> = {
  memory: async (_, options) => memoryInbox(options),
  'a folder': async (t, options) => {
    const inbox = await openFileInbox(folder(t), options);
    t.after(() => inbox.close());
    return inbox;
  },
  PostgreSQL: async (_, options) => {
    const { pool } = database;
    const inbox = postgresInbox({ pool, table: database.newTable(), ...options });
    await inbox.migrate();
    await inbox.migrate();
    return inbox;
  },
};

for (const [kind, open] of Object.entries(kinds)) {
  describe(`an inbox in ${kind}`, () => {
    test('allows one effect per key', async (t) => {
      const inbox = await open(t, {});
      const effects: string[] = [];
      const effect = (name: string) => async (): Promise<void> => void effects.push(name);
      assert.equal(await inbox.once(event('a'), effect('first')), 'done');
      assert.equal(await inbox.once(event('a'), effect('second')), 'duplicate');
      assert.equal(await inbox.once(event('b'), effect('other')), 'done');
      assert.deepEqual(effects, ['first', 'other']);
    });

    test('a known key with another body is a conflict, with no effect and no change of what is known', async (t) => {
      const inbox = await open(t, {});
      assert.equal(await inbox.once(event('a', 'first'), async () => {}), 'done');
      for (const body of ['second', 'third']) {
        assert.equal(await inbox.once(event('a', body), async () => assert.fail()), 'conflict');
      }
      assert.equal(await inbox.once(event('a', 'first'), async () => assert.fail()), 'duplicate');
    });

    test('a key that is forgotten may belong to another body', async (t) => {
      let time = 1_765_000_000_000;
      const inbox = await open(t, { now: () => time, keepMs: dayMs });
      await inbox.once(event('a', 'first'), async () => {});
      time += dayMs;
      assert.equal(await inbox.once(event('a', 'second'), async () => {}), 'done');
      assert.equal(await inbox.once(event('a', 'first'), async () => assert.fail()), 'conflict');
    });

    test('two sources with one key are two events', async (t) => {
      const inbox = await open(t, {});
      for (const source of ['kfm.orders.billing', 'kfm.orders.shipping', '']) {
        assert.equal(await inbox.once(event('a', 'a body', source), async () => {}), 'done');
      }
    });

    test('remembers a key for as long as it is asked to, even days', async (t) => {
      let time = 1_765_000_000_000;
      const inbox = await open(t, { now: () => time, keepMs: 30 * dayMs });
      const nothing = async (): Promise<void> => {};
      assert.equal(await inbox.once(event('a'), nothing), 'done');
      time += 30 * dayMs - 1;
      assert.equal(await inbox.once(event('a'), nothing), 'duplicate');
      time += 1;
      assert.equal(await inbox.once(event('a'), nothing), 'done');
    });

    test('remembers a key forever if asked to, and for a fractional time', async (t) => {
      let time = 1_765_000_000_000;
      const nothing = async (): Promise<void> => {};
      for (const keepMs of [Number.POSITIVE_INFINITY, 1e12 / 7]) {
        const inbox = await open(t, { now: () => time, keepMs });
        assert.equal(await inbox.once(event('a'), nothing), 'done');
        time += 1_000 * dayMs;
        assert.equal(await inbox.once(event('a'), nothing), 'duplicate');
      }
    });

    test('refuses an invalid retention time at once', async (t) => {
      for (const keepMs of [0, -1, Number.NaN, '7d', null]) {
        await assert.rejects(open(t, { keepMs: keepMs as number }), /keepMs must be a number/);
      }
    });

    test('recognizes any key that an envelope may have', async (t) => {
      const inbox = await open(t, {});
      const wide = Array.from({ length: 1_024 }, (_, index) =>
        String.fromCodePoint(0x20000 + ((index * 7_919) % 40_000)),
      ).join('');
      for (const key of [wide, `${wide.slice(0, -2)}a`, 'a\0b', 'a\0c', '__proto__']) {
        assert.equal(await inbox.once(event(key), async () => {}), 'done');
        assert.equal(await inbox.once(event(key), async () => assert.fail()), 'duplicate');
      }
    });

    test('an effect that fails does not count', async (t) => {
      const inbox = await open(t, {});
      const failing = inbox.once(event('a'), async () => {
        throw new Error('the disk is full');
      });
      await assert.rejects(failing, /the disk is full/);
      assert.equal(await inbox.once(event('a'), async () => {}), 'done');
    });

    test('of many concurrent calls with one key, one has the effect', async (t) => {
      const inbox = await open(t, {});
      let effects = 0;
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, () =>
          inbox.once(event('a'), async () => {
            effects += 1;
            await new Promise((resolve) => setImmediate(resolve));
          }),
        ),
      );
      assert.equal(effects, 1);
      assert.equal(outcomes.filter((outcome) => outcome === 'done').length, 1);
    });
  });
}

test('a full inbox in memory refuses new keys and forgets nothing', async () => {
  let time = 0;
  const inbox = memoryInbox({ keysMax: 2, keepMs: 10, now: () => time });
  const nothing = async (): Promise<void> => {};
  await inbox.once(event('a'), nothing);
  await inbox.once(event('b'), nothing);
  await assert.rejects(inbox.once(event('c'), nothing), InboxFullError);
  assert.equal(await inbox.once(event('a'), nothing), 'duplicate');
  time = 10;
  assert.equal(await inbox.once(event('c'), nothing), 'done');
});

test('an inbox in a folder knows its keys after reopening, and removes expired ones', async (t) => {
  const path = folder(t);
  let time = 0;
  const options = { now: () => time, keepMs: 1_000, segmentBytesMax: 200 };
  for (let round = 0; round < 10; round += 1) {
    await using inbox = await openFileInbox(path, options);
    if (round > 0) {
      assert.equal(
        await inbox.once(event(`${round - 1} 9`), async () => assert.fail()),
        'duplicate',
      );
    }
    for (let key = 0; key < 10; key += 1)
      await inbox.once(event(`${round} ${key}`), async () => {});
    time += 600;
  }
  const segments = readdirSync(path).filter((name) => name.endsWith('.log'));
  assert.ok(segments.length < 15, `${segments.length} segments are left`);
});

test('an inbox in a folder of an earlier version knows its keys, of whatever source and body', async (t) => {
  const path = folder(t);
  const now = (): number => 1_765_000_000_000;
  const log = await RecordLog.open(path, {}, () => {});
  await log.append({ key: 'a', until: now() + 1 });
  await log.append({ key: 'b', until: now() });
  await log.close();
  await using inbox = await openFileInbox(path, { now });
  assert.equal(await inbox.once(event('a'), async () => assert.fail()), 'duplicate');
  assert.equal(await inbox.once(event('a', 'other', ''), async () => assert.fail()), 'duplicate');
  assert.equal(await inbox.once(event('b'), async () => {}), 'done');
});

test('an inbox in a folder that remembers forever still does after reopening', async (t) => {
  const path = folder(t);
  for (const outcome of ['done', 'duplicate']) {
    await using inbox = await openFileInbox(path, { keepMs: Number.POSITIVE_INFINITY });
    assert.equal(await inbox.once(event('a'), async () => {}), outcome);
  }
});

test('an effect whose mark could not be written is not repeated, and no other effect comes before the mark', async (t) => {
  const path = folder(t);
  await using inbox = await openFileInbox(path);
  // Makes writes fail: there is a folder where the segment file should be.
  const segment = join(path, '00000001.log');
  mkdirSync(segment);
  let effects = 0;
  const effect = async (): Promise<void> => {
    effects += 1;
  };
  await assert.rejects(inbox.once(event('a'), effect), /EISDIR/);
  await assert.rejects(inbox.once(event('a'), effect), /EISDIR/);
  await assert.rejects(inbox.once(event('b'), effect), /EISDIR/);
  assert.equal(effects, 1);
  rmdirSync(segment);
  assert.equal(await inbox.once(event('b'), effect), 'done');
  assert.equal(await inbox.once(event('a'), effect), 'duplicate');
  assert.equal(effects, 2);
  assert.equal(readFileSync(segment, 'utf8').trim().split('\n').length, 2);
});

test('an unwritten mark is written on close, and a disk error does not prevent closing', async (t) => {
  const path = folder(t);
  const segment = join(path, '00000001.log');
  for (const isMended of [false, true]) {
    const inbox = await openFileInbox(path);
    mkdirSync(segment);
    await assert.rejects(
      inbox.once(event('a'), async () => {}),
      /EISDIR/,
    );
    if (isMended) rmdirSync(segment);
    await inbox.close();
    if (!isMended) rmdirSync(segment);
  }
  await using again = await openFileInbox(path);
  assert.equal(await again.once(event('a'), async () => assert.fail()), 'duplicate');
});

test('the folder of an outbox is refused as an inbox and vice versa, and nothing in it changes', async (t) => {
  const path = folder(t);
  const outbox = await openFileOutbox(join(path, 'outbox'), { segmentBytesMax: 1 });
  for (const each of scenes(3)) await outbox.append(landsat().message(each));
  await outbox.close();
  await assert.rejects(openFileInbox(join(path, 'outbox')), /is not an inbox folder/);
  const again = await openFileOutbox(join(path, 'outbox'));
  assert.equal(again.unsent, 3);
  await again.close();
  const inbox = await openFileInbox(join(path, 'inbox'));
  await inbox.once(event('a'), async () => {});
  await inbox.close();
  await assert.rejects(openFileOutbox(join(path, 'inbox')), /is not an outbox folder/);
});

describe('an inbox in PostgreSQL', () => {
  const setUp = async (waitMs: number) => {
    const { pool } = database;
    const effects = database.newTable();
    await pool.query(`create table ${effects} (key text)`);
    const inbox = postgresInbox({ pool, table: database.newTable(), waitMs });
    await inbox.migrate();
    return { pool, effects, inbox };
  };

  test('commits the effect and its mark together, or neither', async () => {
    const { pool, effects, inbox } = await setUp(5_000);
    const insert = `insert into ${effects} values ('a')`;
    const failing = inbox.once(event('a'), async (transaction) => {
      await transaction.query(insert);
      throw new Error('afterwards');
    });
    await assert.rejects(failing, /afterwards/);
    await inbox.once(event('a'), async (transaction) => void (await transaction.query(insert)));
    await inbox.once(event('a'), async (transaction) => void (await transaction.query(insert)));
    assert.equal((await pool.query(`select * from ${effects}`)).rows.length, 1);
  });

  test('a handler that ignores a failed query has no effect, and its handling fails', async () => {
    const { pool, effects, inbox } = await setUp(5_000);
    const insert = `insert into ${effects} values ('a')`;
    const swallowing = inbox.once(event('a'), async (transaction) => {
      await transaction.query(insert);
      await transaction.query('select 1 / 0').catch(() => {});
    });
    await assert.rejects(
      swallowing,
      /transaction was rolled back, because one of its queries had failed/,
    );
    await inbox.once(event('a'), async (transaction) => void (await transaction.query(insert)));
    assert.equal((await pool.query(`select * from ${effects}`)).rows.length, 1);
  });

  test('a connection that breaks during a handler fails the handling, not the process', async () => {
    const { pool, inbox } = await setUp(5_000);
    const broken = inbox.once(event('a'), async (transaction) => {
      const { rows } = await transaction.query('select pg_backend_pid() as pid');
      const { pid } = rows[0] as { pid: number };
      await pool.query('select pg_terminate_backend($1)', [pid]);
      const isThere = 'select from pg_stat_activity where pid = $1';
      while ((await pool.query(isThere, [pid])).rows.length > 0);
    });
    await assert.rejects(broken);
    assert.equal(await inbox.once(event('a'), async () => {}), 'done');
  });

  test('a second consumer waits for the first and then knows its outcome', async () => {
    const { inbox } = await setUp(5_000);
    let second: Promise<string> | undefined;
    const first = await inbox.once(event('a'), async () => {
      second = inbox.once(event('a'), async () => assert.fail());
    });
    assert.equal(first, 'done');
    assert.equal(await second, 'duplicate');
  });

  test('a second consumer that would wait too long leaves the message for redelivery', async () => {
    const { inbox } = await setUp(1);
    await inbox.once(event('a'), async () => {
      assert.equal(await inbox.once(event('a'), async () => assert.fail()), 'busy');
    });
  });

  test('a table of an earlier version is migrated, and its keys count whatever their source and body', async () => {
    const { pool } = database;
    const table = database.newTable();
    const now = (): number => 1_765_000_000_000;
    await pool.query(`create table ${table} (key text primary key, expires_at bigint not null)`);
    await pool.query(`insert into ${table} values ('a', $1), ('b', $2)`, [now() + 1, now()]);
    const inbox = postgresInbox({ pool, table, now });
    await inbox.migrate();
    assert.equal(await inbox.once(event('a'), async () => assert.fail()), 'duplicate');
    assert.equal(await inbox.once(event('a', 'other', ''), async () => assert.fail()), 'duplicate');
    assert.equal(await inbox.once(event('b'), async () => {}), 'done');
    assert.equal(await inbox.once(event('b', 'other'), async () => assert.fail()), 'conflict');
  });

  test('expired keys are removed on request', async () => {
    let time = 0;
    const { pool } = database;
    const table = database.newTable();
    const inbox = postgresInbox({ pool, table, now: () => time, keepMs: 10 });
    await inbox.migrate();
    await inbox.once(event('a'), async () => {});
    time = 10;
    await inbox.once(event('b'), async () => {});
    await inbox.prune();
    assert.deepEqual((await pool.query(`select key from ${table}`)).rows, [
      { key: 'kfm.orders.billing\nb' },
    ]);
  });
});
