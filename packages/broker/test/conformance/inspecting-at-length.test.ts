/**
 * What people ask beyond single messages: pages of peeked messages, a suppressed send with its original, and a reset that
 * leaves nothing behind.
 */

import assert from 'node:assert/strict';
import type { CommandOf } from '../../src/core/commands.ts';
import type { Backend, Delivered } from '../../src/storage/backend.ts';
import { type Opener, test } from './fixture.ts';

const patient = new AbortController();

async function openPort(open: Opener): Promise<Backend> {
  return (await open.queue({ fifo: true })).home.port;
}

let sent = 0;

async function send(backend: Backend, body: string, groupId = 'g'): Promise<void> {
  sent += 1;
  const entry = { body, groupId, deduplicationId: String(sent) };
  const command = { type: 'send', queue: 'jobs.fifo', isBatch: false, entries: [entry] } as const;
  assert.equal((await backend.run(command)).ok, true);
}

type Receive = Omit<CommandOf<'receive'>, 'type' | 'queue'>;

async function receive(
  backend: Backend,
  options: Receive = {},
  client: { readonly signal: AbortSignal } = patient,
): Promise<readonly Delivered[]> {
  const received = await backend.receive(
    { type: 'receive', queue: 'jobs.fifo', ...options },
    client,
  );
  assert.ok(received.ok);
  return received.messages;
}

test('a page of peeked messages ends early where bodies are large', async (open) => {
  const backend = await openPort(open);
  const queue = 'jobs.fifo';
  for (let count = 0; count < 8; count += 1) await send(backend, 'x'.repeat(1_000_000));
  const peeked = await backend.peek({ type: 'peek-messages', queue, limit: 100 });
  assert.ok(peeked.ok);
  assert.equal(peeked.messages.length, 5);
  assert.equal(peeked.next, peeked.messages.at(-1)?.sequence);
  const rest = await backend.peek({
    type: 'peek-messages',
    queue,
    limit: 100,
    after: peeked.next as number,
  });
  assert.ok(rest.ok);
  assert.deepEqual([rest.messages.length, rest.next], [3, undefined]);
});

test('a full page of peeked messages is the last if nothing follows it', async (open) => {
  const backend = await openPort(open);
  for (const body of ['first', 'second', 'third', 'fourth']) await send(backend, body);
  const peek = { type: 'peek-messages', queue: 'jobs.fifo', limit: 2 } as const;
  const first = await backend.peek(peek);
  assert.ok(first.ok);
  assert.deepEqual([first.messages.length, first.next], [2, first.messages[1]?.sequence]);
  const last = await backend.peek({ ...peek, after: first.next });
  assert.ok(last.ok);
  const bodies = last.messages.map(({ content }) => content.body);
  assert.deepEqual([bodies, last.next], [['third', 'fourth'], undefined]);
});

test('explaining an id names its original', async (open) => {
  const backend = await openPort(open);
  const entry = { body: 'price', groupId: 'g', deduplicationId: 'p-1' };
  const queue = 'jobs.fifo';
  await backend.run({ type: 'send', queue, isBatch: false, entries: [entry] });
  await backend.advance(1_000);
  await backend.run({ type: 'send', queue, isBatch: false, entries: [entry] });
  const found = await backend.explain({ type: 'explain', queue, deduplicationId: 'p-1', limit: 2 });
  assert.ok(found.ok);
  const told = found.entries.map(({ deduplicationId, groupId, source }) => ({
    deduplicationId,
    groupId,
    source,
  }));
  assert.deepEqual(told, [{ deduplicationId: 'p-1', groupId: 'g', source: 'explicit' }]);
});

test('explaining an id names every suppressed send', async (open) => {
  const backend = await openPort(open);
  const entry = { body: 'price', groupId: 'g', deduplicationId: 'p-1' };
  const attributes = [{ name: 'market', type: 'String', stringValue: 'retail' }];
  const queue = 'jobs.fifo';
  await backend.run({ type: 'send', queue, isBatch: false, entries: [entry] });
  await backend.advance(1_000);
  await backend.run({ type: 'send', queue, isBatch: false, entries: [{ ...entry, attributes }] });
  const found = await backend.explain({ type: 'explain', queue, deduplicationId: 'p-1', limit: 1 });
  assert.ok(found.ok);
  const [explained] = found.entries;
  assert.equal(explained?.deduplicationId, 'p-1');
  assert.equal(explained?.suppressed.length, 1);
  assert.equal(explained?.suppressed[0]?.ageMs, 1_000);
  assert.deepEqual(explained?.suppressed[0]?.differed, {
    body: false,
    attributes: true,
    group: false,
  });
});

test('a reset leaves nothing behind', async (open) => {
  const backend = await openPort(open);
  await send(backend, 'gone');
  const waiting = receive(backend, { waitSeconds: 20, attemptId: 'a' });
  assert.equal((await waiting).length, 1);
  await backend.reset();
  const listed = await backend.run({ type: 'list-queues' });
  assert.deepEqual(listed.ok && listed.queues, []);
});
