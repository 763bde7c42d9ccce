/**
 * Cost-allocation tags of a queue: how they are added, overwritten and removed, and which characters they may have. They
 * have no effect.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '../../src/core/commands.ts';
import { accepted, assertRefused, openEngine, openQueue, type TestQueue } from './fixture.ts';

type Tags = Readonly<Record<string, string>>;

function tryTag(queue: TestQueue, tags: Tags): Outcome<'tag-queue'> {
  return queue.home.apply({ type: 'tag-queue', queue: queue.name, tags });
}

function tagged(queue: TestQueue, tags: Tags): TestQueue {
  accepted(tryTag(queue, tags));
  return queue;
}

function untag(queue: TestQueue, ...keys: readonly string[]): void {
  accepted(queue.home.apply({ type: 'untag-queue', queue: queue.name, keys }));
}

function tagsOf(queue: TestQueue): Tags {
  return accepted(queue.home.apply({ type: 'list-tags', queue: queue.name })).tags;
}

function numbered(count: number): Tags {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, '']));
}

test('a tag overwrites one of the same key and leaves the others (5.12)', () => {
  const queue = tagged(openQueue(), { team: 'blue', stage: 'test' });
  tagged(queue, { team: 'red' });
  assert.deepEqual(tagsOf(queue), { team: 'red', stage: 'test' });
});

test('tag keys differ by case (5.12)', () => {
  const queue = tagged(openQueue(), { team: 'blue', Team: 'red' });
  assert.deepEqual(tagsOf(queue), { team: 'blue', Team: 'red' });
});

test('removing tags ignores unknown keys (5.12)', () => {
  const queue = tagged(openQueue(), { team: 'blue', stage: 'test' });
  untag(queue, 'team', 'Stage', 'none');
  assert.deepEqual(tagsOf(queue), { stage: 'test' });
});

test('a tag value may be empty, a key may not (5.12)', () => {
  const queue = tagged(openQueue(), { team: '' });
  assert.deepEqual(tagsOf(queue), { team: '' });
  assertRefused(tryTag(queue, { '': 'blue' }), 'InvalidParameterValue');
});

test('a tag key has up to 128 characters and a value up to 256 (5.12)', () => {
  const queue = tagged(openQueue(), { ['k'.repeat(128)]: 'v'.repeat(256) });
  assertRefused(tryTag(queue, { ['k'.repeat(129)]: '' }), 'InvalidParameterValue');
  assertRefused(tryTag(queue, { key: 'v'.repeat(257) }), 'InvalidParameterValue');
});

test('tags consist of letters, digits, spaces and _ . : / = + - @ (5.12)', () => {
  const queue = tagged(openQueue(), { 'Grün 1_.:/=+-@': 'Größe 2_.:/=+-@' });
  for (const character of ['!', '#', '\n', '*', '<']) {
    assertRefused(tryTag(queue, { [`a${character}`]: '' }), 'InvalidParameterValue');
    assertRefused(tryTag(queue, { key: character }), 'InvalidParameterValue');
  }
});

test('a queue has up to 50 tags, in one call or in several (5.12)', () => {
  const text = 'Too many tags added for queue jobs.';
  assertRefused(tryTag(openQueue(), numbered(51)), 'InvalidParameterValue', text);
  const queue = tagged(openQueue(), numbered(50));
  tagged(queue, { key7: 'again' });
  assertRefused(tryTag(queue, { another: '' }), 'InvalidParameterValue', text);
});

test('a queue is not created with more tags than it may have (5.12)', () => {
  const home = openEngine();
  const command = { type: 'create-queue', queue: 'jobs', tags: numbered(51) } as const;
  const text = 'Too many tags added for queue jobs.';
  assertRefused(home.apply(command), 'InvalidParameterValue', text);
});
