/**
 * Events: that everything that happens to a message is reported, and that a duplicate can be explained from its event
 * alone, without looking into the queue.
 */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { AttributeInput } from '../../src/core/commands.ts';
import type { DuplicateEvent, Event } from '../../src/core/events.ts';
import { traceContextNames } from '../../src/core/trace-context.ts';
import { assertRefused, type Opener, startedAt, type TestQueue, test } from './fixture.ts';

const sha256OfHello = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';

async function typesIn(queue: TestQueue): Promise<readonly Event['type'][]> {
  return (await queue.home.events()).map(({ type }) => type);
}

async function lastDuplicate(queue: TestQueue): Promise<DuplicateEvent> {
  const event = (await queue.home.events()).at(-1);
  assert.equal(event?.type, 'duplicate');
  return event as DuplicateEvent;
}

test('a duplicate event carries the original, the id, its age and when its window closes (O3)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { messageId, sequence } = await queue.send({ deduplicationId: 'd' });
  await queue.advance(42);
  await queue.send({ deduplicationId: 'd' });
  const { content, ...told } = await lastDuplicate(queue);
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

test('a duplicate event says whether body, attributes or group differed from the original (O3)', async (open) => {
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
    const queue = await open.queue({ fifo: true });
    await queue.send({ deduplicationId: 'd' });
    await queue.send({ deduplicationId: 'd', ...entry });
    assert.deepEqual((await lastDuplicate(queue)).differed, differed);
  }
});

test('a content-hash duplicate that differs in attributes or group is reported as a collision', async (open) => {
  const attributes = [{ name: 'a', type: 'String', stringValue: 'x' }];
  const queue = await open.queue({ fifo: true, attributes: { ContentBasedDeduplication: 'true' } });
  const { messageId } = await queue.send({ deduplicationId: undefined });
  await queue.send({ deduplicationId: undefined });
  await queue.send({ deduplicationId: undefined, attributes, groupId: 'other' });
  assert.deepEqual((await typesIn(queue)).slice(2), ['duplicate', 'duplicate', 'collision']);
  assert.deepEqual((await queue.home.events()).at(-1), {
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
  const differedIn = async (
    open: Opener,
    first: AttributeInput[],
    second: AttributeInput[],
  ): Promise<boolean> => {
    const queue = await open.queue(fifo);
    await queue.send({ deduplicationId: undefined, attributes: first });
    await queue.send({ deduplicationId: undefined, attributes: second });
    const duplicate = (await queue.home.events()).find(
      ({ type }) => type === 'duplicate',
    ) as DuplicateEvent;
    const { attributes } = duplicate.differed;
    assert.equal((await typesIn(queue)).includes('collision'), attributes);
    return attributes;
  };

  for (const name of traceContextNames) {
    test(`a different ${name} is neither a difference nor a collision`, async (open) => {
      assert.equal(await differedIn(open, [text(name, 'one')], [text(name, 'two')]), false);
      assert.equal(await differedIn(open, [], [text(name.toUpperCase(), 'one')]), false);
      const kind = text('kind', 'a');
      assert.equal(
        await differedIn(open, [kind, text(name, 'one')], [text(name, 'two'), kind]),
        false,
      );
      assert.equal(await differedIn(open, [kind], [text('kind', 'b'), text(name, 'two')]), true);
    });
  }

  test('are part of the digest that clients check', async (open) => {
    const queue = await open.queue(fifo);
    const md5Of = async (value: string): Promise<string> => {
      const attributes = [text('traceparent', value)];
      return (await queue.send({ deduplicationId: undefined, attributes })).attributesMd5;
    };
    const [one, two] = [await md5Of('one'), await md5Of('two')];
    assert.notEqual(one, '');
    assert.notEqual(one, two);
  });
});

test('a contract violation is reported in both modes, and the message is sent only in observe mode', async (open) => {
  const queue = await open.queue({ fifo: false });
  const violation = { rule: 'key-missing', reason: 'There is no key.' };
  await queue.send({ violation: { mode: 'observe', ...violation } });
  const told = (await queue.home.events()).at(-2);
  assert.equal(told?.type === 'contract-violation' && told.reason, 'There is no key.');
  const refused = await queue.trySend({ violation: { mode: 'reject', ...violation } });
  assertRefused(
    refused,
    'InvalidParameterValue',
    'Value for parameter MessageBody is invalid. Reason: The message breaks the contract of its queue (key-missing). There is no key.',
  );
  assert.deepEqual((await typesIn(queue)).slice(1), [
    'contract-violation',
    'sent',
    'contract-violation',
  ]);
});

test('a duplicate event says for both sends whether the id was given or computed (O3)', async (open) => {
  const queue = await open.queue({ fifo: true, attributes: { ContentBasedDeduplication: 'true' } });
  await queue.send({ body: 'hello', deduplicationId: undefined });
  await queue.send({ body: 'other', deduplicationId: sha256OfHello });
  const event = await lastDuplicate(queue);
  assert.equal(event.source, 'explicit');
  assert.equal(event.original.source, 'content');
  await queue.send({ body: 'hello', deduplicationId: undefined });
  assert.equal((await lastDuplicate(queue)).source, 'content');
});

test('a duplicate event names the deduplication scope (O3)', async (open) => {
  const queue = await open.queue({
    fifo: true,
    attributes: { DeduplicationScope: 'messageGroup' },
  });
  await queue.send({ deduplicationId: 'd' });
  await queue.send({ deduplicationId: 'd' });
  assert.equal((await lastDuplicate(queue)).scope, 'messageGroup');
});

test('a duplicate is reported even though its original was deleted (O3)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { messageId } = await queue.send({ deduplicationId: 'd' });
  await queue.remove(await queue.receiveOne());
  await queue.send({ deduplicationId: 'd' });
  assert.equal((await lastDuplicate(queue)).original.messageId, messageId);
});

test('each duplicate within a batch is reported (O3)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.sendBatch([1, 2, 3].map(() => ({ deduplicationId: 'd' })));
  assert.deepEqual(await typesIn(queue), ['queue-created', 'sent', 'duplicate', 'duplicate']);
});

