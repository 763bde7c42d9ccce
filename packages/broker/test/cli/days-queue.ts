/**
 * What the tests of an outbox's commands begin with: a server with the FIFO queue `days.fifo`, and a folder. All of it ends with
 * the test.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { SQS } from '@aws-sdk/client-sqs';
import { startTestServer, type TestServer } from '../../src/testing.ts';

export interface DaysQueue {
  readonly server: TestServer;
  readonly client: SQS;
  readonly queueUrl: string;
  readonly folder: string;
}

export async function openDaysQueue(t: TestContext): Promise<DaysQueue> {
  const server = await startTestServer({ clock: 'manual' });
  const client = new SQS(server.clientConfig);
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-days-'));
  t.after(async () => {
    client.destroy();
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const { QueueUrl: queueUrl = '' } = await client.createQueue({
    QueueName: 'days.fifo',
    Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
  });
  return { server, client, queueUrl, folder };
}
