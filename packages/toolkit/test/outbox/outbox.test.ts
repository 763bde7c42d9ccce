/**
 * The behavior of outboxes, tested on the one in a folder and the one in PostgreSQL: messages are sent in order, as they
 * were kept, and marked; a failed message holds up only its own group, a refused one nothing.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import pg from 'pg';
import { ContractError } from '../../src/contract/refusals.ts';
import { openFileOutbox } from '../../src/outbox/file-outbox.ts';
import type { KeptMessage, Outbox } from '../../src/outbox/outbox.ts';
import { postgresOutbox } from '../../src/outbox/postgres-outbox.ts';
import { createRelay } from '../../src/outbox/relay.ts';
import type { ProducerMessage } from '../../src/producer/send.ts';
import { landsat, type Scene, scene, scenes } from '../support/landsat.ts';
import { type Database, startPostgres } from '../support/postgres.ts';
import { drain, type OpenQueue, openQueue } from '../support/server.ts';

type Appending = Outbox & { append(message: ProducerMessage): Promise<number> };
type Open = (t: TestContext, now: () => number) => Promise<Appending>;

const database: Database = await startPostgres();

const kinds: Readonly<Record<string, Open>> = {
  'a folder': async (t, now) => {
    const folder = mkdtempSync(join(tmpdir(), 'oncemq-outbox-'));
    const outbox = await openFileOutbox(folder, { now, segmentBytesMax: 1_000 });
    t.after(async () => {
      await outbox.close();
      rmSync(folder, { recursive: true });
    });
    return outbox;
  },
  PostgreSQL: async (_, now) => {
    const { pool } = database;
    const outbox = postgresOutbox({ pool, table: database.newTable(), now });
    await outbox.migrate();
    await outbox.migrate();
    return { ...outbox, append: (message) => outbox.append(pool, message) };
  },
};

const byTile = landsat({ groupId: ({ tile }) => tile });
const days = (count: number): Scene[] =>
  Array.from({ length: count }, (_, index) => ({ ...scene, day: `2025-12-${index + 10}` }));

for (const [kind, open] of Object.entries(kinds)) {
  describe(`an outbox in ${kind}`, () => {
    const setUp = async (t: TestContext) => {
      const queue = await openQueue(t);
      const now = (): number => queue.server.clock.now();
      const outbox = await open(t, now);
      return {
        queue,
        now,
        outbox,
        relay: createRelay({ ...queue, outbox, now, onPastWindow: () => {} }),
      };
    };
    const nothing = { sent: 0, parked: 0, pastWindow: 0, failures: [], isBroken: false };
    const bodies = (events: readonly Scene[]): string[] =>
      events.map((event) => byTile.message(event).body);

    test('sends each kept message once, in the order of its group and as it was kept', async (t) => {
      const { queue, outbox, relay } = await setUp(t);
      // More groups than the relay takes at once. One of these scenes is in the group of the days.
      const events = [...days(5), ...scenes(130)];
      for (const event of events) await outbox.append(byTile.message(event));
      assert.deepEqual(await relay.flush(), { ...nothing, sent: 135 });
      assert.deepEqual(await relay.flush(), nothing);
      const received = await drain(queue);
      assert.deepEqual([...received].sort(), bodies(events).sort());
      const ofGroup = received.filter((body) => body.includes(`"${scene.tile}"`));
      assert.deepEqual(ofGroup, bodies([...days(5), scene]));
    });

    test('keeps a message once: appended again, it has the id it had', async (t) => {
      const { outbox, relay } = await setUp(t);
      const message = byTile.message(scene);
      const [first, second] = await Promise.all([outbox.append(message), outbox.append(message)]);
      assert.equal(second, first);
      assert.equal(await outbox.append({ ...message, attributes: { region: 'eu' } }), first);
      assert.equal((await relay.flush()).sent, 1);
      assert.equal(await outbox.append(message), first);
      assert.equal((await relay.flush()).sent, 0);
    });

    test('refuses another body under a key that is kept, sent or not, and keeps the first', async (t) => {
      const { queue, outbox, relay } = await setUp(t);
      await outbox.append(byTile.message(scene));
      const other = byTile.message({ ...scene, cloud: 0.5 });
      const isReused = (error: unknown): boolean =>
        error instanceof ContractError && error.code === 'key-reused';
      await assert.rejects(outbox.append(other), isReused);
      await relay.flush();
      await assert.rejects(outbox.append(other), isReused);
      assert.deepEqual(await drain(queue), bodies([scene]));
    });

    test('keeps the events of two sources with one key', async (t) => {
      const { outbox, relay } = await setUp(t);
      for (const source of ['kfm.a.b', 'kfm.a.c']) {
        await outbox.append(landsat({ source }).message(scene));
      }
      assert.equal((await relay.flush()).sent, 2);
    });

    test('keeps attributes, and resends an unmarked message identically', async (t) => {
      const { queue, outbox, relay } = await setUp(t);
      const message = landsat({ attributes: () => ({ region: 'kansas' }) }).message(scene);
      await outbox.append(message);
      // As after a crash: sent but not marked.
      await outbox.take(10, new Set(), async (kept) => {
        assert.deepEqual(
          kept.map((each) => each.message),
          [message],
        );
        await createRelay({ ...queue, outbox: sending(kept) }).flush();
        return { sent: [] };
      });
      assert.equal((await relay.flush()).sent, 1);
      const duplicates = queue.server.events.flatMap((event) =>
        event.type === 'duplicate' ? [event.differed] : [],
      );
      assert.deepEqual(duplicates, [{ body: false, attributes: false, group: false }]);
      assert.equal((await drain(queue)).length, 1);
    });

    test('reports a message kept longer than the window as a possible duplicate', async (t) => {
      const { queue, outbox, now } = await setUp(t);
      await outbox.append(byTile.message(scene));
      await queue.server.clock.advance(300);
      const warned: number[] = [];
      const relay = createRelay({
        ...queue,
        outbox,
        now,
        onPastWindow: (_, ageMs) => warned.push(ageMs),
      });
      assert.deepEqual(await relay.flush(), { ...nothing, sent: 1, pastWindow: 1 });
      assert.deepEqual(warned, [300_000]);
    });

    const refusedFirst = async (t: TestContext) => {
      const opened = await setUp(t);
      const { outbox } = opened;
      const bad = byTile.message(days(1)[0] as Scene);
      const id = await outbox.append({ ...bad, attributes: { region: '\u0001' } });
      for (const event of [...days(3).slice(1), ...scenes(3)])
        await outbox.append(byTile.message(event));
      return { ...opened, id, others: bodies([...days(3).slice(1), ...scenes(3)]).sort() };
    };

    test('parks a refused message with its reason, and sends all others', async (t) => {
      const { queue, outbox, relay, now, id, others } = await refusedFirst(t);
      const { sent, parked, failures } = await relay.flush();
      assert.deepEqual([sent, parked, failures.length], [5, 1, 1]);
      assert.deepEqual((await drain(queue)).sort(), others);
      assert.deepEqual(await relay.flush(), nothing);
      const [kept] = await outbox.parked(10);
      assert.equal(kept?.id, id);
      assert.equal(kept?.parkedAt, now());
      assert.match(kept?.reason ?? '', /^InvalidParameterValue: /);
      assert.deepEqual(await outbox.backlog(), { unsent: 0, oldestAt: undefined, parked: 1 });
      assert.deepEqual(await outbox.parked(10, id), []);
    });

    test('tries a parked message again on request, or gives it up', async (t) => {
      const { outbox, relay, id } = await refusedFirst(t);
      assert.equal(await outbox.retry(id), false);
      await relay.flush();
      assert.equal(await outbox.retry(id), true);
      assert.deepEqual(await outbox.parked(10), []);
      assert.equal((await relay.flush()).parked, 1);
      assert.equal(await outbox.skip(id), true);
      assert.equal(await outbox.skip(id), false);
      assert.deepEqual(await relay.flush(), nothing);
      assert.deepEqual(await outbox.backlog(), { unsent: 0, oldestAt: undefined, parked: 0 });
      const kept: number[] = [];
      for await (const each of outbox.between({ from: 0, to: Number.POSITIVE_INFINITY }))
        kept.push(each.id);
      assert.ok(kept.includes(id));
    });

    test('holds the group of a refused message if asked to, also later', async (t) => {
      const { queue, outbox, now, id } = await refusedFirst(t);
      const relay = createRelay({ ...queue, outbox, refused: 'hold', now });
      assert.equal((await relay.flush()).sent, 3);
      assert.deepEqual(await relay.flush(), nothing);
      assert.equal((await outbox.backlog()).unsent, 2);
      await outbox.skip(id);
      assert.equal((await relay.flush()).sent, 2);
    });

    test('refuses a message that is not an envelope at once', async (t) => {
      const { outbox, relay } = await setUp(t);
      const keyless = JSON.stringify({ ...JSON.parse(byTile.message(scene).body), dedupe_key: 7 });
      for (const body of [
        'hello',
        'null',
        '{}',
        '{"event_time":"yesterday"}',
        '{"event_time":7}',
        keyless,
      ])
        await assert.rejects(outbox.append({ body, groupId: 'g' }), /its body is not an envelope/);
      await outbox.append(byTile.message(scene));
      assert.equal((await relay.flush()).sent, 1);
    });

    test('keeps everything when the queue is unreachable', async (t) => {
      const { queue, outbox, relay } = await setUp(t);
      for (const event of scenes(12)) await outbox.append(byTile.message(event));
      const nowhere = { ...queue, queueUrl: queue.queueUrl.replace('events', 'none') };
      const { sent, failures } = await createRelay({ ...nowhere, outbox }).flush();
      assert.equal(sent, 0);
      assert.match(failures[0] as string, /does not exist/);
      assert.equal((await relay.flush()).sent, 12);
    });

    test('two relays do not send the same message', async (t) => {
      const { queue, outbox, relay } = await setUp(t);
      for (const event of days(5)) await outbox.append(byTile.message(event));
      const both = await Promise.all([relay.flush(), relay.flush()]);
      assert.equal(both[0].sent + both[1].sent, 5);
      assert.equal(queue.server.events.filter(({ type }) => type === 'duplicate').length, 0);
    });

    test('replays the sent messages of a time range as they were kept', async (t) => {
      const { queue, outbox, relay } = await setUp(t);
      for (const event of days(9)) await outbox.append(byTile.message(event));
      await relay.flush();
      await drain(queue);
      await queue.server.clock.advance(300);
      const range = { from: Date.parse('2025-12-12'), to: Date.parse('2025-12-15') };
      const { sent, pastWindow } = await relay.replay(range);
      assert.deepEqual([sent, pastWindow], [3, 3]);
      assert.deepEqual(await drain(queue), bodies(days(9).slice(2, 5)));
      assert.equal(
        (await relay.replay({ from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY })).sent,
        9,
      );
    });

    test('prunes old sent messages, and nothing else', async (t) => {
      const { queue, outbox, relay, now } = await setUp(t);
      for (const event of scenes(20)) await outbox.append(byTile.message(event));
      await relay.flush();
      await queue.server.clock.advance(1_000);
      for (const event of days(20)) await outbox.append(byTile.message(event));
      await outbox.prune(now());
      const left: string[] = [];
      const all = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
      for await (const { message } of outbox.between(all)) left.push(message.body);
      // A file outbox only removes whole segments, so a few messages may stay.
      assert.ok(left.length >= 20 && left.length < 25, String(left.length));
      assert.deepEqual(left.slice(-20), bodies(days(20)));
      assert.equal((await relay.flush()).sent, 20);
    });
  });
}

test('a reopened folder continues where it was', async (t) => {
  const queue: OpenQueue = await openQueue(t);
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-outbox-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (let round = 0; round < 3; round += 1) {
    await using outbox = await openFileOutbox(folder, { segmentBytesMax: 500 });
    for (const event of days(4)) {
      await outbox.append(byTile.message({ ...event, tile: `p${round}` }));
    }
    assert.equal(outbox.unsent, 4);
    await createRelay({ ...queue, outbox }).flush();
    assert.equal(outbox.unsent, 0);
    await outbox.prune(Number.POSITIVE_INFINITY);
  }
  assert.equal((await drain(queue)).length, 12);
  assert.equal(readdirSync(folder).filter((name) => name.endsWith('.log')).length, 1);
});

test('a message in PostgreSQL is committed or rolled back with its transaction', async (t) => {
  const queue = await openQueue(t);
  const { pool } = database;
  const outbox = postgresOutbox({ pool, table: database.newTable() });
  await outbox.migrate();
  const connection = await pool.connect();
  for (const end of ['rollback', 'commit']) {
    await connection.query('begin');
    await outbox.append(connection, byTile.message(scene));
    assert.equal((await createRelay({ ...queue, outbox }).flush()).sent, 0);
    await connection.query(end);
  }
  connection.release();
  assert.equal((await createRelay({ ...queue, outbox }).flush()).sent, 1);
});

/** The ways in which two connections can take their steps: which of them takes the next one. */
function interleavings(first: number, second: number): number[][] {
  if (first === 0 && second === 0) return [[]];
  return [
    ...(first > 0 ? interleavings(first - 1, second).map((rest) => [0, ...rest]) : []),
    ...(second > 0 ? interleavings(first, second - 1).map((rest) => [1, ...rest]) : []),
  ];
}

