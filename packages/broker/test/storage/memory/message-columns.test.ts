/**
 * Messages and window entries in memory are what two Maps would hold, field by field: those that share a slot, those that
 * cannot, and whichever of the two goes first.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import type { KeptWindowEntry } from '../../../src/core/changes.ts';
import {
  MessageColumns,
  type ResolvedMessage,
} from '../../../src/storage/memory/message-columns.ts';

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

const messages: Readonly<Record<string, ResolvedMessage>> = {
  'of a FIFO queue': message,
  'with another body': { ...message, content: { ...content, body: 'other', bodyMd5: 'abc' } },
  'of a standard queue, with a delay': { ...message, groupId: undefined, delayMs: 900_000 },
  'of a fair queue': { ...message, groupId: undefined, content: { ...content, groupId: 'fair' } },
  'without an id and a sender': {
    ...message,
    content: { ...content, deduplicationId: undefined, senderId: undefined },
  },
  'with attributes': {
    ...message,
    content: {
      ...content,
      attributes: [{ name: 'a', type: 'String', value: 'b' }],
      attributesMd5: 'def',
    },
  },
  'with a trace header': { ...message, content: { ...content, traceHeader: 'Root=1' } },
  'with the id it had elsewhere': { ...message, messageId: 'other' },
  'with a new deduplication id': { ...message, deduplicationId: 'new' },
  'with a source queue': { ...message, deadLetterSource: 'arn' },
  'with receives elsewhere': { ...message, receivedElsewhere: 2 },
};

const entries: Readonly<Record<string, KeptWindowEntry>> = {
  'of the message': entry,
  'with an id made of the content': { ...entry, source: 'content' },
  'of another id': { ...entry, deduplicationId: 'other' },
  'of another group': { ...entry, groupId: 'other' },
  'of another time': { ...entry, acceptedAt: 1_800_000_000_001 },
  'of another body': { ...entry, bodyMd5: 'abc' },
  'with attributes': { ...entry, attributesMd5: content.bodyMd5 },
  "with its body's hash": { ...entry, bodyHash: 'ab' },
};

for (const [ofMessage, sent] of Object.entries(messages)) {
  test(`a message ${ofMessage} comes back as it was, with any entry beside it`, () => {
    for (const [ofEntry, accepted] of Object.entries(entries)) {
      const sends = new MessageColumns();
      sends.setMessage(7, sent);
      sends.setEntry(7, accepted);
      assert.deepEqual(sends.message(7), sent, ofEntry);
      assert.deepEqual(sends.entry(7), accepted, ofEntry);
      sends.setMessage(7, null);
      assert.equal(sends.message(7), undefined);
      assert.deepEqual(sends.entry(7), accepted, `${ofEntry}, after its message has gone`);
      sends.setEntry(7, null);
      assert.deepEqual([...sends.messages(), ...sends.entries()], []);
    }
  });
}

test('the body of a message leaves memory with it, though its window entry stays', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const heldBytes = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = heldBytes();
  const sends = new MessageColumns();
  // Node keeps texts of a megabyte outside of the heap that is measured here.
  const bodyLength = 256 * 1024;
  for (let id = 0; id < 100; id += 1) {
    const body = Buffer.alloc(bodyLength, id).toString('latin1');
    sends.setMessage(id, { ...message, content: { ...content, body } });
    sends.setEntry(id, entry);
    sends.setMessage(id, null);
  }
  assert.ok(heldBytes() - before < 10 * bodyLength);
  assert.deepEqual(sends.entry(99), entry);
});

// Neighbors, the edges of pages, and counters beyond 32 bits.
const sequence = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 2 ** 40, max: 2 ** 40 + 40 }),
);
const step = fc.record({
  sequence,
  message: fc.option(fc.constantFrom(null, ...Object.values(messages)), { nil: undefined }),
  entry: fc.option(fc.constantFrom(null, ...Object.values(entries)), { nil: undefined }),
  clears: fc.option(fc.constantFrom('all', 'window'), { freq: 20, nil: undefined }),
});

test('after any changes they equal two Maps, in order of sequence', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const sends = new MessageColumns();
      const sent = new Map<number, ResolvedMessage>();
      const accepted = new Map<number, KeptWindowEntry>();
      for (const { sequence, message, entry, clears } of steps) {
        if (message !== undefined) sends.setMessage(sequence, message);
        if (entry !== undefined) sends.setEntry(sequence, entry);
        if (message === null) sent.delete(sequence);
        else if (message !== undefined) sent.set(sequence, message);
        if (entry === null) accepted.delete(sequence);
        else if (entry !== undefined) accepted.set(sequence, entry);
        if (clears !== undefined) {
          if (clears === 'all') sends.clear();
          else sends.clearEntries();
          if (clears === 'all') sent.clear();
          accepted.clear();
        }
        assert.deepEqual(sends.message(sequence), sent.get(sequence));
        assert.deepEqual(sends.entry(sequence), accepted.get(sequence));
      }
      assert.deepEqual([...sends.messages()], inOrder(sent));
      assert.deepEqual([...sends.entries()], inOrder(accepted));
    }),
  );
});

function inOrder<V>(values: ReadonlyMap<number, V>): [number, V][] {
  return [...values].sort(([a], [b]) => a - b);
}
