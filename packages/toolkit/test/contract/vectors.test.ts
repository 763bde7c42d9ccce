/**
 * The test vectors of docs/contracts/vectors.json, which programs in any language can run: the toolkit holds them, and so
 * does the module of the Python example.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { canonicalText, sha256 } from '../../src/contract/canonical.ts';
import { readEnvelope } from '../../src/contract/envelope.ts';
import { derivedEventId } from '../../src/contract/event-id.ts';
import { type KeyPart, key } from '../../src/contract/keys.ts';
import { epochMsOf, isRfc3339 } from '../../src/contract/rfc3339.ts';

type Part = Partial<{
  string: string;
  number: number;
  bigint: string;
  boolean: boolean;
  date: string;
}>;

interface Vectors {
  readonly canonical: readonly { value: unknown; text: string }[];
  readonly numbers: readonly { ieee754: string; text: string }[];
  readonly keys: readonly { parts: readonly Part[]; key: string }[];
  readonly event_ids: readonly { source: string; key: string; time: string; event_id: string }[];
  readonly times: {
    readonly valid: readonly { time: string; epoch_ms: number }[];
    readonly invalid: readonly string[];
  };
  readonly bodies: readonly { body: string; sha256?: string; notes?: string[]; refused?: string }[];
}

const root = new URL('../../../../../', import.meta.url);
const file = fileURLToPath(new URL('docs/contracts/vectors.json', root));
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vectors;

function partOf({ string, number, bigint, boolean, date }: Part): KeyPart {
  if (bigint !== undefined) return BigInt(bigint);
  if (date !== undefined) return new Date(date);
  return (string ?? number ?? boolean) as KeyPart;
}

test('canonical texts and numbers are those of the vectors', () => {
  const textOf = (value: unknown): string | undefined => {
    const canonical = canonicalText(value);
    return canonical.ok ? canonical.text : undefined;
  };
  for (const { value, text } of vectors.canonical) assert.equal(textOf(value), text);
  for (const { ieee754, text } of vectors.numbers) {
    assert.equal(textOf(Buffer.from(ieee754, 'hex').readDoubleBE(0)), text, ieee754);
  }
});

test('keys are those of the vectors, and all of them differ', () => {
  for (const { parts, key: expected } of vectors.keys) {
    assert.equal(key(...(parts.map(partOf) as [KeyPart])), expected);
  }
  assert.equal(new Set(vectors.keys.map((each) => each.key)).size, vectors.keys.length);
});

test('derived event ids are those of the vectors', () => {
  for (const { time, event_id: expected, ...event } of vectors.event_ids) {
    assert.equal(derivedEventId({ ...event, timeMs: epochMsOf(time) }), expected);
  }
});

test('times are taken and refused as the vectors say', () => {
  for (const { time, epoch_ms: expected } of vectors.times.valid) {
    assert.equal(isRfc3339(time), true, time);
    assert.equal(epochMsOf(time), expected, time);
  }
  for (const time of vectors.times.invalid) assert.equal(isRfc3339(time), false, time);
});

test('bodies are taken and refused as the vectors say', () => {
  for (const { body, refused, notes, sha256: digest } of vectors.bodies) {
    const read = readEnvelope(body);
    assert.equal(read.ok ? undefined : read.code, refused, body);
    if (read.ok)
      assert.deepEqual([read.notes.map(({ code }) => code), sha256(body)], [notes, digest]);
  }
});

test('the Python example holds the vectors', (t) => {
  const module = fileURLToPath(new URL('examples/06-verify-python/contract.py', root));
  const { status, stdout, stderr, error } = spawnSync('python3', [module, file], {
    encoding: 'utf8',
  });
  const isMissing = (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
  if (isMissing) return t.skip('python3 is not installed');
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^\d{3} test vectors hold/);
});
