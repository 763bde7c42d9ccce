/**
 * A small pipeline that keeps its promise: a thousand scenes go from a producer to a consumer, although both die in the
 * middle and five minutes pass before they are back. Run it with `npm run example`.
 *
 * Server, producer and consumer are real and run in three processes; only the clock is advanced by hand, so that nobody
 * has to wait five minutes.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { startTestServer } from 'oncemq/testing';

const folder = mkdtempSync(join(tmpdir(), 'oncemq-landsat-'));
const effectsFile = join(folder, 'effects.txt');
const server = await startTestServer();
const sqs = new SQSClient(server.clientConfig);
const { QueueUrl = '' } = await sqs.send(
  new CreateQueueCommand({
    QueueName: 'landsat-refresh.fifo',
    Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
  }),
);

console.log('The producer dies with 37 scenes sent that it has not marked as sent.');
await endOf(start('produce', join(folder, 'outbox'), QueueUrl, '--die'));
console.log('The consumer dies with an effect done and its message not deleted.');
await endOf(start('consume', join(folder, 'inbox'), QueueUrl, effectsFile, '--die'));

console.log('Five minutes pass; the queue has forgotten what it has seen.');
await server.clock.advance(300);
await endOf(start('produce', join(folder, 'outbox'), QueueUrl));
const consumer = start('consume', join(folder, 'inbox'), QueueUrl, effectsFile);
let said = 0;
while (!(await isEmpty())) {
  await new Promise((resolve) => setTimeout(resolve, 50));
  const done = effectsSoFar();
  if (done - said < 100) continue;
  console.log(`consumer: ${inWords(done)} of 1,000 effects`);
  said = done;
}
consumer.send('stop');
await endOf(consumer);

const effects = readFileSync(effectsFile, 'utf8').trim().split('\n');
const events = new Set(effects).size;
const sent = server.events.filter(({ type }) => type === 'sent').length;
const told = [
  `${inWords(events)} events`,
  `${inWords(sent - events)} replays`,
  `${inWords(effects.length)} effects`,
];
console.log(told.join(', '));
process.exitCode = effects.length === 1_000 && events === 1_000 ? 0 : 1;

sqs.destroy();
await server.close();
rmSync(folder, { recursive: true });

function start(program: string, ...args: string[]): ChildProcess {
  return fork(fileURLToPath(new URL(`${program}.js`, import.meta.url)), args, {
    env: {
      ...process.env,
      AWS_ENDPOINT_URL: server.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'any',
      AWS_SECRET_ACCESS_KEY: 'any',
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
  });
}

async function endOf(child: ChildProcess): Promise<void> {
  const [code] = await once(child, 'exit');
  if (code !== null && code !== 0) throw new Error(`${child.spawnargs[1]} ended with ${code}`);
}

async function isEmpty(): Promise<boolean> {
  const answer = await fetch(`${server.url}/_oncemq/queues/landsat-refresh.fifo`);
  const { visible, inFlight } = (await answer.json()) as { visible: number; inFlight: number };
  return visible + inFlight === 0;
}

function effectsSoFar(): number {
  return readFileSync(effectsFile, 'utf8').split('\n').length - 1;
}

function inWords(count: number): string {
  return count.toLocaleString('en-US');
}
