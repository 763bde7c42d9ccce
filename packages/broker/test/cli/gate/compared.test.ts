/**
 * What the gate compares with the base: the messages of samples that are the same, which change only with a new word in
 * the contract file, and the tests of producers, which do not disappear.
 */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import {
  base,
  contractFile,
  keys,
  orders,
  producer,
  program,
  Repository,
  registered,
} from './repository.ts';

const otherKeys = keys.replace("'order-'", "'order/'");

test('a changed key of an unchanged sample is shown, and needs a new word', (t) => {
  const repository = new Repository(t, base);
  repository.commit({ 'src/keys.ts': otherKeys });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 1);
  assert.match(out, /unchanged: message-changed\n.*dedupe_key: "order-1" → "order\/1"/);
  const word = contractFile({ breaking: 'keys follow the shop, #12' });
  repository.commit({ 'oncemq.contract.json': word });
  const excused = repository.gate('--base', 'main');
  assert.equal(excused.code, 0, excused.out);
  assert.match(excused.out, /2 messages of the same samples change: keys follow the shop, #12/);
});

test('the word of an earlier change excuses nothing', (t) => {
  const word = contractFile({ breaking: 'keys follow the shop, #12' });
  const repository = new Repository(t, { ...base, 'oncemq.contract.json': word });
  repository.commit({ 'src/keys.ts': otherKeys });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 1);
  assert.match(out, /message-changed/);
});

test('a changed sample and an added one may have any message', (t) => {
  const repository = new Repository(t, base);
  repository.commit({
    'src/keys.ts': otherKeys,
    'src/orders.producer.ts': producer("[{ id: '7' }, { id: '8' }, { id: '9' }]"),
  });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 0, out);
});

test('a program is compared by what it sends for the input that is still the same', (t) => {
  const repository = new Repository(t, registered);
  repository.commit({
    'producers/orders.mjs': program("'order/' + id"),
    'producers/orders.jsonl': '{"id":"2"}\n{"id":"3"}\n',
  });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 1);
  assert.match(out, /orders: compared in oncemq\.contract\.json, unchanged: message-changed/);
  assert.match(out, /dedupe_key: "order-2" → "order\/2"/);
  assert.doesNotMatch(out, /"order-1"|"order\/3" →/);
  const word = { ...orders, breaking: 'keys follow the shop, #12' };
  repository.commit({ 'oncemq.contract.json': contractFile({ producers: [word] }) });
  const excused = repository.gate('--base', 'main');
  assert.equal(excused.code, 0, excused.out);
  assert.match(excused.out, /1 messages? of the same samples change: keys follow the shop, #12/);
});

test('a message that is no longer sent is found, and one that cannot be compared is told', (t) => {
  const repository = new Repository(t, registered);
  repository.commit({
    'producers/orders.mjs': program().replace('.filter(Boolean)', '.filter(Boolean).slice(1)'),
  });
  assert.match(repository.gate('--base', 'main').out, /it is no longer sent/);
  repository.commit({ 'producers/orders.jsonl': '{"id":"8"}\n{"id":"9"}\n{"id":"10"}\n' });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 0, out);
  assert.match(out, /not compared with the base: no sample of its input is still the same/);
});

test('a base that does not run is no finding of the branch that mends it', (t) => {
  const repository = new Repository(t, {
    ...registered,
    'producers/orders.mjs': 'process.exit(1);\n',
  });
  repository.commit({ 'producers/orders.mjs': program() });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 0, out);
  assert.match(out, /not compared with the base: it cannot be run as it was at the base/);
});

test('nothing of the comparison is left behind', (t) => {
  const repository = new Repository(t, { ...base, ...registered });
  repository.commit({ 'src/keys.ts': otherKeys, 'producers/orders.mjs': program("'x' + id") });
  assert.equal(repository.gate('--base', 'main').code, 1);
  const left = readdirSync(repository.temporary).filter((name) =>
    /^oncemq-(base|input)-/.test(name),
  );
  assert.deepEqual(left, []);
});

test('a producer with fewer samples or without its test file fails', (t) => {
  const test = "import { orders } from './orders.producer.js';\n";
  const repository = new Repository(t, {
    ...base,
    'src/orders.producer.ts': producer("[{ id: '1' }, { id: '2' }, { id: '3' }]"),
    'src/check-keys.test.ts': test,
  });
  repository.commit({ 'src/orders.producer.ts': producer() });
  const fewer = repository.gate('--base', 'main');
  assert.equal(fewer.code, 1);
  assert.match(fewer.out, /tests: tests-deleted\n.*3 different samples at the base, 2 now/);
  repository.git('checkout', '-q', '-B', 'work', 'main');
  repository.git('rm', '-q', 'src/check-keys.test.ts');
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 1);
  assert.match(
    out,
    /src\/orders\.producer\.ts, tests: tests-deleted\n.*src\/check-keys\.test\.ts was deleted/,
  );
  repository.commit({ 'test/check-keys.test.ts': '// moved\n' });
  assert.equal(repository.gate('--base', 'main').code, 0);
});

test('a registered producer that loses its test, its input or its entry fails', (t) => {
  const repository = new Repository(t, {
    ...registered,
    'tests/test_orders.py': 'def test(): pass\n',
  });
  repository.git('rm', '-q', 'tests/test_orders.py');
  assert.match(
    repository.gate('--base', 'main').out,
    /tests: tests-deleted\n.*tests\/test_orders\.py was deleted/,
  );
  repository.git('checkout', '-q', '-f', '-B', 'work', 'main');
  repository.commit({ 'producers/orders.jsonl': '{"id":"1"}\n' });
  assert.match(repository.gate('--base', 'main').out, /2 lines of input at the base, 1 now/);
  repository.git('checkout', '-q', '-f', '-B', 'work', 'main');
  repository.commit({ 'oncemq.contract.json': '{}' });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 1);
  assert.match(out, /producer-unregistered\n.*orders is no longer in the contract file/);
  const renamed = { ...orders, name: 'purchases' };
  repository.commit({ 'oncemq.contract.json': contractFile({ producers: [renamed] }) });
  assert.equal(repository.gate('--base', 'main').code, 0);
});
