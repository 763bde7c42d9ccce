/**
 * Servers of one database have one kind of clock, and whatever else must be the same: one that differs from those that run is
 * told so and does not start. With nobody else there it may change it.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock, realClock, virtualClock } from '../../../src/server/clock.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { openPostgresBackend, type PostgresOptions } from '../../../src/storage/postgres/open.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';

let database: Promise<TestDatabase> | undefined;
const queue = 'jobs';
const clocks = {
  real: realClock,
  virtual: virtualClock,
  manual: () => manualClock(1_900_000_000_000),
};

type Open = (
  clock: keyof typeof clocks,
  settings?: PostgresOptions['settings'],
) => Promise<Backend>;

async function withServers(run: (open: Open) => Promise<void>): Promise<void> {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const place = { urls: [url], schema: newSchema() };
  const opened: Backend[] = [];
  try {
    await run(async (clock, settings = {}) => {
      const backend = await openPostgresBackend({ clock: clocks[clock]() }, { ...place, settings });
      opened.push(backend);
      return backend;
    });
  } finally {
    for (const backend of opened) await backend.close();
  }
}

test('a server with another kind of clock than those that run does not start', () =>
  withServers(async (open) => {
    const [first] = [await open('virtual'), await open('virtual')];
    for (const clock of ['real', 'manual'] as const) {
      await assert.rejects(
        open(clock),
        new RegExp(
          `^Error: other servers that use it have --clock virtual, and this one has --clock ${clock}: start all with the same, or stop the others first`,
        ),
      );
    }
    assert.ok((await first.run({ type: 'create-queue', queue })).ok, 'the others go on');
    await open('virtual');
  }));

test('when the others have stopped the clock can be another one, whose time goes on from theirs', () =>
  withServers(async (open) => {
    let time = 0;
    for (const clock of ['real', 'virtual', 'manual', 'virtual', 'real'] as const) {
      const backend = await open(clock);
      await backend.run({ type: 'create-queue', queue });
      if (clock !== 'real') await backend.advance(3_600_000);
      // The time of the latest change is kept, which is not before this.
      const changing = backend.now();
      await backend.run({ type: 'send', queue, isBatch: false, entries: [{ body: clock }] });
      assert.ok(backend.now() >= time, `${clock} goes back`);
      time = changing;
      // An hour or so, and no time that was mistaken for a distance.
      assert.ok(time < 1_900_000_000_000 + 86_400_000, `${clock} is far ahead`);
      await backend.close();
    }
  }));

test('whatever else differs is named', () =>
  withServers(async (open) => {
    await open('real', { profile: 'aws', region: 'eu' });
    await open('real', { profile: 'aws', region: 'eu' });
    await assert.rejects(
      open('real', { profile: 'yandex', region: 'ru' }),
      /have --profile aws --region eu, and this one has --profile yandex --region ru/,
    );
    await open('real', { profile: 'aws', region: 'eu', added: 'later' });
    await assert.rejects(open('real', { added: 'other' }), /have --added later/);
  }));
