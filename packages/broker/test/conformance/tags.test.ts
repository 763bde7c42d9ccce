/**
 * Cost-allocation tags of a queue: how they are added, overwritten and removed, and which characters they may have. They
 * have no effect.
 */

import assert from 'node:assert/strict';
import type { Outcome } from '../../src/core/commands.ts';
import { accepted, assertRefused, type TestQueue, test } from './fixture.ts';

type Tags = Readonly<Record<string, string>>;

async function tryTag(queue: TestQueue, tags: Tags): Promise<Outcome<'tag-queue'>> {
  return await queue.home.run({ type: 'tag-queue', queue: queue.name, tags });
}

async function tagged(queue: TestQueue, tags: Tags): Promise<TestQueue> {
  accepted(await tryTag(queue, tags));
  return queue;
}

async function untag(queue: TestQueue, ...keys: readonly string[]): Promise<void> {
  accepted(await queue.home.run({ type: 'untag-queue', queue: queue.name, keys }));
}

async function tagsOf(queue: TestQueue): Promise<Tags> {
  return accepted(await queue.home.run({ type: 'list-tags', queue: queue.name })).tags;
}

function numbered(count: number): Tags {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, '']));
}

test('a tag overwrites one of the same key and leaves the others (5.12)', async (open) => {
  const queue = await tagged(await open.queue(), { team: 'blue', stage: 'test' });
  await tagged(queue, { team: 'red' });
  assert.deepEqual(await tagsOf(queue), { team: 'red', stage: 'test' });
});

test('tag keys differ by case (5.12)', async (open) => {
  const queue = await tagged(await open.queue(), { team: 'blue', Team: 'red' });
  assert.deepEqual(await tagsOf(queue), { team: 'blue', Team: 'red' });
});

test('removing tags ignores unknown keys (5.12)', async (open) => {
  const queue = await tagged(await open.queue(), { team: 'blue', stage: 'test' });
  await untag(queue, 'team', 'Stage', 'none');
  assert.deepEqual(await tagsOf(queue), { stage: 'test' });
});

test('a tag value may be empty, a key may not (5.12)', async (open) => {
  const queue = await tagged(await open.queue(), { team: '' });
  assert.deepEqual(await tagsOf(queue), { team: '' });
  assertRefused(await tryTag(queue, { '': 'blue' }), 'InvalidParameterValue');
});

test('a tag key has up to 128 characters and a value up to 256 (5.12)', async (open) => {
  const queue = await tagged(await open.queue(), { ['k'.repeat(128)]: 'v'.repeat(256) });
  assertRefused(await tryTag(queue, { ['k'.repeat(129)]: '' }), 'InvalidParameterValue');
  assertRefused(await tryTag(queue, { key: 'v'.repeat(257) }), 'InvalidParameterValue');
});

test('tags consist of letters, digits, spaces and _ . : / = + - @ (5.12)', async (open) => {
  const queue = await tagged(await open.queue(), { 'Grün 1_.:/=+-@': 'Größe 2_.:/=+-@' });
  for (const character of ['!', '#', '\n', '*', '<']) {
    assertRefused(await tryTag(queue, { [`a${character}`]: '' }), 'InvalidParameterValue');
    assertRefused(await tryTag(queue, { key: character }), 'InvalidParameterValue');
  }
});

test('a queue has up to 50 tags, in one call or in several (5.12)', async (open) => {
  const text = 'Too many tags added for queue jobs.';
  assertRefused(await tryTag(await open.queue(), numbered(51)), 'InvalidParameterValue', text);
  const queue = await tagged(await open.queue(), numbered(50));
  await tagged(queue, { key7: 'again' });
  assertRefused(await tryTag(queue, { another: '' }), 'InvalidParameterValue', text);
});

test('a queue is not created with more tags than it may have (5.12)', async (open) => {
  const home = await open.home();
  const command = { type: 'create-queue', queue: 'jobs', tags: numbered(51) } as const;
  const text = 'Too many tags added for queue jobs.';
  assertRefused(await home.run(command), 'InvalidParameterValue', text);
});
