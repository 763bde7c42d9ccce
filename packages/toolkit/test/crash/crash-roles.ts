/**
 * What the processes of the crash tests do: a producer with an outbox, or a consumer with an inbox, with the real AWS client.
 * It tells each of its steps, so that a process can die at one of them (child.ts).
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
}

interface Work extends CrashOrder {
  readonly client: SQSClient;
  readonly pool: pg.Pool;
  readonly step: () => void;
}

/** Does all that is left to do. */
export async function carryOut(order: CrashOrder, step: () => void): Promise<void> {
  const client = new SQSClient({ ...order.clientConfig, maxAttempts: 1 });
  const pool = new pg.Pool({ connectionString: order.databaseUrl, max: 2 });
  const work: Work = { ...order, client, pool, step };
  await (order.role === 'producer' ? produce(work) : consumeAll(work));
  await pool.end();
  client.destroy();
}

/** Starts from its input each time, like a producer that has kept nothing but its outbox. */
async function produce(work: Work): Promise<void> {
  const { client, queueUrl, events, step } = work;
  const { outbox, append, close } = await openOutbox(work);
  const relay = createRelay({ outbox: steppedOutbox(outbox, step), client, queueUrl });
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

async function openOutbox({ store, folder, pool, table }: Work): Promise<{
  outbox: Outbox;
  append: (message: ProducerMessage) => Promise<unknown>;
  close: () => Promise<void>;
}> {
  if (store === 'folder') {
    const outbox = await openFileOutbox(folder);
    return { outbox, append: (message) => outbox.append(message), close: () => outbox.close() };
  }
  const outbox = postgresOutbox({ pool, table });
  return { outbox, append: (message) => outbox.append(pool, message), close: async () => {} };
}

function steppedOutbox(outbox: Outbox, step: () => void): Outbox {
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

async function consumeAll(work: Work): Promise<void> {
  const { client, queueUrl, step } = work;
  const { handle, close } = await openHandler(work);
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

async function openHandler({ store, folder, pool, table, effects, step }: Work) {
  if (store === 'folder') {
    const inbox = await openFileInbox(folder);
    const handle = idempotent<Scene, undefined>(async ({ dedupe_key }) => {
      step();
      appendFileSync(effects, `${dedupe_key}\n`);
      step();
    }, inbox);
    return { handle, close: () => inbox.close() };
  }
  const inbox = postgresInbox({ pool, table });
  const handle = idempotent<Scene, { query(text: string, values: unknown[]): Promise<unknown> }>(
    async ({ dedupe_key }, { transaction }) => {
      step();
      await transaction.query(`insert into ${effects} values ($1)`, [dedupe_key]);
      step();
    },
    inbox,
  );
  return { handle, close: async () => {} };
}
