/**
 * How MemoryStore applies changes: puts, deletes, ranges, contents that move. That engines can be loaded from it is
 * shown in simulation/state-as-changes.test.ts.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  Change,
  KeptDelivery,
  KeptMessage,
  KeptQueue,
  KeptWindowEntry,
} from '../../../src/core/changes.ts';
import { MemoryStore } from '../../../src/storage/memory/memory-store.ts';

const queue: KeptQueue = {
  createdAt: 1,
  modifiedAt: 1,
  secret: 'secret',
  attributes: {},
  tags: {},
};
const message: KeptMessage = {
  messageId: '00000000-0000-4000-8000-000000000001',
  sentAt: 1,
  delayMs: 0,
  content: { body: 'hello', bodyMd5: '', attributes: [], attributesMd5: '' },
};
const delivery: KeptDelivery = {
  receiveCount: 1,
  firstReceivedAt: 1,
  receivedAt: 1,
  visibleAt: 2,
  stamp: 3,
  receipt: 3,
  isChanged: false,
};
const windowEntry: KeptWindowEntry = {
  deduplicationId: 'a',
  groupId: 'g',
  acceptedAt: 1,
  source: 'explicit',
  bodyMd5: '',
  attributesMd5: '',
};

const put = {
  queue: (name: string): Change => ({ kind: 'queue', queue: name, value: queue }),
  message: (name: string, id: number): Change => ({
    kind: 'message',
    queue: name,
    id,
    value: message,
  }),
  delivery: (name: string, id: number): Change => ({
    kind: 'delivery',
    queue: name,
    id,
    value: delivery,
  }),
  window: (name: string, id: number): Change => ({
    kind: 'window',
    queue: name,
    id,
    value: windowEntry,
  }),
  attempt: (name: string): Change => ({
    kind: 'attempt',
    queue: name,
    id: 't',
    value: { receivedAt: 1, messages: [] },
  }),
  counter: (name: string, value: number): Change => ({ kind: 'counter', queue: name, value }),
};

function keptFrom(...changes: Change[]): MemoryStore {
  const store = new MemoryStore();
  store.apply(changes);
  return store;
}

function kinds(store: MemoryStore, name?: string): string[] {
  return [...store.changes(name)].map((change) =>
    'id' in change ? `${change.kind} ${change.id}` : change.kind,
  );
}

test('records are returned in the order in which an engine can load them', () => {
  const store = keptFrom(
    put.queue('q'),
    put.attempt('q'),
    put.window('q', 2),
    put.delivery('q', 2),
    put.message('q', 2),
    put.message('q', 1),
    put.window('q', 1),
    put.counter('q', 3),
    { kind: 'name', queue: 'gone', value: 60_000 },
  );
  assert.deepEqual(kinds(store), [
    'queue',
    'counter',
    'message 1',
    'message 2',
    'window 1',
    'window 2',
    'delivery 2',
    'attempt t',
    'name',
  ]);
});

test('one queue can be loaded alone', () => {
  const store = keptFrom(put.queue('q'), put.message('q', 1), put.queue('r'));
  assert.deepEqual(kinds(store, 'r'), ['queue']);
  assert.deepEqual(kinds(store, 'nowhere'), []);
});

test('a moved message keeps its content, even after the old key is removed', () => {
  const store = keptFrom(
    put.queue('q'),
    put.queue('r'),
    put.message('q', 1),
    {
      kind: 'message',
      queue: 'r',
      id: 9,
      value: { ...message, content: { from: { queue: 'q', sequence: 1 } } },
    },
    { kind: 'message', queue: 'q', id: 1, value: null },
  );
  assert.equal(store.content('r', 9)?.body, 'hello');
  assert.equal(store.content('q', 1), undefined);
});

test('clearing contents leaves the queue and its counter', () => {
  const filled = [put.message('q', 1), put.delivery('q', 1), put.window('q', 1), put.attempt('q')];
  const store = keptFrom(put.queue('q'), put.counter('q', 1), ...filled, {
    kind: 'cleared',
    queue: 'q',
    what: 'contents',
  });
  assert.deepEqual(kinds(store), ['queue', 'counter']);
});

test('clearing the window leaves the messages', () => {
  const store = keptFrom(put.queue('q'), put.message('q', 1), put.window('q', 1), {
    kind: 'cleared',
    queue: 'q',
    what: 'window',
  });
  assert.deepEqual(kinds(store), ['queue', 'message 1']);
  assert.deepEqual(store.windowEntries('q', [1]), [undefined]);
});

test('deleting a queue removes everything under its name, except the reserved name', () => {
  const store = keptFrom(
    put.queue('q'),
    put.message('q', 1),
    put.window('q', 1),
    { kind: 'queue', queue: 'q', value: null },
    { kind: 'name', queue: 'q', value: 60_000 },
  );
  assert.deepEqual(kinds(store), ['name']);
});

test('an entry for a queue that is not kept throws', () => {
  assert.throws(() => keptFrom(put.message('q', 1)), /for q, which is not kept/);
});
