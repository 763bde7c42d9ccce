/**
 * The consumer of the chaos run: `consume`, an inbox in PostgreSQL, and effects in a table, in a process that the test
 * kills, pauses and starts again. A scene whose tile begins with `poison` fails; one with `killer` kills the process. It
 * answers each message of the test with whether it is at work, so that the test moves the clock only while it is not.
 */

import { ReceiveMessageCommand, SQS } from '@aws-sdk/client-sqs';
import pg from 'pg';
import { consume } from '../../src/consumer/consume.ts';
import { idempotent } from '../../src/consumer/idempotent.ts';
import type { Queryable } from '../../src/database.ts';
import { postgresInbox } from '../../src/inbox/postgres-inbox.ts';
import type { Scene } from '../support/landsat.ts';

export interface ChaosOrder {
  readonly clientConfig: { readonly endpoint: string };
  readonly queueUrl: string;
  readonly databaseUrl: string;
  readonly inboxTable: string;
  readonly effectsTable: string;
}

const order = JSON.parse(process.argv[2] ?? '') as ChaosOrder;
const pool = new pg.Pool({ connectionString: order.databaseUrl, max: 8 });
pool.on('error', () => {});
const client = new SQS(order.clientConfig);
const ending = new AbortController();
/** Handlers, and requests other than those that wait for messages. */
let atWork = 0;
const counted = async <T>(work: () => Promise<T>): Promise<T> => {
  atWork += 1;
  try {
    return await work();
  } finally {
    atWork -= 1;
  }
};
const send = client.send.bind(client) as (...given: unknown[]) => Promise<unknown>;
const watched = {
  send: (command: unknown, options: unknown) =>
    command instanceof ReceiveMessageCommand
      ? send(command, options)
      : counted(() => send(command, options)),
} as Pick<SQS, 'send'>;
process.on('message', () => process.send?.(atWork === 0));
process.once('SIGTERM', () => ending.abort());

const handler = idempotent<Scene, Queryable>(
  async ({ payload }, { transaction }) => {
    // Real time, so that a kill or a pause can hit a handler.
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (payload.day.startsWith('killer')) process.kill(process.pid, 'SIGKILL');
    if (payload.day.startsWith('poison')) throw new Error('poison');
    await transaction.query(`insert into ${order.effectsTable} (tile, day) values ($1, $2)`, [
      payload.tile,
      payload.day,
    ]);
  },
  postgresInbox({ pool, table: order.inboxTable, waitMs: 100 }),
);
await consume({
  client: watched,
  queueUrl: order.queueUrl,
  handler: (message, held) => counted(() => handler(message, held)),
  signal: ending.signal,
  waitSeconds: 1,
  concurrency: 4,
});
client.destroy();
await pool.end();
process.disconnect?.();
