/**
 * What every inbox promises: one effect per event, for as long as the event is remembered, with any number of concurrent
 * handlers; and that a reused key is never taken for a duplicate.
 */

import assert from 'node:assert/strict';
import type { Inbox, InboxEvent, InboxOptions } from '../inbox/inbox.ts';
import type { StoreCheck } from './store-check.ts';

/** Opens a new, empty inbox. `now` has to decide about expiry. */
export type InboxUnderTest = (options: InboxOptions) => Promise<Inbox<unknown>>;

const dayMs = 86_400_000;
const concurrent = 8;
/**
 * When the checks of expiry begin: the year 2100. A store may also remove by its own clock what has expired, as DynamoDB's time
 * to live does, and what these checks keep must never look expired to it.
 */
const start = 4_102_444_800_000;

function event(key: string, digest = 'd1', source = 'orders'): InboxEvent {
  return { source, key, digest: digest.padEnd(64, '0') };
}

async function nothing(): Promise<void> {}

async function fail(): Promise<void> {
  assert.fail('the effect took place again');
}

export function inboxChecks(open: InboxUnderTest): StoreCheck[] {
  return [
    {
      name: 'an effect takes place once for each event',
      run: async () => {
        const inbox = await open({});
        const effects: string[] = [];
        const effect = (name: string) => async (): Promise<void> => void effects.push(name);
        assert.equal(await inbox.once(event('a'), effect('first')), 'done');
        assert.equal(await inbox.once(event('a'), effect('second')), 'duplicate');
        assert.equal(await inbox.once(event('b'), effect('other')), 'done');
        assert.deepEqual(effects, ['first', 'other']);
      },
    },
    {
      name: 'a known key with another body is a conflict, and nothing takes place',
      run: async () => {
        const inbox = await open({});
        assert.equal(await inbox.once(event('a'), nothing), 'done');
        assert.equal(await inbox.once(event('a', 'd2'), fail), 'conflict');
        assert.equal(await inbox.once(event('a'), fail), 'duplicate');
      },
    },
    {
      name: 'the same key of another source is another event',
      run: async () => {
        const inbox = await open({});
        assert.equal(await inbox.once(event('a'), nothing), 'done');
        assert.equal(await inbox.once(event('a', 'd2', 'prices'), nothing), 'done');
      },
    },
    {
      name: 'an effect that fails has not taken place',
      run: async () => {
        const inbox = await open({});
        const failing = inbox.once(event('a'), async () => {
          throw new Error('the disk is full');
        });
        await assert.rejects(failing, /the disk is full/);
        assert.equal(await inbox.once(event('a'), nothing), 'done');
      },
    },
    {
      name: 'of concurrent calls with one event, one has the effect',
      run: async () => {
        const inbox = await open({});
        let effects = 0;
        const outcomes = await Promise.all(
          Array.from({ length: concurrent }, () =>
            inbox.once(event('a'), async () => {
              effects += 1;
              await new Promise((resolve) => setImmediate(resolve));
            }),
          ),
        );
        assert.equal(effects, 1);
        assert.equal(outcomes.filter((outcome) => outcome === 'done').length, 1);
        for (const outcome of outcomes) assert.notEqual(outcome, 'conflict');
      },
    },
    {
      name: 'an event is remembered for as long as asked, and no longer',
      run: async () => {
        let time = start;
        const inbox = await open({ now: () => time, keepMs: 30 * dayMs });
        assert.equal(await inbox.once(event('a'), nothing), 'done');
        time += 30 * dayMs - 1;
        assert.equal(await inbox.once(event('a'), fail), 'duplicate');
        time += 1;
        assert.equal(await inbox.once(event('a'), nothing), 'done');
      },
    },
    {
      name: 'an event can be remembered forever',
      run: async () => {
        let time = start;
        const inbox = await open({ now: () => time, keepMs: Number.POSITIVE_INFINITY });
        assert.equal(await inbox.once(event('a'), nothing), 'done');
        time += 1_000 * dayMs;
        assert.equal(await inbox.once(event('a'), fail), 'duplicate');
      },
    },
    {
      name: 'an invalid retention time is refused',
      run: async () => {
        for (const keepMs of [0, -1, Number.NaN]) {
          await assert.rejects(async () => open({ keepMs }), /keepMs/);
        }
      },
    },
    {
      name: 'any key that an envelope may have is recognized',
      run: async () => {
        const inbox = await open({});
        const wide = Array.from({ length: 1_024 }, (_, index) =>
          String.fromCodePoint(0x20000 + ((index * 7_919) % 40_000)),
        ).join('');
        for (const key of [wide, `${wide.slice(0, -2)}a`, 'a\0b', 'a\0c', '__proto__', '']) {
          assert.equal(await inbox.once(event(key), nothing), 'done');
          assert.equal(await inbox.once(event(key), fail), 'duplicate');
        }
      },
    },
  ];
}
