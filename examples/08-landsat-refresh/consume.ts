/**
 * The consumer process: each scene takes effect once, as a line in a file. The inbox remembers its key for a week, so a
 * message that comes again after the queue has forgotten it is recognized. With `--die` the process kills itself with
 * SIGKILL when an effect is done and marked, but its message is not deleted yet.
 */

import { appendFileSync } from 'node:fs';
import { SQSClient } from '@aws-sdk/client-sqs';
import { consume, idempotent, openFileInbox, type SqsMessage } from '@oncemq/toolkit';
import type { Scene } from './landsat.producer.ts';

const [folder = '', queueUrl = '', effects = '', isDoomed] = process.argv.slice(2);
const effectOfDeath = 300;
let count = 0;

const client = new SQSClient();
const inbox = await openFileInbox(folder);
const refresh = idempotent<Scene, undefined>(async ({ dedupe_key }) => {
  appendFileSync(effects, `${dedupe_key}\n`);
  count += 1;
}, inbox);

const ending = new AbortController();
process.once('message', () => ending.abort());
await consume({
  client,
  queueUrl,
  signal: ending.signal,
  waitSeconds: 1,
  // Of an inbox in a folder, a kill repeats the effects between their effect and their mark: one at a time has none here.
  concurrency: 1,
  handler: async (message: SqsMessage) => {
    await refresh(message);
    if (isDoomed === '--die' && count === effectOfDeath) process.kill(process.pid, 'SIGKILL');
  },
});
await inbox.close();
client.destroy();
process.disconnect();
