/**
 * What became of one event: a Landsat scene is sent, sent again, received without being deleted until it is a dead letter,
 * and moved back. The server keeps a ledger, from which `oncemq trace` tells the story, given only the key of the event.
 *
 * The clock is advanced by hand, so that minutes pass at once.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQS } from '@aws-sdk/client-sqs';
import { defineProducer, key } from '@oncemq/toolkit';
import { startTestServer } from 'oncemq/testing';

const scenes = defineProducer<{ tile: string; day: string }>({
  source: 'kfm.remote-sensing.landsat-refresh',
  dedupeKey: ({ tile, day }) => key('landsat', tile, day),
  eventTime: ({ day }) => `${day}T00:00:00Z`,
  groupId: ({ tile }) => tile,
});

const folder = mkdtempSync(join(tmpdir(), 'oncemq-trace-'));
const ledger = join(folder, 'ledger');
const server = await startTestServer({ ledger, clock: 'manual' });
const client = new SQS(server.clientConfig);

const fifo = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:dead.fifo';
const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 });
await client.createQueue({ QueueName: 'dead.fifo', Attributes: fifo });
const { QueueUrl: queueUrl = '' } = await client.createQueue({
  QueueName: 'scenes.fifo',
  Attributes: { ...fifo, RedrivePolicy },
});

const scene = { tile: 'p32r29', day: '2025-12-04' };
await scenes.send(scene, { client, queueUrl });
await server.clock.advance(42);
await scenes.send(scene, { client, queueUrl });

// Received twice and never deleted; the third receive makes it a dead letter.
for (let receive = 1; receive <= 3; receive += 1) {
  await client.receiveMessage({ QueueUrl: queueUrl });
  await server.clock.advance(31);
}
await client.startMessageMoveTask({ SourceArn: deadLetterTargetArn });
await server.clock.advance(1);
const { Messages: [message] = [] } = await client.receiveMessage({ QueueUrl: queueUrl });
await client.deleteMessage({ QueueUrl: queueUrl, ReceiptHandle: message?.ReceiptHandle });

client.destroy();
await server.close();

// npx oncemq trace landsat/p32r29/2025-12-04 --ledger DIR
const args = ['node_modules/.bin/oncemq', 'trace', 'landsat/p32r29/2025-12-04', '--ledger', ledger];
const story = execFileSync(process.execPath, args, { encoding: 'utf8' });
console.log(story);
rmSync(folder, { recursive: true });

const told = [...story.matchAll(/^\S+Z +(?:\S+ s +)?([a-z-]+)/gm)].map(([, event]) => event);
assert.deepEqual(told, [
  'accepted',
  'suppressed',
  'delivered',
  'delivered',
  'dead-lettered',
  'moved',
  'delivered',
  'deleted',
]);
