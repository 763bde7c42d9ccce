/**
 * `oncemq trace` as a process: how it ends, and how it handles text that is unsafe for a terminal. The content of its
 * stories is tested with the ledger (server/ledger.test.ts).
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { SQS } from '@aws-sdk/client-sqs';
import { storyMax } from '../../src/cli/trace/telling.ts';
import { type LedgerFields, lineOf } from '../../src/server/ledger/record.ts';
import { startTestServer, type TestServer } from '../../src/testing.ts';
import { main, temporaryFolder, trace } from '../support/ledger.ts';

async function open(
  t: TestContext,
): Promise<{ server: TestServer; sqs: SQS; QueueUrl: string; ledger: string }> {
  const ledger = temporaryFolder(t);
  const server = await startTestServer({ ledger });
  const sqs = new SQS(server.clientConfig);
  t.after(async () => {
    sqs.destroy();
    await server.close();
  });
  const { QueueUrl = '' } = await sqs.createQueue({ QueueName: 'jobs' });
  return { server, sqs, QueueUrl, ledger };
}

test('trace shows the terminal control codes in an envelope instead of sending them', async (t) => {
  const { server, sqs, QueueUrl, ledger } = await open(t);
  const codes = '\u001b]0;title\u0007\n';
  const envelope = { event_id: `e${codes}`, event_source: codes, dedupe_key: `k${codes}` };
  await sqs.sendMessage({ QueueUrl, MessageBody: JSON.stringify(envelope) });
  await server.close();
  const { out } = await trace(`k${codes}`, '--ledger', ledger);
  assert.ok(out.startsWith('event e\\u001b]0;title\\u0007\\u000a of \\u001b'), out);
  assert.ok(out.includes('\nkey   k\\u001b]0;title\\u0007\\u000a\n'), out);
});

test('a closed pipe is not an error; a path that is not a ledger is reported', async (t) => {
  const { server, sqs, QueueUrl, ledger } = await open(t);
  const { MessageId } = await sqs.sendMessage({ QueueUrl, MessageBody: 'x' });
  await server.close();
  const child = spawn(process.execPath, [main, 'trace', `${MessageId}`, '--ledger', ledger]);
  child.stdout.destroy();
  const said = text(child.stderr);
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.equal(await said, '');
  const file = await trace('x', '--ledger', main);
  assert.equal(file.code, 1);
  assert.match(file.error, /^oncemq: The ledger .+ cannot be read: ENOTDIR/);
});

test('a story that is too long says so, also for one queue and in JSON', async (t) => {
  const ledger = temporaryFolder(t);
  const id = '00000000-0000-4000-8000-000000000001';
  const about = { queue: 'jobs', message_id: id };
  const line = (fields: LedgerFields): string => lineOf('r-1', '2025-12-04T00:00:00.000Z', fields);
  const lines = [
    line({ event: 'accepted', ...about }),
    line({ event: 'dead-lettered', ...about, target: 'dead', receive_count: 1 }),
    line({ event: 'delivered', ...about, queue: 'dead', receive_count: 1 }).repeat(storyMax),
  ];
  writeFileSync(join(ledger, 'ledger-r-1.jsonl'), lines.join(''));
  const { out } = await trace(id, '--ledger', ledger, '--queue', 'jobs');
  assert.match(
    out,
    /accepted.*\n.*dead-lettered.*\nThe story is longer: only its first 10000 records/,
  );
  const { records, isCut } = JSON.parse((await trace(id, '--ledger', ledger, '--json')).out);
  assert.deepEqual([records.length, isCut], [storyMax, true]);
});