describe('in PostgreSQL what was committed before an append is sent before it', () => {
  // One connection commits two messages together, the other one after another.
  const together = ['append', 'append', 'commit'] as const;
  const apart = ['append', 'commit', 'append', 'commit'] as const;
  const orders = interleavings(together.length, apart.length);
  const inOneGroup = landsat({ groupId: () => 'g' });
  for (const [name, every] of [
    ['a relay takes after each step', 1],
    ['a relay takes after every third step', 3],
    ['a relay takes at the end', Number.POSITIVE_INFINITY],
  ] as const) {
    test(`${name}, in each of ${orders.length} interleavings`, async (t) => {
      const { pool } = database;
      const outbox = postgresOutbox({ pool, table: database.newTable() });
      await outbox.migrate();
      const connections = [await pool.connect(), await pool.connect()];
      t.after(() => {
        for (const connection of connections) connection.release(true);
      });
      for (const [round, order] of orders.entries()) {
        const sent: string[] = [];
        const takeOne = (): Promise<number> =>
          outbox.take(100, new Set(), async (kept) => {
            sent.push(...kept.map(({ message }) => message.body));
            return { sent: kept.map(({ id }) => id) };
          });
        const committed: string[] = [];
        const open: string[][] = [[], []];
        const done = [0, 0];
        const pairs: [before: string, after: string][] = [];
        for (const [at, who] of order.entries()) {
          const connection = connections[who] as pg.PoolClient;
          const own = open[who] as string[];
          const step = done[who] as number;
          done[who] = step + 1;
          if ((who === 0 ? together : apart)[step] === 'append') {
            if (own.length === 0) await connection.query('begin');
            const message = inOneGroup.message({ ...scene, tile: `${round}-${who}-${step}` });
            await outbox.append(connection, message);
            for (const before of [...committed, ...own]) pairs.push([before, message.body]);
            own.push(message.body);
          } else {
            await connection.query('commit');
            committed.push(...own.splice(0));
          }
          if ((at + 1) % every === 0) await takeOne();
        }
        while ((await takeOne()) > 0);
        assert.equal(sent.length, 4);
        for (const [before, after] of pairs)
          assert.ok(sent.indexOf(before) < sent.indexOf(after), order.join(''));
      }
    });
  }
});

