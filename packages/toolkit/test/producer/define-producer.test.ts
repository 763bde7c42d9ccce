/**
 * What a producer makes of an event, and what it refuses. Each refusal has a code, a text and a place in the
 * documentation; the last test checks that the place exists.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { sha256 } from '../../src/contract/canonical.ts';
import { defaultContract } from '../../src/contract/contract.ts';
import { checkEnvelope, readEnvelope } from '../../src/contract/envelope.ts';
import { key } from '../../src/contract/keys.ts';
import { checkMessage } from '../../src/contract/message.ts';
import { ContractError, refusalTexts } from '../../src/contract/refusals.ts';
import { defineProducer, isProducer } from '../../src/producer/define-producer.ts';
import { landsat, type Scene, scene } from '../support/landsat.ts';

test('an event becomes an envelope of exactly five members', () => {
  const envelope = landsat().envelope(scene);
  assert.equal(checkEnvelope(envelope), undefined);
  assert.deepEqual(envelope, {
    event_id: envelope.event_id,
    event_source: 'kfm.remote-sensing.landsat-refresh',
    event_time: '2025-12-04T00:00:00Z',
    dedupe_key: 'landsat/p32r29/2025-12-04',
    payload: scene,
  });
});

test('an event always gives the same body, also from another producer of the same definition', () => {
  const { body } = landsat().message(scene);
  assert.equal(landsat().message({ ...scene }).body, body);
  const reordered = { cloud: 0.25, day: '2025-12-04', tile: 'p32r29' };
  assert.equal(sha256(landsat().message(reordered).body), sha256(body));
});

test('a derived event id begins with the time of the event, and differs by key and source', () => {
  const id = landsat().envelope(scene).event_id;
  assert.equal(Number.parseInt(id.replace('-', '').slice(0, 12), 16), Date.parse('2025-12-04'));
  assert.notEqual(landsat().envelope({ ...scene, tile: 'p1r1' }).event_id, id);
  assert.notEqual(landsat({ source: 'kfm.remote-sensing.other' }).envelope(scene).event_id, id);
});

test('a random event id differs for each envelope', () => {
  const producer = landsat({ eventId: 'random' });
  assert.notEqual(producer.envelope(scene).event_id, producer.envelope(scene).event_id);
  assert.equal(checkEnvelope(producer.envelope(scene)), undefined);
});

test('the namespace can be set', () => {
  const producer = landsat({ source: 'acme.parts.prices', namespace: 'acme' });
  assert.equal(producer.envelope(scene).event_source, 'acme.parts.prices');
});

test('times may be strings, dates or milliseconds', () => {
  // Jest runs tests in a separate realm with its own Date.
  const dateOfAnotherRealm = runInNewContext('new Date(0)') as Date;
  for (const eventTime of [new Date(0), dateOfAnotherRealm, 0]) {
    assert.equal(
      landsat({ eventTime: () => eventTime }).envelope(scene).event_time,
      '1970-01-01T00:00:00.000Z',
    );
  }
});

test('a reader refuses times that RFC 3339 does not have, such as those of PostgreSQL', () => {
  const event_time = '2025-12-04 00:00:00+00';
  assert.equal(checkEnvelope({ ...landsat().envelope(scene), event_time })?.code, 'time-invalid');
});

test('attributes may have the names that SQS allows', () => {
  const attributes = { 'größe.in-km_2': '7', awsome: 'x', ['n'.repeat(256)]: '\t😀' };
  assert.deepEqual(landsat({ attributes: () => attributes }).message(scene).attributes, attributes);
});

test('a leap second is a time, and the event id has it as the second before', () => {
  const of = (eventTime: string): string =>
    landsat({ eventTime: () => eventTime }).envelope(scene).event_id;
  assert.equal(of('1990-12-31T23:59:60Z'), of('1990-12-31T23:59:59Z'));
});

test('a producer is recognized as one, and nothing else is', () => {
  assert.ok(isProducer(landsat()));
  assert.ok(!isProducer({ source: 'kfm.a.b' }));
  assert.ok(!isProducer(undefined));
});

describe('what the contract forbids is refused with its code', () => {
  let calls = 0;
  const cases: readonly (readonly [string, string, ReturnType<typeof landsat>])[] = [
    ['an empty key', 'key-missing', landsat({ dedupeKey: () => ' ' })],
    ['no key', 'key-missing', landsat({ dedupeKey: () => undefined as unknown as string })],
    [
      'a key that is a promise',
      'key-invalid',
      landsat({ dedupeKey: (async () => 'a') as unknown as () => string }),
    ],
    [
      'a key that is a rejected promise',
      'key-invalid',
      landsat({ dedupeKey: (() => Promise.reject(new Error('no'))) as unknown as () => string }),
    ],
    ['a key that is a number', 'key-invalid', landsat({ dedupeKey: () => 7 as unknown as string })],
    [
      'a payload that is a Map',
      'value-not-canonical',
      landsat({ payload: () => new Map() as unknown as Scene }),
    ],
    ['a key with a counter', 'key-not-deterministic', landsat({ dedupeKey: () => `${++calls}` })],
    ['a key too long', 'key-invalid', landsat({ dedupeKey: () => 'x'.repeat(1025) })],
    ['a time in another format', 'time-invalid', landsat({ eventTime: () => '04.12.2025' })],
    ['an impossible date', 'time-invalid', landsat({ eventTime: () => '2025-02-30T00:00:00Z' })],
    [
      'not a number',
      'number-not-canonical',
      landsat({ payload: () => ({ ...scene, cloud: Number.NaN }) }),
    ],
    [
      'an id beyond 2^53',
      'number-not-canonical',
      landsat({ payload: () => ({ ...scene, cloud: 2 ** 53 + 2 }) }),
    ],
    [
      'a lone surrogate',
      'value-not-canonical',
      landsat({ payload: () => ({ ...scene, tile: '\ud800' }) }),
    ],
    [
      'a noncharacter',
      'value-not-canonical',
      landsat({ payload: () => ({ ...scene, tile: 'a\uffff' }) }),
    ],
    [
      'a payload that violates its schema',
      'payload-invalid',
      landsat({ schema: { required: ['orbit'] } }),
    ],
    ['a list as payload', 'body-not-envelope', landsat({ payload: () => [] as unknown as Scene })],
    [
      'a payload that a function forgot to return',
      'body-not-envelope',
      landsat({ payload: (() => undefined) as unknown as () => Scene }),
    ],
    ['no time', 'time-invalid', landsat({ eventTime: () => null as unknown as string })],
    [
      'an offset of hours only',
      'time-invalid',
      landsat({ eventTime: () => '2025-12-04T00:00:00+00' }),
    ],
    [
      'an undefined part of the key',
      'key-invalid',
      landsat({ dedupeKey: () => key('landsat', undefined as unknown as string) }),
    ],
    ['a group with a space', 'group-invalid', landsat({ groupId: () => 'a b' })],
    ['a group that is a number', 'group-invalid', landsat({ groupId: () => 5 as never })],
    ['no group', 'group-invalid', landsat({ groupId: () => undefined as never })],
    ...[
      null,
      Promise.resolve({}),
      { cloud: 5 },
      { cloud: undefined },
      { cloud: '' },
      { cloud: '\u0001' },
      { 'a b': 'x' },
      { 'AWS.x': 'x' },
      { 'a..b': 'x' },
      Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`a${index}`, 'x'])),
    ].map(
      (attributes) =>
        [
          `${inspect(attributes, { breakLength: Number.POSITIVE_INFINITY }).slice(0, 30)} as attributes`,
          'attributes-invalid',
          landsat({ attributes: () => attributes as never }),
        ] as const,
    ),
    [
      'a body too large',
      'body-too-large',
      landsat({ payload: () => ({ ...scene, tile: 'x'.repeat(2 ** 20) }) }),
    ],
    [
      'a value only in attributes',
      'value-only-in-attributes',
      landsat({ attributes: () => ({ aoi_key: 'a7' }) }),
    ],
    [
      'a critical value only in attributes',
      'value-only-in-attributes',
      landsat({ critical: ['orbit'], attributes: () => ({ orbit: '7' }) }),
    ],
  ];
  for (const [what, code, producer] of cases) {
    test(`${what} is ${code}`, () => {
      const refusal = producer.check(scene);
      assert.equal(!refusal.ok && refusal.code, code);
      assert.throws(() => producer.message(scene), ContractError);
    });
  }

  test('a missing event is event-missing', () => {
    for (const event of [null, undefined]) {
      const given = event as unknown as Scene;
      assert.throws(
        () => landsat().envelope(given),
        (error) => error instanceof ContractError && error.code === 'event-missing',
      );
    }
  });

  test('a key that is a promise is reported as such', () => {
    const dedupeKey = (async () => 'a') as unknown as () => string;
    assert.throws(
      () => landsat({ dedupeKey }).message(scene),
      /The dedupe_key is a promise; .*async/,
    );
  });

  test('a bad source name is source-invalid when the producer is defined', () => {
    for (const source of ['landsat', 'kfm.landsat', 'acme.remote.landsat', 'kfm.Remote.landsat']) {
      assert.throws(
        () => defineProducer({ source, dedupeKey: () => 'a', eventTime: () => 0 }),
        (error) => error instanceof ContractError && error.code === 'source-invalid',
      );
    }
  });

  test('a source of another namespace is refused with a hint, and accepted once the namespace is set', () => {
    const options = { source: 'acme.shop.orders', dedupeKey: () => 'a', eventTime: () => 0 };
    assert.throws(() => defineProducer(options), /digits, - and _; or set namespace to "acme"\. /);
    assert.throws(
      () => defineProducer({ ...options, source: 'kfm.Shop.orders' }),
      /digits, - and _\. /,
    );
    assert.doesNotThrow(() => defineProducer({ ...options, namespace: 'acme' }));
  });
});

describe('messages made elsewhere are held to the same rules', () => {
  const { body } = landsat().message(scene);
  const code = (...given: Parameters<typeof checkMessage>): string | undefined => {
    const result = checkMessage(...given);
    return result.ok ? undefined : result.code;
  };

  test('the forbidden pattern is named', () => {
    const attributes = { unique_key: 'landsat-2025-12-04T00:00Z' };
    const forbidden = { body: '{"collection":"landsat","tile":"p32r29"}', attributes };
    assert.equal(code(forbidden), 'key-only-in-attributes');
    assert.equal(code({ body, attributes }), 'value-only-in-attributes');
  });

  test('attributes that route, trace or repeat the body are allowed', () => {
    const attributes = {
      priority: 'high',
      trace_id: 'abc',
      tile_id: 'p32r29',
      day_key: '2025-12-04',
    };
    assert.equal(code({ body, attributes }), undefined);
  });

  test('a value counts as part of the key only as a whole number or word', () => {
    const of = (version: string) => code({ body, attributes: { version } });
    for (const version of ['p32r29', '2025', '2025-12-04', 'landsat/p32r29']) {
      assert.equal(of(version), undefined, version);
    }
    for (const version of ['2', '025', 'land']) {
      assert.equal(of(version), 'value-only-in-attributes', version);
    }
  });

  test('any value of a member is judged without an exception', () => {
    const envelope = JSON.parse(body) as Record<string, unknown>;
    const values: unknown[] = [{ toString: 1 }, [], [[]], {}, null, true, 5, '', ' '];
    for (const member of Object.keys(envelope).filter((name) => name !== 'payload')) {
      for (const value of values) {
        const read = readEnvelope(JSON.stringify({ ...envelope, [member]: value }));
        assert.equal(read.ok, false, `${member} ${JSON.stringify(value)}`);
      }
    }
  });

  test('an explicit id is allowed if it is the key, its hash or the hash of the body', () => {
    const key = 'landsat/p32r29/2025-12-04';
    for (const deduplicationId of [key, sha256(key), sha256(body)]) {
      assert.equal(code({ body, deduplicationId }), undefined);
    }
    assert.equal(code({ body, deduplicationId: 'attempt-1' }), 'deduplication-id-contradicts');
  });

  test('an event id of another version is noted, and refused by a strict contract', () => {
    const other = body.replace(/-7([0-9a-f]{3}-)/, '-4$1');
    const upper = body.replace(/"event_id":"[^"]*"/, (found) =>
      found.toUpperCase().replace('EVENT_ID', 'event_id'),
    );
    const contract = { ...defaultContract, strict: true };
    for (const changed of [other, upper]) {
      const checked = checkMessage({ body: changed });
      assert.deepEqual(checked.ok && checked.notes.map((note) => note.code), ['event-id-not-v7']);
      assert.equal(code({ body: changed }, { contract }), 'event-id-invalid');
    }
    assert.equal(code({ body }, { contract }), undefined);
    assert.equal(code({ body: body.replace(/-7([0-9a-f]{3}-)/, '-$1') }), 'event-id-invalid');
  });

  test('a body nested as deeply as it is long is judged without an exception', () => {
    const deep = `${'['.repeat(9_000)}${']'.repeat(9_000)}`;
    const nested = body.replace('"payload":{', `"payload":{"deep":${deep},`);
    assert.equal(code({ body: nested, attributes: { scene_id: 'x' } }), 'value-only-in-attributes');
  });
});

test('each refusal has a section in the documentation', () => {
  const page = readFileSync(
    new URL('../../../../../docs/contracts/producer-requirements.md', import.meta.url),
    'utf8',
  );
  for (const code of Object.keys(refusalTexts))
    assert.match(page, new RegExp(`^### ${code}$`, 'm'));
});
