/**
 * The process of the crash tests: a producer with an outbox, or a consumer with an inbox, with the real AWS client. It
 * counts its steps, and at a given count it kills itself with SIGKILL: no handler runs, nothing is flushed, nothing is
 * closed.
 *
 *   producer   append | send | mark, for each event
 *   consumer   effect | mark | delete, for each message
 */

import { appendFileSync } from 'node:fs';
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import pg from 'pg';
import { idempotent } from '../../src/consumer/idempotent.ts';
import { openFileInbox } from '../../src/inbox/file-inbox.ts';
import { postgresInbox } from '../../src/inbox/postgres-inbox.ts';
import { openFileOutbox } from '../../src/outbox/file-outbox.ts';
import type { Outbox } from '../../src/outbox/outbox.ts';
import { postgresOutbox } from '../../src/outbox/postgres-outbox.ts';
import { createRelay } from '../../src/outbox/relay.ts';
import type { ProducerMessage } from '../../src/producer/send.ts';
import { landsat, type Scene } from '../support/landsat.ts';

export interface CrashOrder {
  readonly role: 'producer' | 'consumer';
  readonly store: 'folder' | 'postgres';
  /** The folder of the outbox or inbox. */
  readonly folder: string;
  readonly databaseUrl: string;
  readonly table: string;
  /** Where effects go: a file, or a table. */
  readonly effects: string;
  readonly clientConfig: ConstructorParameters<typeof SQSClient>[0];
  readonly queueUrl: string;
  readonly events: readonly Scene[];
  /** The step at which it dies; if it has fewer steps, it survives. */
  readonly killAt: number;
}

const order = JSON.parse(process.argv[2] ?? '') as CrashOrder;
const { queueUrl, events } = order;
const client = new SQSClient({ ...order.clientConfig, maxAttempts: 1 });
const pool = new pg.Pool({ connectionString: order.databaseUrl, max: 2 });
let steps = 0;

if (order.role === 'producer') await produce();
else await consumeAll();
await pool.end();
client.destroy();
console.log(steps);

function step(): void {
  steps += 1;
  if (steps === order.killAt) process.kill(process.pid, 'SIGKILL');
}

/** Starts from its input each time, like a producer that has kept nothing but its outbox. */
async function produce(): Promise<void> {
  const { outbox, append, close } = await openOutbox();
  const relay = createRelay({ outbox: steppedOutbox(outbox), client, queueUrl });
  await relay.flush();
  for (const event of events) {
    step();
    await append(landsat().message(event));
    step();
  }
  const { failures } = await relay.flush();
  if (failures.length > 0) throw new Error(failures.join());
  await close();
}

async function openOutbox(): Promise<{
  outbox: Outbox;
  append: (message: ProducerMessage) => Promise<unknown>;
  close: () => Promise<void>;
}> {
  if (order.store === 'folder') {
    const outbox = await openFileOutbox(order.folder);
    return { outbox, append: (message) => outbox.append(message), close: () => outbox.close() };
  }
  const outbox = postgresOutbox({ pool, table: order.table });
  return { outbox, append: (message) => outbox.append(pool, message), close: async () => {} };
}

function steppedOutbox(outbox: Outbox): Outbox {
  return {
    ...outbox,
    take: async (limit, leaveOut, work) => {
      const given = await outbox.take(limit, leaveOut, async (kept) => {
        step();
        const sent = await work(kept);
        step();
        return sent;
      });
      step();
      return given;
    },
  };
}

async function consumeAll(): Promise<void> {
  const { handle, close } = await openHandler();
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 2 }),
    );
    if (Messages.length === 0) break;
    for (const message of Messages) {
      await handle(message);
      step();
      const { ReceiptHandle } = message;
      await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
      step();
    }
  }
  await close();
}

async function openHandler() {
  if (order.store === 'folder') {
    const inbox = await openFileInbox(order.folder);
    const handle = idempotent<Scene, undefined>(async ({ dedupe_key }) => {
      step();
      appendFileSync(order.effects, `${dedupe_key}\n`);
      step();
    }, inbox);
    return { handle, close: () => inbox.close() };
  }
  const inbox = postgresInbox({ pool, table: order.table });
  const handle = idempotent<Scene, { query(text: string, values: unknown[]): Promise<unknown> }>(
    async ({ dedupe_key }, { transaction }) => {
      step();
      await transaction.query(`insert into ${order.effects} values ($1)`, [dedupe_key]);
      step();
    },
    inbox,
  );
  return { handle, close: async () => {} };
}
