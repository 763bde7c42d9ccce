/**
 * Time that is moved: everything due on the way happens at its own time, and on a clock that stands still what is due now
 * still happens.
 */

import assert from 'node:assert/strict';
import { accepted, startedAt, test } from './fixture.ts';

test('moving time runs everything due on the way, each at its own time', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { home } = queue;
  await queue.send();
  await queue.set({ MessageRetentionPeriod: '60' });
  assert.equal(await home.port.advance(3_600_000), startedAt + 3_600_000);
  const expired = (await home.events()).find(({ type }) => type === 'expired');
  assert.equal(expired?.at, startedAt + 60_000);
});

test('on a manual clock, work that is due now runs without moving it: a redrive starts at once (13.5)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters({ fifo: true });
  const { home } = queue;
  await queue.send();
  await queue.receiveOne({ visibilitySeconds: 0 });
  assert.deepEqual(await queue.receive(), []);
  accepted(await home.run({ type: 'start-move-task', sourceArn: dead.arn }));
  let moved = await home.told('moved');
  while (moved.length === 0) moved = await home.told('moved');
  assert.equal(moved[0]?.at, startedAt);
});

test('two concurrent moves of time add up', async (open) => {
  const home = await open.home();
  const { port } = home;
  await Promise.all([port.advance(10_000), port.advance(10_000)]);
  await home.advance(0);
  assert.equal(home.now, startedAt + 20_000);
});
