/**
 * Tests of the compliance tests: a good producer passes all of them, and each kind of mistake is found by the check for
 * it, with the real AWS client on a server whose clock is moved.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkProducer, complianceChecks } from '../../src/compliance/checks.ts';
import { judgeRuns } from '../../src/compliance/judge-runs.ts';
import { queueUnderTest } from '../../src/compliance/queue-under-test.ts';
import { type AnyProducer, defineProducer } from '../../src/producer/define-producer.ts';
import { landsat, type Scene, scene, scenes } from '../support/landsat.ts';
import { type OpenQueue, openQueue } from '../support/server.ts';

function underTest({ client, queueUrl, server: { clock } }: OpenQueue) {
  return queueUnderTest({ client, queueUrl, clock });
}

async function codesOf(queue: OpenQueue, producer: AnyProducer): Promise<Record<string, string[]>> {
  const results = await checkProducer({ producer, queue: underTest(queue) });
  return Object.fromEntries(
    results
      .filter(({ findings }) => findings.length > 0)
      .map(({ check, findings }) => [check, [...new Set(findings.map(({ code }) => code))]]),
  );
}

describe('a good producer passes', () => {
  for (const { name, title, run } of complianceChecks) {
    test(`${name}: ${title}`, async (t) => {
      const queue = underTest(await openQueue(t));
      assert.deepEqual(await run({ producer: landsat(), queue }), []);
    });
  }

  test('also with random event ids, which it keeps and replays', async (t) => {
    assert.deepEqual(await codesOf(await openQueue(t), landsat({ eventId: 'random' })), {});
  });

  test('also with the maximum number of attributes', async (t) => {
    const names = Array.from({ length: 10 }, (_, index) => [`name${index}`, 'x']);
    const producer = landsat({ attributes: () => Object.fromEntries(names) });
    assert.deepEqual(await codesOf(await openQueue(t), producer), {});
  });

  test('also with a message that leaves no room for another attribute', async (t) => {
    const bytes = Buffer.byteLength(landsat().message({ ...scene, tile: '' }).body);
    const tile = 'x'.repeat(1_000);
    const payload = (event: Scene) =>
      event.tile === tile ? { ...event, tile: 'y'.repeat(2 ** 20 - bytes - 1_000) } : event;
    const producer = landsat({ payload, samples: [{ ...scene, tile }, scene] });
    assert.equal(Buffer.byteLength(producer.message({ ...scene, tile }).body), 2 ** 20);
    assert.deepEqual(await codesOf(await openQueue(t), producer), {});
  });

  test('also when its samples differ only deep inside', async (t) => {
    const deep = (id: string) => ({ a: { b: { c: { d: { id } } } } });
    const producer = defineProducer<ReturnType<typeof deep>>({
      source: 'kfm.a.b',
      dedupeKey: (event) => event.a.b.c.d.id,
      eventTime: () => 0,
      samples: [deep('1'), deep('2')],
    });
    assert.deepEqual(await codesOf(await openQueue(t), producer), {});
  });

  test('also when each message carries its own trace', async (t) => {
    let spans = 0;
    const traceparent = (): string => `00-5b8efff798038103d269b633813fc60c-${++spans}-01`;
    const producer = landsat({
      attributes: () => ({ traceparent: traceparent() }),
      samples: [...scenes(2), { ...(scenes(1)[0] as Scene) }],
    });
    assert.deepEqual(await codesOf(await openQueue(t), producer), {});
  });
});

test('no check passes for a producer without samples or a program that sends nothing', async (t) => {
  const queue = underTest(await openQueue(t));
  const unproven = await checkProducer({ producer: landsat({ samples: [] }), queue });
  const none = { messages: [], duplicates: [] };
  const silent = judgeRuns({ first: none, replay: none, afterWindow: none });
  for (const results of [unproven, silent]) {
    assert.deepEqual(
      results.map(({ check, findings }) => [check, findings.length]),
      [['envelope', 1]],
    );
  }
});

describe('a bad producer is found', () => {
  let attempts = 0;
  const day = scene.day;
  const tag = (event: Scene): Record<string, string> => ({ region: event.tile });
  const cases: readonly (readonly [string, AnyProducer, Record<string, string[]>])[] = [
    ['no samples', landsat({ samples: [] }), { envelope: ['samples-missing'] }],
    [
      'the same sample twice',
      landsat({ samples: [scene, { ...scene }] }),
      { envelope: ['samples-missing'] },
    ],
    [
      'a sample that it refuses',
      landsat({ samples: [...scenes(2), { tile: 'x', day: 'yesterday' }] }),
      { envelope: ['time-invalid'] },
    ],
    [
      'a sample that makes it throw',
      landsat({
        dedupeKey: ({ tile }) => {
          if (tile === '') throw new Error('no tile');
          return tile;
        },
        samples: [...scenes(2), { ...scene, tile: '' }],
      }),
      { envelope: ['sample-failed'] },
    ],
    [
      'an undefined sample',
      landsat({ samples: [...scenes(2), undefined as unknown as Scene] }),
      { envelope: ['event-missing'] },
    ],
    ['a body too large', landsat({ sizeBytesMax: 100 }), { size: ['body-too-large'] }],
    [
      'the time of sending in the payload',
      landsat({ payload: (event) => ({ ...event, day: new Date().toISOString() }) }),
      { determinism: ['not-deterministic'], 'replay-window': ['replay-not-suppressed'] },
    ],
    [
      'a random number in the payload',
      landsat({ payload: (event) => ({ ...event, nonce: Math.random() }) }),
      { determinism: ['not-deterministic'], 'replay-window': ['replay-not-suppressed'] },
    ],
    [
      'the time of sending in the key',
      landsat({ dedupeKey: ({ tile }) => `${tile} ${new Date().getUTCDate()}` }),
      {
        determinism: ['not-deterministic'],
        'replay-window': ['replay-not-suppressed', 'inbox-missed'],
      },
    ],
    [
      'the attempt in the key',
      landsat({ dedupeKey: () => String(++attempts) }),
      { envelope: ['key-not-deterministic'], determinism: ['key-not-deterministic'] },
    ],
    [
      'a key joined by hand',
      landsat({ dedupeKey: ({ tile, day }) => `${day}-${tile}`, eventTime: () => 0 }),
      { escaping: ['key-ambiguous'] },
    ],
    [
      'a key without a separator between its parts',
      landsat({ dedupeKey: ({ tile, day }) => day + tile, eventTime: () => 0 }),
      { escaping: ['key-ambiguous'] },
    ],
    [
      'a key that omits what differs',
      landsat({ dedupeKey: ({ day }) => day }),
      { 'hash-behavior': ['key-shared'] },
    ],
    [
      'uniqueness in an attribute',
      landsat({ dedupeKey: () => 'one', payload: () => ({ tile: 'one', day }), attributes: tag }),
      { 'attribute-ignorance': ['attributes-decide'] },
    ],
  ];
  for (const [what, producer, expected] of cases) {
    test(what, async (t) => {
      const codes = await codesOf(await openQueue(t), producer);
      assert.deepEqual(codes, expected);
    });
  }
});

test('a queue that deduplicates for too long is found as well', async (t) => {
  const lasting = await openQueue(t, { DeduplicationIntervalSeconds: '3600' });
  assert.deepEqual(await codesOf(lasting, landsat()), {
    'replay-window': ['event-suppressed', 'not-delivered-again'],
  });
});
