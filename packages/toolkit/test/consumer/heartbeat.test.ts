/**
 * The heartbeat, with a timer that the test fires and a server whose clock it moves: a message stays hidden for as long
 * as its handler runs, and not longer.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { type Heartbeat, startHeartbeat } from '../../src/consumer/heartbeat.ts';
import { idempotent } from '../../src/consumer/idempotent.ts';
import type { SqsMessage } from '../../src/consumer/received.ts';
import { memoryInbox } from '../../src/inbox/memory-inbox.ts';
import { landsat, scene } from '../support/landsat.ts';
import { type OpenQueue, openQueue } from '../support/server.ts';

/** A timer that the test fires by hand. */
function handTimer() {
  const beats = new Set<() => void>();
  const every = (milliseconds: number, beat: () => void): (() => void) => {
    assert.equal(milliseconds, 15_000);
    beats.add(beat);
    return () => beats.delete(beat);
  };
  return { every, beats };
}

async function received(t: TestContext): Promise<{ queue: OpenQueue; message: SqsMessage }> {
  const queue = await openQueue(t, { VisibilityTimeout: '30' });
  await landsat().send(scene, queue);
  const { Messages = [] } = await queue.client.receiveMessage({ QueueUrl: queue.queueUrl });
  return { queue, message: Messages[0] as SqsMessage };
}

/** Fires a beat, and waits until the server has extended the visibility timeout. */
async function beat({ server }: OpenQueue, beats: ReadonlySet<() => void>): Promise<void> {
  const count = (): number =>
    server.events.filter(({ type }) => type === 'visibility-changed').length;
  const before = count();
  for (const each of beats) each();
  while (count() === before) await new Promise((resolve) => setImmediate(resolve));
}

test('a message stays hidden while its handler runs, however long that is', async (t) => {
  const { queue, message } = await received(t);
  const { every, beats } = handTimer();
  const { client, queueUrl } = queue;
  const handler = idempotent(
    async () => {
      for (let half = 0; half < 10; half += 1) {
        await queue.server.clock.advance(15);
        const { Messages } = await client.receiveMessage({ QueueUrl: queueUrl });
        assert.equal(Messages, undefined);
        await beat(queue, beats);
      }
    },
    memoryInbox(),
    { heartbeat: { client, queueUrl, every } },
  );
  await handler(message);
  assert.equal(beats.size, 0);
  await queue.server.clock.advance(30);
  const { Messages = [] } = await client.receiveMessage({ QueueUrl: queueUrl });
  assert.equal(Messages.length, 1);
});

test('a handler whose message cannot be held any more is told by its signal', async (t) => {
  const { queue, message } = await received(t);
  const { every, beats } = handTimer();
  const { client, queueUrl } = queue;
  const heartbeat: Heartbeat = startHeartbeat(message, { client, queueUrl, every });
  await queue.server.clock.advance(30);
  const lost = once(heartbeat.signal, 'abort');
  for (const each of beats) each();
  await lost;
  heartbeat.stop();
});

test('after twelve hours a message is let go', async (t) => {
  const { queue, message } = await received(t);
  const { every, beats } = handTimer();
  const { client, queueUrl } = queue;
  const heartbeat: Heartbeat = startHeartbeat(message, {
    client: { send: client.send.bind(client) },
    queueUrl,
    every,
  });
  await queue.client.deleteMessage({ QueueUrl: queueUrl, ReceiptHandle: message.ReceiptHandle });
  for (let count = 0; count < 2_880; count += 1) for (const each of beats) each();
  assert.ok(heartbeat.signal.aborted);
  assert.equal(beats.size, 0);
});
