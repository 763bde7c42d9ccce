/**
 * What people ask beyond single messages: pages of peeked messages, a suppressed send with its original, and a reset that
 * leaves nothing behind.
 */

import assert from 'node:assert/strict';
import type { Explained } from '../../src/storage/backend.ts';
import { accepted, type TestQueue, test } from './fixture.ts';

test('a page of peeked messages ends early where bodies are large', async (open) => {
  const queue = await open.queue({ fifo: true });
  for (let count = 0; count < 8; count += 1) await queue.send({ body: 'x'.repeat(1_000_000) });
  const peek = { type: 'peek-messages', queue: queue.name, limit: 100 } as const;
  const peeked = accepted(await queue.home.run(peek));
  assert.equal(peeked.messages.length, 5);
  assert.equal(peeked.next, peeked.messages.at(-1)?.sequence);
  const rest = accepted(await queue.home.run({ ...peek, after: peeked.next as number }));
  assert.deepEqual([rest.messages.length, rest.next], [3, undefined]);
});

test('a full page of peeked messages is the last if nothing follows it', async (open) => {
  const queue = await open.queue({ fifo: true });
  for (const body of ['first', 'second', 'third', 'fourth']) await queue.send({ body });
  const peek = { type: 'peek-messages', queue: queue.name, limit: 2 } as const;
  const first = accepted(await queue.home.run(peek));
  assert.deepEqual([first.messages.length, first.next], [2, first.messages[1]?.sequence]);
  const last = accepted(await queue.home.run({ ...peek, after: first.next }));
  const bodies = last.messages.map(({ content }) => content.body);
  assert.deepEqual([bodies, last.next], [['third', 'fourth'], undefined]);
});

const price = { body: 'price', groupId: 'g', deduplicationId: 'p-1' };

async function explained(queue: TestQueue): Promise<readonly Explained[]> {
  const { name, home } = queue;
  const { deduplicationId } = price;
  const command = { type: 'explain', queue: name, deduplicationId, limit: 2 } as const;
  return accepted(await home.run(command)).entries;
}

test('explaining an id names its original', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send(price);
  await queue.advance(1);
  await queue.send(price);
  const found = (await explained(queue)).map(({ deduplicationId, groupId, source }) => ({
    deduplicationId,
    groupId,
    source,
  }));
  assert.deepEqual(found, [{ deduplicationId: 'p-1', groupId: 'g', source: 'explicit' }]);
});

test('explaining an id names every suppressed send', async (open) => {
  const queue = await open.queue({ fifo: true });
  const attributes = [{ name: 'market', type: 'String', stringValue: 'retail' }];
  await queue.send(price);
  await queue.advance(1);
  await queue.send({ ...price, attributes });
  const [found] = await explained(queue);
  assert.equal(found?.deduplicationId, 'p-1');
  assert.equal(found?.suppressed.length, 1);
  assert.equal(found?.suppressed[0]?.ageMs, 1_000);
  const differed = { body: false, attributes: true, group: false };
  assert.deepEqual(found?.suppressed[0]?.differed, differed);
});

test('a reset leaves nothing behind', async (open) => {
  const queue = await open.queue({ fifo: true });
  await queue.send();
  assert.equal((await queue.receive({ attemptId: 'a' })).length, 1);
  await queue.home.port.reset();
  assert.deepEqual(accepted(await queue.home.run({ type: 'list-queues' })).queues, []);
});