test('in PostgreSQL appends to the same groups in opposite order do not wait for each other', async () => {
  const { pool } = database;
  const outbox = postgresOutbox({ pool, table: database.newTable() });
  await outbox.migrate();
  const [first, second] = [await pool.connect(), await pool.connect()];
  const append = (connection: pg.PoolClient, tile: string, day: string): Promise<number> =>
    outbox.append(connection, byTile.message({ tile, day }));
  // Whoever would have to wait fails instead.
  for (const connection of [first, second]) {
    await connection.query("begin; set local lock_timeout = '1s'");
  }
  await append(first, 'a', '2025-12-01');
  await append(second, 'b', '2025-12-01');
  await append(first, 'b', '2025-12-02');
  await append(second, 'a', '2025-12-02');
  for (const connection of [first, second]) {
    await connection.query('commit');
    connection.release();
  }
  assert.equal((await outbox.backlog()).unsent, 4);
});

test('in PostgreSQL of two appends of the same keys in opposite order one can be repeated', async () => {
  const { pool } = database;
  const outbox = postgresOutbox({ pool, table: database.newTable() });
  await outbox.migrate();
  const messages = scenes(2).map((event) => byTile.message(event));
  const [one, other] = messages as [ProducerMessage, ProducerMessage];
  const [first, second] = [await pool.connect(), await pool.connect()];
  for (const connection of [first, second]) await connection.query('begin');
  await outbox.append(first, one);
  await outbox.append(second, other);
  const ends = [first, second].map(async (connection, index) => {
    const outcome = await outbox.append(connection, index === 0 ? other : one).then(
      () => 'commit',
      (error: { code?: string }) => error.code,
    );
    await connection.query(outcome === 'commit' ? 'commit' : 'rollback');
    connection.release();
    return outcome;
  });
  assert.deepEqual((await Promise.all(ends)).sort(), ['40P01', 'commit']);
  await outbox.append(pool, messages);
  assert.equal((await outbox.backlog()).unsent, 2);
});

