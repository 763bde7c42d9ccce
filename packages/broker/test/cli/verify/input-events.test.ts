/**
 * The events in the input of a program are found in lines and in lists, other events are written in the same form, and input
 * of any other form has none.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputEvents } from '../../../src/cli/verify/input-events.ts';

test('objects on lines and in a list are events, and others are written in the same form', () => {
  const lines = inputEvents('{"a":1}\n\n{"a":2}\n');
  assert.deepEqual(lines?.events, [{ a: 1 }, { a: 2 }]);
  assert.equal(lines?.write([{ b: 1 }, { b: 2 }]), '{"b":1}\n{"b":2}\n');
  const list = inputEvents('[\n  {"a":1}\n]\n');
  assert.deepEqual(list?.events, [{ a: 1 }]);
  assert.equal(list?.write([{ b: 1 }]), '[{"b":1}]\n');
});

test('other input has no events', () => {
  for (const text of ['', 'a,b\n1,2\n', '1\n2\n', '[1]', '[]', '{\n"a":1\n}', '{"a":1}\nend\n']) {
    assert.equal(inputEvents(text), undefined, text);
  }
});
