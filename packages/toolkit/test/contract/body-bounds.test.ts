/**
 * What a server judges of a message is bounded before its body is parsed: bytes and JSON values, whichever form or schema
 * its queue has. And what a schema says of unique items means the same as in JSON Schema, although it is compared faster.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { bodyValuesMax, messageBytesMax } from '../../src/contract/body-bounds.ts';
import type { Binding } from '../../src/contract/contract.ts';
import { readContract } from '../../src/contract/contract-file.ts';
import { compileSchema } from '../../src/contract/schemas.ts';

/** The bindings of two queues: one has the keyed form, the other any list or object. */
function bindings(t: TestContext): readonly Binding[] {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-bounds-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'contract.json');
  const queues = [
    { queue: 'keyed', contract: 'keyed' },
    { queue: 'schema', schema: { type: 'object' } },
  ];
  writeFileSync(file, JSON.stringify({ queues }));
  return readContract(file).queues;
}

function codeOf(binding: Binding, body: string): string {
  const judged = binding.judge({ body });
  return judged.ok ? 'ok' : judged.code;
}

test('a body of 10,000 values is judged, whatever its texts contain, and a larger one is refused', (t) => {
  // The body, its key, its list and its other member count too.
  const body = (count: number): string =>
    JSON.stringify({ dedupe_key: 'a', list: Array(count).fill(0), other: '[{,"\\' });
  for (const binding of bindings(t)) {
    assert.equal(codeOf(binding, body(bodyValuesMax - 4)), 'ok');
    assert.equal(codeOf(binding, body(bodyValuesMax + 1)), 'body-too-complex');
    const nested = `${'['.repeat(bodyValuesMax)}${']'.repeat(bodyValuesMax)}`;
    assert.equal(codeOf(binding, nested), 'body-too-complex');
    const objects = `[${'{},'.repeat(bodyValuesMax)}{}]`;
    assert.equal(codeOf(binding, objects), 'body-too-complex');
  }
});

test('a body larger than a message may be is refused by its size, also where a schema decides', (t) => {
  const body = JSON.stringify({ dedupe_key: 'a', text: 'x'.repeat(messageBytesMax) });
  for (const binding of bindings(t)) assert.equal(codeOf(binding, body), 'body-too-large');
});

test('a body that ends within a text or an escape is not JSON', (t) => {
  const [keyed, schema] = bindings(t) as [Binding, Binding];
  for (const body of ['{"a', '{"a\\', '"']) {
    assert.equal(codeOf(keyed, body), 'body-not-envelope');
    assert.equal(codeOf(schema, body), 'schema-violated');
  }
});

test('items are unique if no two are the same JSON value', () => {
  const findError = compileSchema({ type: 'array', uniqueItems: true });
  const unique = [
    '[]',
    '[1,"1",true,"true",null,"null"]',
    '[[1,2],[2,1],[[1],2],["1,2"]]',
    '[{"a":1},{"a":"1"},{"b":1},{"a":1,"b":1},{}]',
    '[{"a":{"b":1}},{"a":{"b":2}}]',
    '["a\\",\\"b","a"]',
  ];
  for (const text of unique) assert.equal(findError(JSON.parse(text)), undefined, text);
  const repeated = [
    '[1,1.0]',
    '[0,-0]',
    '["a","\\u0061"]',
    '[[1,[2]],[1,[2]]]',
    '[{"a":1,"b":[2]},{"b":[2],"a":1}]',
    '[{"__proto__":1},{"__proto__":1}]',
    '[null,null]',
  ];
  for (const text of repeated) {
    assert.equal(findError(JSON.parse(text))?.message, 'must NOT have duplicate items', text);
  }
  const either = compileSchema({ type: 'array', uniqueItems: false });
  assert.equal(either([1, 1]), undefined);
});
