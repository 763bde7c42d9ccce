/**
 * Events: that everything that happens to a message is reported, and that a duplicate can be explained from its event
 * alone, without looking into the queue.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { traceContextNames as toolkitNames } from '@oncemq/toolkit';
import type { AttributeInput } from '../../src/core/commands.ts';
import type { DuplicateEvent, Event } from '../../src/core/events.ts';
import { traceContextNames } from '../../src/core/trace-context.ts';
import {
  assertRefused,
  openQueue,
  openQueueWithDeadLetters,
  startedAt,
  type TestQueue,
} from './fixture.ts';

const sha256OfHello = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';

function typesIn(queue: TestQueue): readonly Event['type'][] {
  return queue.home.events.map(({ type }) => type);
}

function lastDuplicate(queue: TestQueue): DuplicateEvent {
  const event = queue.home.events.at(-1);
  assert.equal(event?.type, 'duplicate');
  return event as DuplicateEvent;
}

test('a duplicate event carries the original, the id, its age and when its window closes (O3)', () => {
  const queue = openQueue({ fifo: true });
  const { messageId, sequence } = queue.send({ deduplicationId: 'd' });
  queue.advance(42);
  queue.send({ deduplicationId: 'd' });
  const { content, ...told } = lastDuplicate(queue);
  assert.equal(content.body, 'hello');
  assert.deepEqual(told, {
    type: 'duplicate',
    at: startedAt + 42_000,
    queue: 'jobs.fifo',
    deduplicationId: 'd',
    groupId: 'g',
    source: 'explicit',
    matchedBy: 'id',
    scope: 'queue',
    ageMs: 42_000,
    expiresAt: startedAt + 300_000,
    original: { messageId, sequence, acceptedAt: startedAt, source: 'explicit' },
    differed: { body: false, attributes: false, group: false },
  });
});

test('a duplicate event says whether body, attributes or group differed from the original (O3)', () => {
  const attributes = [{ name: 'a', type: 'String', stringValue: 'x' }];
  const cases = [
    [{ body: 'other' }, { body: true, attributes: false, group: false }],
    [{ attributes }, { body: false, attributes: true, group: false }],
    [{ groupId: 'other' }, { body: false, attributes: false, group: true }],
    [
      { body: 'other', attributes, groupId: 'other' },
      { body: true, attributes: true, group: true },
    ],
  ] as const;
  for (const [entry, differed] of cases) {
    const queue = openQueue({ fifo: true });
    queue.send({ deduplicationId: 'd' });
    queue.send({ deduplicationId: 'd', ...entry });
    assert.deepEqual(lastDuplicate(queue).differed, differed);
  }
});

test('a content-hash duplicate that differs in attributes or group is reported as a collision', () => {
  const attributes = [{ name: 'a', type: 'String', stringValue: 'x' }];
  const queue = openQueue({ fifo: true, attributes: { ContentBasedDeduplication: 'true' } });
  const { messageId } = queue.send({ deduplicationId: undefined });
  queue.send({ deduplicationId: undefined });
  queue.send({ deduplicationId: undefined, attributes, groupId: 'other' });
  assert.deepEqual(typesIn(queue).slice(2), ['duplicate', 'duplicate', 'collision']);
  assert.deepEqual(queue.home.events.at(-1), {
    type: 'collision',
    at: startedAt,
    queue: 'jobs.fifo',
    deduplicationId: sha256OfHello,
    groupId: 'other',
    originalMessageId: messageId,
    differed: ['attributes', 'group'],
  });
});

describe('attributes that carry a trace', () => {
  const text = (name: string, stringValue: string): AttributeInput => ({
    name,
    type: 'String',
    stringValue,
  });
  const fifo = { fifo: true, attributes: { ContentBasedDeduplication: 'true' } };
  const differedIn = (first: AttributeInput[], second: AttributeInput[]): boolean => {
    const queue = openQueue(fifo);
    queue.send({ deduplicationId: undefined, attributes: first });
    queue.send({ deduplicationId: undefined, attributes: second });
    const duplicate = queue.home.events.find(({ type }) => type === 'duplicate') as DuplicateEvent;
    const { attributes } = duplicate.differed;
    assert.equal(typesIn(queue).includes('collision'), attributes);
    return attributes;
  };

  for (const name of traceContextNames) {
    test(`a different ${name} is neither a difference nor a collision`, () => {
      assert.equal(differedIn([text(name, 'one')], [text(name, 'two')]), false);
      assert.equal(differedIn([], [text(name.toUpperCase(), 'one')]), false);
      const kind = text('kind', 'a');
      assert.equal(differedIn([kind, text(name, 'one')], [text(name, 'two'), kind]), false);
      assert.equal(differedIn([kind], [text('kind', 'b'), text(name, 'two')]), true);
    });
  }

  test('are part of the digest that clients check', () => {
    const queue = openQueue(fifo);
    const [one, two] = ['one', 'two'].map(
      (value) =>
        queue.send({ deduplicationId: undefined, attributes: [text('traceparent', value)] })
          .attributesMd5,
    );
    assert.notEqual(one, '');
    assert.notEqual(one, two);
  });

  test('are the same for core and for the toolkit', () => {
    assert.deepEqual(traceContextNames, toolkitNames);
  });
});

test('a contract violation is reported in both modes, and the message is sent only in observe mode', () => {
  const queue = openQueue({ fifo: false });
  const violation = { rule: 'key-missing', reason: 'There is no key.' };
  queue.send({ violation: { mode: 'observe', ...violation } });
  const told = queue.home.events.at(-2);
  assert.equal(told?.type === 'contract-violation' && told.reason, 'There is no key.');
  const refused = queue.trySend({ violation: { mode: 'reject', ...violation } });
  assertRefused(
    refused,
    'InvalidParameterValue',
    'Value for parameter MessageBody is invalid. Reason: The message breaks the contract of its queue (key-missing). There is no key.',
  );
  assert.deepEqual(typesIn(queue).slice(1), ['contract-violation', 'sent', 'contract-violation']);
});

test('a duplicate event says for both sends whether the id was given or computed (O3)', () => {
  const queue = openQueue({ fifo: true, attributes: { ContentBasedDeduplication: 'true' } });
  queue.send({ body: 'hello', deduplicationId: undefined });
  queue.send({ body: 'other', deduplicationId: sha256OfHello });
  const event = lastDuplicate(queue);
  assert.equal(event.source, 'explicit');
  assert.equal(event.original.source, 'content');
  queue.send({ body: 'hello', deduplicationId: undefined });
  assert.equal(lastDuplicate(queue).source, 'content');
});

test('a duplicate event names the deduplication scope (O3)', () => {
  const queue = openQueue({ fifo: true, attributes: { DeduplicationScope: 'messageGroup' } });
  queue.send({ deduplicationId: 'd' });
  queue.send({ deduplicationId: 'd' });
  assert.equal(lastDuplicate(queue).scope, 'messageGroup');
});

test('a duplicate is reported even though its original was deleted (O3)', () => {
  const queue = openQueue({ fifo: true });
  const { messageId } = queue.send({ deduplicationId: 'd' });
  queue.remove(queue.receiveOne());
  queue.send({ deduplicationId: 'd' });
  assert.equal(lastDuplicate(queue).original.messageId, messageId);
});

test('each duplicate within a batch is reported (O3)', () => {
  const queue = openQueue({ fifo: true });
  queue.sendBatch([1, 2, 3].map(() => ({ deduplicationId: 'd' })));
  assert.deepEqual(typesIn(queue), ['queue-created', 'sent', 'duplicate', 'duplicate']);
});

test('a sent event carries the id, the group and the source of the id (O4)', () => {
  const queue = openQueue({ fifo: true });
  const { messageId, sequence } = queue.send({ groupId: 'blue', deduplicationId: 'd' });
  const { content, ...told } = queue.home.events.at(-1) as Extract<Event, { type: 'sent' }>;
  assert.equal(content.body, 'hello');
  assert.deepEqual(told, {
    type: 'sent',
    at: startedAt,
    queue: 'jobs.fifo',
    messageId,
    sequence,
    groupId: 'blue',
    deduplicationId: 'd',
    source: 'explicit',
  });
});

test('the life of a message is reported from send to delete (O4)', () => {
  const queue = openQueue({ fifo: true });
  queue.send();
  const message = queue.receiveOne({ attemptId: 'a' });
  queue.receive({ attemptId: 'a' });
  queue.changeVisibility(message, 60);
  queue.remove(message);
  assert.deepEqual(typesIn(queue), [
    'queue-created',
    'sent',
    'delivered',
    'attempt-replayed',
    'visibility-changed',
    'deleted',
  ]);
});

test('expiry, purge, changes and deletion of a queue are reported (O4)', () => {
  const queue = openQueue({ attributes: { MessageRetentionPeriod: '60' } });
  queue.send();
  queue.advance(60);
  queue.send();
  queue.purge();
  queue.set({ DelaySeconds: '1' });
  queue.delete();
  assert.deepEqual(typesIn(queue), [
    'queue-created',
    'sent',
    'expired',
    'sent',
    'queue-purged',
    'queue-changed',
    'queue-deleted',
  ]);
});

test('a dead letter and its redrive are reported, the redrive with both message ids (O4)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  const { messageId } = queue.send();
  queue.receive({ visibilitySeconds: 0 });
  queue.receive();
  const died = queue.home.events.find(({ type }) => type === 'dead-lettered');
  assert.deepEqual(died && 'target' in died && [died.messageId, died.target, died.receiveCount], [
    messageId,
    'dead',
    1,
  ]);
  queue.home.apply({ type: 'start-move-task', sourceArn: dead.arn });
  queue.advance(0);
  const moved = queue.home.events.find(({ type }) => type === 'moved');
  const newId = queue.receiveOne().messageId;
  assert.deepEqual(moved && 'newMessageId' in moved && [moved.messageId, moved.newMessageId], [
    messageId,
    newId,
  ]);
});

test('a refused command reports no event (O4)', () => {
  const queue = openQueue({ fifo: true });
  queue.trySend({ groupId: undefined });
  queue.tryRemove('nonsense');
  assert.deepEqual(typesIn(queue), ['queue-created']);
});

test('without a listener no event is created (O4)', () => {
  const { home, name } = openQueue();
  const entries = [{ body: 'hello' }];
  const { events } = home.engine.apply(
    { type: 'send', queue: name, isBatch: false, entries },
    { now: home.now, ids: home },
  );
  assert.deepEqual(events, []);
});
