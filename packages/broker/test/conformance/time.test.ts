/**
 * Time that is moved: everything due on the way happens at its own time, and on a clock that stands still what is due now
 * still happens.
 */

import assert from 'node:assert/strict';
import type { CommandOf } from '../../src/core/commands.ts';
import type { Event } from '../../src/core/events.ts';
import type { Backend } from '../../src/storage/backend.ts';
import { type Opener, startedAt, test } from './fixture.ts';

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

test('moving time runs everything due on the way, each at its own time', async (open) => {
  const backend = await openPort(open);
  const events: Event[] = [];
  await send(backend, 'old');
  backend.listen((event) => events.push(event));
  const attributes = { MessageRetentionPeriod: '60' };
  await backend.run({ type: 'set-attributes', queue: 'jobs.fifo', attributes });
  assert.equal(await backend.advance(3_600_000), startedAt + 3_600_000);
  const expired = events.find(({ type }) => type === 'expired');
  assert.equal(expired?.at, startedAt + 60_000);
});

test('on a manual clock, work that is due now runs without moving it: a redrive starts at once (13.5)', async (open) => {
  const backend = await openPort(open);
  const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:jobs.fifo';
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
  const attributes = { FifoQueue: 'true', RedrivePolicy };
  await backend.run({ type: 'create-queue', queue: 'work.fifo', attributes });
  const entries = [{ body: 'poison', groupId: 'g', deduplicationId: 'p' }];
  await backend.run({ type: 'send', queue: 'work.fifo', isBatch: false, entries });
  const take: CommandOf<'receive'> = {
    type: 'receive',
    queue: 'work.fifo',
    visibilitySeconds: 0,
  };
  await backend.receive(take, patient);
  await backend.receive(take, patient);
  const moved = new Promise((resolve) => backend.listen(resolve));
  await backend.run({ type: 'start-move-task', sourceArn: deadLetterTargetArn });
  assert.equal(((await moved) as Event).at, startedAt);
});

test('two concurrent moves of time add up', async (open) => {
  const backend = await openPort(open);
  await Promise.all([backend.advance(10_000), backend.advance(10_000)]);
  assert.equal(backend.now(), startedAt + 20_000);
});