describe('a take from PostgreSQL reads few of 20,000 unsent rows', () => {
  const readMax = 1_000;
  const backlogs = {
    'in one group': { groups: 1, leaveOut: [], given: 1 },
    'in as many groups': { groups: 20_000, leaveOut: [], given: 100 },
    'half of them in a group that is left out': { groups: 2, leaveOut: ['g0'], given: 1 },
  };
  for (const [name, { groups, leaveOut, given }] of Object.entries(backlogs)) {
    test(name, async (t) => {
      // With one connection, the statistics that it reports hold everything that was read.
      const pool = new pg.Pool({ connectionString: database.url, max: 1 });
      t.after(() => pool.end());
      const table = database.newTable();
      const outbox = postgresOutbox({ pool, table });
      await outbox.migrate();
      await pool.query(
        `insert into ${table} (appended_at, event_time, group_id, body)
         select 0, 0, 'g' || n % $1::int, '{}' from generate_series(1, 20000) n`,
        [groups],
      );
      const rowsRead = async (): Promise<number> => {
        await pool.query('select pg_stat_force_next_flush()');
        const { rows } = await pool.query(
          `select sum(idx_tup_read) + (select seq_tup_read from pg_stat_user_tables where relname = $1)
             as read from pg_stat_user_indexes where relname = $1`,
          [table],
        );
        return Number(rows[0].read);
      };
      const before = await rowsRead();
      assert.equal(await outbox.take(100, new Set(leaveOut), async () => ({ sent: [] })), given);
      const read = (await rowsRead()) - before;
      assert.ok(read >= given && read <= readMax, `${read} rows were read`);
    });
  }
});

