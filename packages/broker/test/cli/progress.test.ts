/**
 * How a long command says how far it is: a bar that is redrawn in a terminal, a line a second elsewhere.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Progress } from '../../src/cli/progress.ts';

function watched(terminal: { isTTY?: boolean; columns?: number }): {
  readonly progress: Progress;
  readonly written: string[];
  /** A step at this time. */
  readonly at: (ms: number, done: number, stage?: string) => void;
} {
  let now = 0;
  const written: string[] = [];
  const output = { ...terminal, write: (text: string) => written.push(text) };
  const progress = new Progress(output, () => now);
  const at = (ms: number, done: number, stage = 'copying'): void => {
    now = ms;
    progress.tell({ stage, done, total: 4_000 });
  };
  return { progress, written, at };
}

test('where nobody looks, there is one line a second, with what is left', () => {
  const { progress, written, at } = watched({});
  for (let ms = 0; ms <= 2_500; ms += 100) at(ms, ms);
  progress.end();
  assert.deepEqual(written, [
    'copying 25 % (1,000 of 4,000, 3 s left)\n',
    'copying 50 % (2,000 of 4,000, 2 s left)\n',
  ]);
});

test('a terminal has a bar as wide as it has room for, which is complete at the end', () => {
  const { progress, written, at } = watched({ isTTY: true, columns: 60 });
  at(0, 0);
  at(50, 1_000);
  at(1_000, 2_000);
  at(1_010, 4_000);
  at(1_020, 1_000, 'verifying');
  progress.end();
  assert.deepEqual(written, [
    `\r[${'.'.repeat(32)}] copying 0 % (0 of 4,000)\u001B[K`,
    `\r[#########........] copying 50 % (2,000 of 4,000, 1 s left)\u001B[K`,
    `\r[${'#'.repeat(26)}] copying 100 % (4,000 of 4,000)\u001B[K`,
    '\n',
    `\r[######...................] verifying 25 % (1,000 of 4,000)\u001B[K`,
    '\n',
  ]);
});