test('a sent event carries the id, the group and the source of the id (O4)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { messageId, sequence } = await queue.send({ groupId: 'blue', deduplicationId: 'd' });
  const { content, ...told } = (await queue.home.events()).at(-1) as Extract<
    Event,
    { type: 'sent' }
  >;
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

test('the life of a message is reported from send to delete (O4)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send();
  const message = await queue.receiveOne({ attemptId: 'a' });
  await queue.receive({ attemptId: 'a' });
  await queue.changeVisibility(message, 60);
  await queue.remove(message);
  assert.deepEqual(await typesIn(queue), [
    'queue-created',
    'sent',
    'delivered',
    'attempt-replayed',
    'visibility-changed',
    'deleted',
  ]);
});

test('expiry, purge, changes and deletion of a queue are reported (O4)', async (open) => {
  const queue = await open.queue({ attributes: { MessageRetentionPeriod: '60' } });
  await queue.send();
  await queue.advance(60);
  await queue.send();
  await queue.purge();
  await queue.set({ DelaySeconds: '1' });
  await queue.delete();
  assert.deepEqual(await typesIn(queue), [
    'queue-created',
    'sent',
    'expired',
    'sent',
    'queue-purged',
    'queue-changed',
    'queue-deleted',
  ]);
});

test('a dead letter and its redrive are reported, the redrive with both message ids (O4)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  const { messageId } = await queue.send();
  await queue.receive({ visibilitySeconds: 0 });
  await queue.receive();
  const died = (await queue.home.events()).find(({ type }) => type === 'dead-lettered');
  assert.deepEqual(died && 'target' in died && [died.messageId, died.target, died.receiveCount], [
    messageId,
    'dead',
    1,
  ]);
  await queue.home.run({ type: 'start-move-task', sourceArn: dead.arn });
  await queue.advance(0);
  const moved = (await queue.home.events()).find(({ type }) => type === 'moved');
  const newId = (await queue.receiveOne()).messageId;
  assert.deepEqual(moved && 'newMessageId' in moved && [moved.messageId, moved.newMessageId], [
    messageId,
    newId,
  ]);
});

test('a refused command reports no event (O4)', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.trySend({ groupId: undefined });
  await queue.tryRemove('nonsense');
  assert.deepEqual(await typesIn(queue), ['queue-created']);
});
