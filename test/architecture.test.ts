// docs/architecture.md tells the truth about a SendMessage: each file that its walk names is visited, and the walk tells
// how many files there are.
//
// V8 counts which functions run while a warm server on disk answers one request of the AWS client. A function that runs
// now and then (a sweep, a second segment of something) may or may not fall into that moment; so the number that is told
// may be off by a few.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SQS } from '@aws-sdk/client-sqs';
import { startServer } from 'oncemq';

process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';

const page = readFileSync('docs/architecture.md', 'utf8');
const offBy = 4;

test('the walk of SendMessage names files that a send visits, and their number', async (t) => {
  const walk = /^## The walk of SendMessage\n([\s\S]*?)^## /m.exec(page)?.[1] ?? '';
  const named = [...walk.matchAll(/`((?:core|storage|api|server)\/[\w/-]+\.ts)`/g)];
  const told = Number(/\*\*(\d+) files\*\*/.exec(walk)?.[1]);
  assert.ok(named.length > 15, 'the form of the page is known');

  const visited = await filesOfOneSend(t);
  for (const [, name = ''] of named) assert.ok(visited.includes(name), `a send visits ${name}`);
  assert.ok(
    Math.abs(visited.length - told) <= offBy,
    `the page says ${told} files, and a send visits ${visited.length}:\n${visited.join('\n')}`,
  );
});

async function filesOfOneSend(t: TestContext): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

  const data = mkdtempSync(join(tmpdir(), 'oncemq-walk-'));
  const server = await startServer({ port: 0, data, log: 'silent' });
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
  const client = new SQS({ endpoint: server.url, region: 'us-east-1', credentials });
  t.after(async () => {
    session.disconnect();
    client.destroy();
    await server.close();
    rmSync(data, { recursive: true });
  });

  const { QueueUrl } = await client.createQueue({
    QueueName: 'walk.fifo',
    Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
  });
  const send = (MessageBody: string) =>
    client.sendMessage({ QueueUrl, MessageBody, MessageGroupId: 'group' });
  // What only the first sends do is not part of the walk.
  for (const body of ['first', 'second', 'third']) await send(body);
  await session.post('Profiler.takePreciseCoverage');
  await send('the one that counts');
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result.filter(hasRun).flatMap(({ url }) => sourceOf(url));
}

function hasRun({ functions }: Profiler.ScriptCoverage): boolean {
  return functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
}

/** The path below the broker's src; nothing for other code. */
function sourceOf(url: string): string[] {
  const [, name] = /\/packages\/broker\/dist\/src\/(.+)\.js$/.exec(url) ?? [];
  return name === undefined ? [] : [`${name}.ts`];
}
