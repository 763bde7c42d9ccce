/**
 * Tables that people read in a terminal, with untrusted text in them. The content of a body must not reach the terminal as
 * a control code.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../../src/cli/table.ts';

test('columns are as wide as their widest cell, without trailing spaces', () => {
  assert.equal(table(['id', 'body'], [['message-1', 'x']]), 'id         body\nmessage-1  x');
});

test('terminal control codes are shown instead of sent', () => {
  const rows = [['\u001b]0;title\u0007', '\u009b31m', 'a\u202eb', 'héllo →']];
  assert.equal(
    table(['a', 'b', 'c', 'd'], rows).split('\n')[1],
    '\\u001b]0;title\\u0007  \\u009b31m  a\\u202eb  héllo →',
  );
});
