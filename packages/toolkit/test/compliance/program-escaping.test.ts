/**
 * The keys of a program are compared over generated events. The programs here are functions from events to bodies, so that
 * each test can say exactly what the program does with what it is given.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ambiguousProgramKeys } from '@oncemq/toolkit';

type Row = Readonly<Record<string, unknown>>;

const rows: readonly Row[] = [
  { shop: 'north', id: 'o-1', week: 49, tags: ['a', 'b'], note: 'x' },
  { shop: 'south', id: 'o-2', week: 50, tags: ['c'], note: 'y' },
];

function body(key: string, payload: unknown = {}): string {
  return JSON.stringify({ event_source: 'kfm.test.rows', dedupe_key: key, payload });
}

/** A program that sends one message for each event, and how often it ran. */
function program(bodyOf: (row: Row) => string) {
  let runs = 0;
  const send = async (events: readonly unknown[]): Promise<readonly string[] | undefined> => {
    runs += 1;
    try {
      return events.map((event) => bodyOf(event as Row));
    } catch {
      return undefined;
    }
  };
  return { send, runs: () => runs };
}

async function found(send: Parameters<typeof ambiguousProgramKeys>[1]): Promise<string> {
  const result = await ambiguousProgramKeys(rows, send);
  return 'untried' in result
    ? result.untried
    : result.findings.map(({ code, text }) => `${code}: ${text}`).join('\n');
}

const bad: Readonly<Record<string, readonly [(row: Row) => string, RegExp]>> = {
  'a dash between two texts': [({ shop, id }) => `${shop}-${id}`, /shop and id|id and shop/],
  'nothing between two texts': [({ shop, id }) => `${shop}${id}`, /shop and id|id and shop/],
  'a text of several characters between them': [({ shop, id }) => `${shop} ~ ${id}`, /shop/],
  'a key in upper case, which does not show its values': [
    ({ shop, id }) => `${shop}_${id}`.toUpperCase(),
    /shop/,
  ],
  'a text and a number': [({ id, week }) => `${id}${week}`, /id and week|week and id/],
  'the elements of a list': [({ id, tags }) => JSON.stringify([id, String(tags)]), /tags/],
};
for (const [what, [key, fields]] of Object.entries(bad)) {
  test(`found: ${what}`, async () => {
    const { send, runs } = program((row) => body(key(row), row));
    const text = await found(send);
    assert.match(text, /^key-ambiguous: Two events that differ in /);
    assert.match(text, fields);
    assert.ok(runs() <= 24, String(runs()));
  });
}

const good: Readonly<Record<string, (row: Row) => string>> = {
  'a key with its parts encoded': ({ shop, id }) => JSON.stringify([shop, id]),
  'a key of one value': ({ id }) => `order-${id}`,
  'values that are not in the key': ({ id }) => String(id),
  'a separator that one of the values cannot have': ({ shop, id }) => {
    if (!/^o-\d+$/.test(String(id)) || /-/.test(String(shop))) throw new Error('refused');
    return `${shop}-${id}`;
  },
};
for (const [what, key] of Object.entries(good)) {
  test(`passes: ${what}`, async () => {
    assert.equal(await found(program((row) => body(key(row), row)).send), '');
  });
}

test('a program that refuses some events is asked for the others, in a bounded number of runs', async () => {
  // A separator of control characters is refused; the dash is still found.
  const { send, runs } = program((row) => {
    if (/\p{Cc}/u.test(JSON.stringify(Object.values(row).join()))) throw new Error('refused');
    if (String(row['note']).length > 1) throw new Error('refused');
    return body(`${row['shop']}-${row['id']}`, row);
  });
  assert.match(await found(send), /^key-ambiguous/);
  assert.ok(runs() <= 24, String(runs()));
});

test('nothing is concluded from messages in another order, or that do not show their values', async () => {
  const dash = program((row) => body(`${row['shop']}-${row['id']}`, row));
  let turn = 0;
  const shuffled = async (events: readonly unknown[]): Promise<readonly string[] | undefined> => {
    const bodies = [...((await dash.send(events)) ?? [])];
    turn += 1;
    // What was asked for first stays, so that the keys of the samples themselves are known.
    return turn === 1 ? bodies : bodies.reverse();
  };
  assert.equal(await found(shuffled), '');
  assert.equal(await found(program(({ shop, id }) => body(`${shop}-${id}`)).send), '');
});

test('it says why nothing was compared', async () => {
  assert.match(await found(async () => []), /does not send one message for each event/);
  assert.match(await found(async () => undefined), /does not send one message for each event/);
  const known = new Set(rows.map((row) => JSON.stringify(row)));
  const once = program((row) => body(`${row['shop']}-${row['id']}`, row));
  const alone = async (events: readonly unknown[]): Promise<readonly string[] | undefined> => {
    const isOwn = events.every((event) => known.has(JSON.stringify(event)));
    return isOwn || events.length === 1 ? once.send(events) : undefined;
  };
  const [row] = rows as [Row];
  const narrow = await ambiguousProgramKeys([{ shop: row['shop'], id: row['id'] }], alone);
  assert.ok(
    'untried' in narrow && /several in one run/.test(narrow.untried),
    JSON.stringify(narrow),
  );
});
