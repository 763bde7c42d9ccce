/**
 * What memory mode takes apart comes back as it was, field by field; what it cannot take apart, it says.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeptWindowEntry } from '../../src/core/changes.ts';
import type { Columns, Packing } from '../../src/storage/local/by-sequence.ts';
import {
  messagePacking,
  type ResolvedMessage,
  windowPacking,
} from '../../src/storage/local/memory-packing.ts';

const content: ResolvedMessage['content'] = {
  body: 'body',
  bodyMd5: '841a2d689ad86bd1611447453c22c6fc',
  attributes: [],
  attributesMd5: '',
  traceHeader: undefined,
  senderId: 'sender',
  groupId: undefined,
  deduplicationId: 'id',
};
const message: ResolvedMessage = { sentAt: 1_800_000_000_000, delayMs: 0, groupId: 'g', content };
const entry: KeptWindowEntry = {
  deduplicationId: 'id',
  groupId: 'g',
  acceptedAt: 1_800_000_000_000,
  source: 'explicit',
  bodyMd5: content.bodyMd5,
  attributesMd5: '',
  bodyHash: undefined,
};

for (const [what, value] of Object.entries<ResolvedMessage>({
  'of a FIFO queue': message,
  'of a standard queue, with a delay': { ...message, groupId: undefined, delayMs: 900_000 },
  'of a fair queue': { ...message, groupId: undefined, content: { ...content, groupId: 'fair' } },
  'without an id and a sender': {
    ...message,
    content: { ...content, deduplicationId: undefined, senderId: undefined },
  },
})) {
  test(`a message ${what} comes back as it was`, () => {
    assert.deepEqual(again(messagePacking, value), value);
  });
}

for (const [what, value] of Object.entries<ResolvedMessage>({
  attributes: {
    ...message,
    content: { ...content, attributes: [{ name: 'a', type: 'String', value: 'b' }] },
  },
  'a trace header': { ...message, content: { ...content, traceHeader: 'Root=1' } },
  'the id it had elsewhere': { ...message, messageId: 'other' },
  'a new deduplication id': { ...message, deduplicationId: 'new' },
  'a source queue': { ...message, deadLetterSource: 'arn' },
  'receives elsewhere': { ...message, receivedElsewhere: 2 },
})) {
  test(`a message with ${what} stays an object`, () => {
    assert.equal(again(messagePacking, value), undefined);
  });
}

test('a window entry comes back as it was, unless it has more texts than most', () => {
  assert.deepEqual(again(windowPacking, entry), entry);
  const byContent: KeptWindowEntry = { ...entry, source: 'content' };
  assert.deepEqual(again(windowPacking, byContent), byContent);
  assert.equal(again(windowPacking, { ...entry, attributesMd5: content.bodyMd5 }), undefined);
  assert.equal(again(windowPacking, { ...entry, bodyHash: 'ab' }), undefined);
});

/** Undefined if it cannot be taken apart. */
function again<V>(packing: Packing<V>, value: V): V | undefined {
  const { texts, numbers } = packing;
  const columns: Columns = {
    texts: new Array<string | undefined>(2 * texts).fill('of a neighbour'),
    numbers: new Float64Array(2 * numbers).fill(-1),
  };
  const isPacked = packing.pack(value, columns, texts, numbers);
  // What belongs to others is not touched, and nothing is if it stays an object.
  const untouched = isPacked ? texts : 2 * texts;
  assert.ok(columns.texts.slice(0, untouched).every((text) => text === 'of a neighbour'));
  return isPacked ? packing.unpack(columns, texts, numbers) : undefined;
}
