/**
 * The producer process: keeps a thousand scenes in an outbox, then sends what the outbox holds. When restarted after a
 * crash, it finds the outbox and continues. With `--die` it kills itself with SIGKILL at the worst moment: messages are
 * sent, but not yet marked as sent.
 */

import { SQSClient } from '@aws-sdk/client-sqs';
import { createRelay, openFileOutbox } from '@oncemq/toolkit';
import { landsatRefresh, type Scene } from './landsat.producer.ts';

const [folder = '', queueUrl = '', isDoomed] = process.argv.slice(2);
const tiles = 37;
const roundOfDeath = 14;

const scenes: Scene[] = Array.from({ length: 1_000 }, (_, index) => ({
  tile: `p32r${index % tiles}`,
  day: new Date(Date.UTC(2025, 11, 1 + Math.floor(index / tiles))).toISOString().slice(0, 10),
}));

const client = new SQSClient();
const outbox = await openFileOutbox(folder);
if (outbox.unsent === 0) {
  await Promise.all(scenes.map((scene) => outbox.append(landsatRefresh.message(scene))));
}
if (isDoomed === '--die') doom();
const { sent } = await createRelay({ outbox, client, queueUrl }).flush();
console.log(`producer: ${sent} sent`);
await outbox.close();
client.destroy();

/** Dies within a round. In each round, the relay takes the oldest scene of each tile, sends them, and marks them. */
function doom(): void {
  const take = outbox.take.bind(outbox);
  let round = 0;
  outbox.take = (limit, leaveOut, work) =>
    take(limit, leaveOut, async (kept) => {
      const verdict = await work(kept);
      round += 1;
      if (round === roundOfDeath) process.kill(process.pid, 'SIGKILL');
      return verdict;
    });
}
