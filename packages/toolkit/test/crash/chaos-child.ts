/**
 * The consumer of the chaos run: `consume`, an inbox in PostgreSQL, and effects in a table, in a process that the test
 * kills, pauses and starts again. A scene whose tile begins with `poison` fails; one with `killer` kills the process.
 */

import { SQS } from '@aws-sdk/client-sqs';
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
  client,
  queueUrl: order.queueUrl,
  handler,
  signal: ending.signal,
  waitSeconds: 1,
  concurrency: 4,
});
client.destroy();
await pool.end();
