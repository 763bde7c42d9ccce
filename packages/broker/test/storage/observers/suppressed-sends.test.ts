/**
 * What is remembered of suppressed sends: the latest of each queue, their contents and those of their originals, all
 * within bounds, and none of it after the queue or its window is gone.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageContent } from '../../../src/core/changes.ts';
import type { DuplicateEvent } from '../../../src/core/events.ts';
import { SuppressedSends } from '../../../src/storage/observers/suppressed-sends.ts';

function content(body: string): MessageContent {
  return { body, bodyMd5: '', attributes: [], attributesMd5: '' };
}

function duplicate(body: string, differs = false): DuplicateEvent {
  return {
    type: 'duplicate',
    at: 1,
    queue: 'q.fifo',
    deduplicationId: 'd',
    groupId: 'g',
    source: 'explicit',
    matchedBy: 'id',
    scope: 'queue',
    ageMs: 1,
    expiresAt: 300_000,
    original: { messageId: 'm', sequence: 1, acceptedAt: 0, source: 'explicit' },
    differed: { body: differs, attributes: false, group: false },
    content: content(body),
  };
}

test('a send that differs is remembered with the content its original had at that time', () => {
  let original: MessageContent | undefined = content('first');
  const sends = new SuppressedSends(() => original);
  sends.note(duplicate('second', true));
  original = undefined;
  sends.note(duplicate('third', true));
  const told = sends
    .ofQueue('q.fifo')
    .map((send) => [send.number, send.content?.body, send.originalContent?.body]);
  assert.deepEqual(told, [
    [0, 'second', 'first'],
    [1, 'third', undefined],
  ]);
});

test('the original of an identical send is not read', () => {
  const sends = new SuppressedSends(() => assert.fail('the original was read'));
  sends.note(duplicate('same'));
  assert.equal(sends.ofQueue('q.fifo')[0]?.originalContent?.body, 'same');
});

test('long bodies are cut, and the contents of the oldest sends are forgotten beyond 8 MiB', () => {
  const sends = new SuppressedSends(() => undefined);
  for (let index = 0; index < 400; index += 1)
    sends.note(duplicate(`${index}`.padEnd(20_000, 'x')));
  const told = sends.ofQueue('q.fifo');
  assert.equal(told.length, 400);
  assert.equal(told[0]?.content, undefined);
  assert.equal(told[399]?.content?.body.length, 16_384);
  assert.equal(told[399]?.content?.bodyLength, 20_000);
  const chars = told.reduce((sum, send) => sum + (send.content?.body.length ?? 0), 0);
  assert.ok(chars * 2 <= 8 * 1024 * 1024 && chars * 2 > 7 * 1024 * 1024, String(chars));
});

test('the oldest sends are forgotten, and the others keep their numbers', () => {
  const sends = new SuppressedSends(() => undefined);
  for (let index = 0; index <= 2_000; index += 1) sends.note(duplicate(String(index)));
  const told = sends.ofQueue('q.fifo');
  assert.equal(told.length, 1_001);
  for (const send of told) assert.equal(send.content?.body, String(send.number));
});

test('nothing of a queue is remembered once it is deleted', () => {
  const sends = new SuppressedSends(() => undefined);
  sends.note(duplicate('one'));
  sends.note({ type: 'queue-deleted', at: 2, queue: 'q.fifo' });
  assert.deepEqual(sends.ofQueue('q.fifo'), []);
});