test('in PostgreSQL every group gets its turn, even if earlier groups always have more', async () => {
  const { pool } = database;
  const outbox = postgresOutbox({ pool, table: database.newTable() });
  await outbox.migrate();
  await outbox.append(pool, byTile.message({ ...scene, tile: 'c' }));
  const taken = new Set<string>();
  for (let round = 0; round < 3; round += 1) {
    for (const tile of ['a', 'b']) {
      await outbox.append(pool, byTile.message({ tile, day: `2025-12-1${round}` }));
    }
    await outbox.take(2, new Set(), async (kept) => {
      for (const { message } of kept) taken.add(message.groupId);
      return { sent: kept.map(({ id }) => id) };
    });
  }
  assert.deepEqual([...taken].sort(), ['a', 'b', 'c']);
});

test('without onPastWindow the process warns of a possible duplicate', async (t) => {
  const queue = await openQueue(t);
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-outbox-'));
  t.after(() => rmSync(folder, { recursive: true }));
  await using outbox = await openFileOutbox(folder, { now: () => 0 });
  await outbox.append(byTile.message(scene));
  const warned = once(process, 'warning');
  await createRelay({ ...queue, outbox, now: () => 300_000 }).flush();
  const [warning] = (await warned) as [Error & { code: string }];
  assert.equal(warning.code, 'ONCEMQ_PAST_WINDOW');
  assert.match(warning.message, /landsat\/p32r29\/2025-12-04\) was stored 300 s ago/);
});

test('a table name that is more than a name is refused', () => {
  assert.throws(
    () => postgresOutbox({ pool: database.pool, table: 'a"; drop table b; --' }),
    /is not a valid table name/,
  );
});

/** An outbox of these messages that forgets all marks. */
function sending(kept: readonly KeptMessage[]): Outbox {
  let isGiven = false;
  return {
    take: async (_limit, _leaveOut, work) => {
      if (isGiven) return 0;
      isGiven = true;
      await work(kept);
      return kept.length;
    },
    between: async function* () {},
    prune: async () => {},
    parked: async () => [],
    retry: async () => false,
    async skip() {
      return false;
    },
    backlog: async () => ({ unsent: 0, oldestAt: undefined, parked: 0 }),
  };
}
