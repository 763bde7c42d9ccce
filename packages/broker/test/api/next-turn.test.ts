/**
 * Work in pieces gives way to others: however many wait, one piece is done in a turn of the event loop, and answers of megabytes
 * are made one after another, so that what they hold meanwhile is bounded.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LargeAnswers } from '../../src/api/large-answers.ts';
import { nextTurn } from '../../src/api/next-turn.ts';

test('of all that wait for a turn, one goes on in each, and those that came first go first', async () => {
  const done: string[] = [];
  const work = async (name: string): Promise<void> => {
    for (let piece = 1; piece <= 3; piece += 1) {
      await nextTurn();
      done.push(`${name}${piece}`);
    }
  };
  const all = Promise.all([work('a'), work('b'), work('c')]);
  for (let count = 1; count <= 9; count += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(done.length <= count, `${done}`);
  }
  await all;
  assert.equal(done.join(' '), 'a1 b1 c1 a2 b2 c2 a3 b3 c3');
});

test('large answers are made one after another, also after one that failed', async () => {
  const answers = new LargeAnswers();
  const events: string[] = [];
  const make = (name: string) => async (): Promise<string> => {
    events.push(`${name} begins`);
    await nextTurn();
    events.push(`${name} ends`);
    if (name === 'bad') throw new Error(name);
    return name;
  };
  const made = ['bad', 'good'].map((name) => answers.make(1, make(name)));
  await assert.rejects(async () => made[0], /bad/);
  assert.equal(await made[1], 'good');
  assert.deepEqual(events, ['bad begins', 'bad ends', 'good begins', 'good ends']);
});

test('what large answers hold until they are made is bounded', async () => {
  const answers = new LargeAnswers();
  const half = 128 * 1024 * 1024;
  const first = answers.make(half, async () => 1);
  const second = answers.make(half, async () => 2);
  assert.equal(
    answers.make(1, async () => 3),
    undefined,
  );
  assert.deepEqual(await Promise.all([first, second]), [1, 2]);
  assert.equal(await answers.make(half, async () => 4), 4);
});
