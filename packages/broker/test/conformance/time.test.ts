/**
 * Time that is moved: everything due on the way happens at its own time, and on a clock that stands still what is due now
 * still happens.
 */

import assert from 'node:assert/strict';
import type { CommandOf } from '../../src/core/commands.ts';
import { type Opener, startedAt, type TestBackend, test } from './fixture.ts';

const patient = new AbortController();

async function openHome(open: Opener): Promise<TestBackend> {
  return (await open.queue({ fifo: true })).home;
}

let sent = 0;

async function send(home: TestBackend, body: string, groupId = 'g'): Promise<void> {
  sent += 1;
  const entry = { body, groupId, deduplicationId: String(sent) };
  const command = { type: 'send', queue: 'jobs.fifo', isBatch: false, entries: [entry] } as const;
  assert.equal((await home.run(command)).ok, true);
}

test('moving time runs everything due on the way, each at its own time', async (open) => {
  const home = await openHome(open);
  await send(home, 'old');
  const attributes = { MessageRetentionPeriod: '60' };
  await home.run({ type: 'set-attributes', queue: 'jobs.fifo', attributes });
  assert.equal(await home.port.advance(3_600_000), startedAt + 3_600_000);
  const events = await home.events();
  const expired = events.find(({ type }) => type === 'expired');
  assert.equal(expired?.at, startedAt + 60_000);
});

test('on a manual clock, work that is due now runs without moving it: a redrive starts at once (13.5)', async (open) => {
  const home = await openHome(open);
  const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:jobs.fifo';
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
  const attributes = { FifoQueue: 'true', RedrivePolicy };
  await home.run({ type: 'create-queue', queue: 'work.fifo', attributes });
  const entries = [{ body: 'poison', groupId: 'g', deduplicationId: 'p' }];
  await home.run({ type: 'send', queue: 'work.fifo', isBatch: false, entries });
  const take: CommandOf<'receive'> = {
    type: 'receive',
    queue: 'work.fifo',
    visibilitySeconds: 0,
  };
  await home.port.receive(take, patient);
  await home.port.receive(take, patient);
  await home.run({ type: 'start-move-task', sourceArn: deadLetterTargetArn });
  let moved = await home.told('moved');
  while (moved.length === 0) moved = await home.told('moved');
  assert.equal(moved[0]?.at, startedAt);
});

test('two concurrent moves of time add up', async (open) => {
  const home = await openHome(open);
  const { port } = home;
  await Promise.all([port.advance(10_000), port.advance(10_000)]);
  await home.advance(0);
  assert.equal(home.now, startedAt + 20_000);
});
