/**
 * A producer's sends, with the real AWS client against a real server: what arrives is the canonical body, and the same
 * event sent again is suppressed by its content alone.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sha256 } from '../../src/contract/canonical.ts';
import { SendError } from '../../src/producer/send.ts';
import { landsat, scene, scenes } from '../support/landsat.ts';
import { drain, openQueue } from '../support/server.ts';

test('an event sent twice is delivered once, as its canonical body', async (t) => {
  const queue = await openQueue(t);
  const first = await landsat().send(scene, queue);
  const again = await landsat().send(scene, queue);
  assert.deepEqual(again, first);
  assert.deepEqual(await drain(queue), [landsat().message(scene).body]);
});

test('the deduplication id that the queue sees is the SHA-256 of the body', async (t) => {
  const queue = await openQueue(t);
  await landsat().send(scene, queue);
  const [sent] = queue.server.events.filter(({ type }) => type === 'sent');
  assert.equal(
    sent?.type === 'sent' && sent.deduplicationId,
    sha256(landsat().message(scene).body),
  );
});

test('with deduplicateBy key the deduplication id is the hash of the key', async (t) => {
  const queue = await openQueue(t, { ContentBasedDeduplication: 'false' });
  await landsat().send(scene, { ...queue, deduplicateBy: 'key' });
  const [sent] = queue.server.events.filter(({ type }) => type === 'sent');
  assert.equal(sent?.type === 'sent' && sent.deduplicationId, sha256('landsat/p32r29/2025-12-04'));
});

test('a batch of any length keeps its order, and its answers follow the order of the events', async (t) => {
  const queue = await openQueue(t);
  const events = scenes(25);
  const sent = await landsat().sendBatch(events, queue);
  assert.deepEqual(await landsat().sendBatch(events, queue), sent);
  assert.equal(new Set(sent.map(({ messageId }) => messageId)).size, 25);
  assert.deepEqual(
    await drain(queue),
    events.map((event) => landsat().message(event).body),
  );
});

test('a batch is split where a request would be too large', async (t) => {
  const queue = await openQueue(t);
  const producer = landsat({ payload: (event) => ({ ...event, tile: 'x'.repeat(400_000) }) });
  await producer.sendBatch(scenes(5), queue);
  assert.equal((await drain(queue)).length, 5);
});

test('a refused event of a batch prevents the others from being sent', async (t) => {
  const queue = await openQueue(t);
  const producer = landsat({ schema: { properties: { tile: { not: { const: 'p2r29' } } } } });
  await assert.rejects(producer.sendBatch(scenes(3), queue), { code: 'payload-invalid' });
  assert.deepEqual(await drain(queue), []);
});

test('attributes are sent along, and entries refused by the queue are reported with those accepted', async (t) => {
  const queue = await openQueue(t, { MaximumMessageSize: '1024' });
  const producer = landsat({
    attributes: () => ({ region: 'kansas' }),
    payload: (event) =>
      event.tile === 'p1r29' ? { ...event, tile: 'x'.repeat(1_024) } : { ...event },
  });
  await assert.rejects(producer.sendBatch(scenes(3), queue), (error) => {
    assert.ok(error instanceof SendError);
    assert.deepEqual(
      error.sent.map((answer) => answer !== undefined),
      [true, false, true],
    );
    return true;
  });
  const { Messages = [] } = await queue.client.receiveMessage({
    QueueUrl: queue.queueUrl,
    MessageAttributeNames: ['All'],
  });
  assert.equal(Messages[0]?.MessageAttributes?.['region']?.StringValue, 'kansas');
});
