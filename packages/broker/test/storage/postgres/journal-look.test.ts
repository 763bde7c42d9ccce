/**
 * What is told of the journal: how many rows are not records yet, and how old the oldest of these is, also if it is one of
 * many owners that are behind, whether it goes on being written or not.
 */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { JournalLook } from '../../../src/storage/postgres/journal-look.ts';
import { latestFormat, writtenRow } from '../../../src/storage/postgres/journal-row.ts';
import { prepareTables } from '../../../src/storage/postgres/requirements.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';

let database: Promise<TestDatabase> | undefined;
const now = 1_800_000_000_000;
const manyOwners = 120;

interface Journal {
  readonly look: JournalLook;
  /** Rows of an owner at these times. */
  readonly write: (number: number, times: readonly number[], format?: number) => Promise<void>;
  /** Rows up to this version became records. */
  readonly record: (number: number, version: number) => Promise<void>;
}

async function open(t: TestContext): Promise<Journal> {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const schema = newSchema();
  const connection = new Connection([url], 'test');
  t.after(() => connection.close());
  await prepareTables(connection, schema);
  return {
    look: new JournalLook({ schema, connection, reads: latestFormat, now: () => now }),
    write: async (number, times, format) => {
      const rows = times.map((time) => writtenRow({ now: time, previous: 0 }, [], format));
      await connection.run(
        {
          text: `INSERT INTO ${schema}.owner (number, name, version, tail, time) VALUES ($1, 'q' || $1::bigint, $2, 0, $3)`,
          values: [number, times.length, times.at(-1)],
        },
        {
          text: `INSERT INTO ${schema}.journal (number, version, id, changes, contents)
            SELECT $1, row_number() OVER (), 0, changes, '' FROM unnest($2::bytea[]) changes`,
          values: [number, rows],
        },
      );
    },
    record: async (number, version) => {
      await connection.run({
        text: `INSERT INTO ${schema}.checkpoint VALUES ($1, $2, 0, 0)`,
        values: [number, version],
      });
    },
  };
}

test('nothing is behind in an empty journal, nor when every row has become a record', async (t) => {
  const { look, write, record } = await open(t);
  await look.look();
  assert.equal(look.state?.pendingRows, 0);
  assert.equal(look.state?.lagMs, 0);
  await write(1, [now - 60_000]);
  await record(1, 1);
  await look.look();
  assert.equal(look.state?.pendingRows, 0);
  assert.equal(look.state?.lagMs, 0);
  assert.ok((look.state?.bytes ?? 0) > 0);
});

test('rows count from the first that is no record, and the lag is its age', async (t) => {
  const { look, write, record } = await open(t);
  await write(1, [now - 90_000, now - 60_000, now - 30_000]);
  await record(1, 1);
  await look.look();
  assert.deepEqual([look.state?.pendingRows, look.state?.lagMs], [2, 60_000]);
});

test('an owner that is stuck is found among many that are behind a little, in use or not', async (t) => {
  for (const isInUse of [true, false]) {
    const { look, write } = await open(t);
    for (let number = 1; number <= manyOwners; number += 1) {
      await write(number, [now - 1_000, now - 500]);
    }
    await write(manyOwners + 1, isInUse ? [now - 300_000, now - 200, now] : [now - 300_000]);
    await look.look();
    assert.equal(look.state?.lagMs, 300_000, `in use: ${isInUse}`);
  }
});

test('the time of a row that a later version wrote is not guessed', async (t) => {
  const { look, write } = await open(t);
  await write(1, [now - 60_000], latestFormat + 1);
  await look.look();
  assert.deepEqual([look.state?.pendingRows, look.state?.lagMs], [1, 0]);
});
