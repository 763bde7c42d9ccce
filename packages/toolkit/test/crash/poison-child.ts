/**
 * The consumer of the poison tests: `consume` with the real AWS client, in a process that a message can kill. A body with
 * !! kills it with SIGKILL, one with ! fails; every other one is written to the file of effects. It ends when the queue is
 * empty, and moves the server's clock by a visibility timeout whenever it has nothing to do.
 */

import { appendFileSync } from 'node:fs';
import { SQS } from '@aws-sdk/client-sqs';
import { consume } from '../../src/consumer/consume.ts';

export interface PoisonOrder {
  readonly clientConfig: { readonly endpoint: string };
  readonly queueUrl: string;
  readonly effects: string;
  /** Whether it behaves as if it had been running for an hour. */
  readonly isCalm: boolean;
  /** The handler call in which it is killed, counted from 1; 0 for none. */
  readonly killAt: number;
}

const order = JSON.parse(process.argv[2] ?? '') as PoisonOrder;
const { queueUrl: QueueUrl } = order;
const client = new SQS({ ...order.clientConfig, maxAttempts: 1 });
const ending = new AbortController();
let underWay = 0;
let handled = 0;
let clockCalls = 0;

const send = async (command: { constructor: { name: string } }, ...rest: unknown[]) => {
  underWay += 1;
  const call = client.send.bind(client) as unknown as (
    ...all: unknown[]
  ) => Promise<{ Messages?: unknown[] }>;
  const answer = await call(command, ...rest).finally(() => {
    underWay -= 1;
  });
  const isReceive = command.constructor.name === 'ReceiveMessageCommand';
  if (isReceive && answer.Messages === undefined) await whenIdle();
  return answer;
};

await consume({
  client: { send } as unknown as SQS,
  queueUrl: QueueUrl,
  waitSeconds: 0,
  signal: ending.signal,
  now: () => (clockCalls++ === 0 || !order.isCalm ? 0 : 3_600_000),
  handler: async ({ Body = '' }) => {
    underWay += 1;
    handled += 1;
    const isLast = handled === order.killAt;
    // Others get the time to be in flight as well.
    await turns(20);
    if (isLast || Body.includes('!!')) process.kill(process.pid, 'SIGKILL');
    underWay -= 1;
    if (Body.includes('!')) throw new Error(Body);
    appendFileSync(order.effects, `${Body}\n`);
  },
});
client.destroy();

async function whenIdle(): Promise<void> {
  await turns(5);
  if (underWay > 0) return;
  const { Attributes = {} } = await client.getQueueAttributes({
    QueueUrl,
    AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
  });
  if (Object.values(Attributes).every((count) => count === '0')) return ending.abort();
  await fetch(`${order.clientConfig.endpoint}/_oncemq/clock/advance`, {
    method: 'POST',
    body: JSON.stringify({ seconds: 30 }),
  });
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
