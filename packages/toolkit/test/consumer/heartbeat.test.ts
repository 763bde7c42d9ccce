/**
 * The heartbeat, with a timer that the test fires and a server whose clock it moves: a message stays hidden for as long
 * as its handler runs, and not longer.
 */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { consume } from '../../src/consumer/consume.ts';
import { type Heartbeat, startHeartbeat } from '../../src/consumer/heartbeat.ts';
import { idempotent } from '../../src/consumer/idempotent.ts';
import type { SqsMessage } from '../../src/consumer/received.ts';
import { memoryInbox } from '../../src/inbox/memory-inbox.ts';
import { landsat, type Scene, scene, scenes } from '../support/landsat.ts';
import { type OpenQueue, openQueue } from '../support/server.ts';

/** A timer that the test fires by hand. */
function handTimer() {
  const beats = new Set<() => void>();
  /** Those that repeat a failed beat. */
  const repeats = new Set<() => void>();
  const every = (milliseconds: number, beat: () => void): (() => void) => {
    assert.ok(milliseconds === 15_000 || milliseconds === 1_500);
    const timers = milliseconds === 15_000 ? beats : repeats;
    timers.add(beat);
    return () => timers.delete(beat);
  };
  return { every, beats, repeats };
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
  while (count() === before) await turn();
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Works for longer than the message is hidden. Another consumer receives it, and the next beats fail. */
async function outlive(
  { server, client, queueUrl }: OpenQueue,
  beats: Iterable<() => void>,
  signal: AbortSignal,
): Promise<void> {
  await server.clock.advance(30);
  const { Messages = [] } = await client.receiveMessage({ QueueUrl: queueUrl });
  assert.equal(Messages.length, 1);
  for (const each of beats) each();
  while (!signal.aborted) await turn();
  signal.throwIfAborted();
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

test('the signal of a handler aborts when another consumer has its message', async (t) => {
  const { queue, message } = await received(t);
  const { every, beats } = handTimer();
  const { client, queueUrl } = queue;
  const handler = idempotent((_, { signal }) => outlive(queue, beats, signal), memoryInbox(), {
    heartbeat: { client, queueUrl, every },
  });
  await assert.rejects(handler(message), /not available for visibility timeout change/);
  assert.equal(beats.size, 0);
});

describe('in the plain loop', () => {
  const setUp = async (t: TestContext, events: readonly Scene[]) => {
    const queue = await openQueue(t);
    await landsat({ groupId: ({ tile }) => tile }).sendBatch(events, queue);
    const { every, beats } = handTimer();
    const told: [name: string, id: string | undefined][] = [];
    const ending = new AbortController();
    const options = {
      ...queue,
      every,
      waitSeconds: 0,
      concurrency: 1,
      signal: ending.signal,
      onError: (error: unknown, message: SqsMessage | undefined) => {
        told.push([(error as Error).name, message?.MessageId]);
      },
    };
    const sent = queue.server.events.flatMap((event) =>
      event.type === 'sent' ? [event.messageId] : [],
    );
    return { queue, beats, told, ending, options, sent };
  };

  test('the handler and onError learn once each that another consumer has the message', async (t) => {
    const { queue, beats, told, ending, options, sent } = await setUp(t, [scene]);
    const handler = idempotent(async (_, { signal }) => {
      ending.abort();
      await outlive(queue, beats, signal);
    }, memoryInbox());
    await consume({ ...options, handler });
    assert.deepEqual(told, [['InvalidParameterValue', sent[0]]]);
  });

  test('a handler with its own heartbeat does not extend what the loop already extends', async (t) => {
    const { queue, beats, told, ending, options } = await setUp(t, [scene]);
    const heartbeat = { ...queue, every: options.every };
    const handler = idempotent(
      async () => {
        ending.abort();
        assert.equal(beats.size, 1);
      },
      memoryInbox(),
      { heartbeat },
    );
    await consume({ ...options, handler });
    assert.deepEqual(told, []);
  });

  test('a message lost while it waits is not handled, nor are later ones of its group', async (t) => {
    const later = { ...scene, day: '2025-12-05' };
    const { queue, beats, told, ending, options, sent } = await setUp(t, [
      ...scenes(1),
      scene,
      later,
    ]);
    const handled: unknown[] = [];
    await consume({
      ...options,
      handler: async ({ MessageId }, { signal }) => {
        ending.abort();
        handled.push(MessageId);
        await outlive(queue, [...beats].slice(0, 2), signal).catch(() => {});
        while (told.length < 2) await turn();
      },
    });
    assert.deepEqual(handled, sent.slice(0, 1));
    // The third is the handler's message again, which could not be deleted.
    assert.deepEqual(
      told.map(([, id]) => id),
      [sent[0], sent[1], sent[0]],
    );
  });

  test('an onError that throws over a lost message ends the loop, not the process', async (t) => {
    const { queue, beats, options } = await setUp(t, scenes(2));
    const handled: unknown[] = [];
    const failing = consume({
      ...options,
      handler: async ({ MessageId }) => {
        handled.push(MessageId);
        const [first, second] = [...beats] as [() => void, () => void];
        await queue.server.clock.advance(15);
        await beat(queue, new Set([first]));
        await queue.server.clock.advance(15);
        second();
        while (thrown === 0) await turn();
      },
      onError: (error) => {
        thrown += 1;
        throw error;
      },
    });
    let thrown = 0;
    await assert.rejects(failing, /not available for visibility timeout change/);
    assert.equal(handled.length, 1);
    assert.equal(queue.server.events.filter(({ type }) => type === 'deleted').length, 1);
    assert.equal(beats.size, 0);
  });
});

describe('an extension that fails', () => {
  const setUp = async (t: TestContext, outcome: () => Promise<void>) => {
    const { queue, message } = await received(t);
    const { every, beats, repeats } = handTimer();
    const { client, queueUrl } = queue;
    let requests = 0;
    const send = async (command: unknown): Promise<unknown> => {
      requests += 1;
      await outcome();
      return (client.send as (command: unknown) => Promise<unknown>)(command);
    };
    const heartbeat: Heartbeat = startHeartbeat(message, {
      client: { send } as unknown as typeof client,
      queueUrl,
      every,
    });
    t.after(() => heartbeat.stop());
    const fire = async (timers: ReadonlySet<() => void>): Promise<void> => {
      for (const each of [...timers]) each();
      for (let count = 0; count < 5; count += 1) await turn();
    };
    return { queue, heartbeat, beats, repeats, fire, requests: () => requests };
  };

  test('is repeated within the timeout, and the message stays hidden', async (t) => {
    let failures = 3;
    const { queue, heartbeat, beats, repeats, fire, requests } = await setUp(t, async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('ECONNREFUSED');
    });
    await queue.server.clock.advance(15);
    await fire(beats);
    for (let count = 0; count < 3; count += 1) await fire(repeats);
    while (repeats.size > 0) await turn();
    assert.equal(requests(), 4);
    await queue.server.clock.advance(29);
    const { Messages } = await queue.client.receiveMessage({ QueueUrl: queue.queueUrl });
    assert.equal(Messages, undefined);
    assert.equal(heartbeat.signal.aborted, false);
  });

  test('until the timeout is over aborts the signal', async (t) => {
    const { heartbeat, beats, repeats, fire } = await setUp(t, async () => {
      throw new Error('ECONNREFUSED');
    });
    await fire(beats);
    for (let count = 0; count < 9; count += 1) await fire(repeats);
    assert.equal(heartbeat.signal.aborted, false);
    await fire(beats);
    assert.match(String(heartbeat.signal.reason), /ECONNREFUSED/);
    assert.deepEqual([beats.size, repeats.size], [0, 0]);
  });

  test('by having no answer is not doubled, and aborts the signal in the end', async (t) => {
    const { heartbeat, beats, repeats, fire, requests } = await setUp(
      t,
      () => new Promise(() => {}),
    );
    await fire(beats);
    await fire(repeats);
    assert.equal(requests(), 1);
    await fire(beats);
    assert.match(String(heartbeat.signal.reason), /took longer than the timeout/);
  });
});

test('after twelve hours a heartbeat stops and aborts its signal', async (t) => {
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
