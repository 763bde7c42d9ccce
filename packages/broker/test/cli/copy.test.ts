/**
 * `oncemq copy`, as people run it: out of a directory into a database that servers share, and back.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withDirectory } from '../storage/lmdb/data-directories.ts';
import { startPostgres } from '../support/postgres.ts';
import { ServerProcess } from '../support/server-process.ts';

const cli = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const queue = 'orders.fifo';

interface Ended {
  readonly code: number | string | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function copy(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [cli, 'copy', ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code ?? error.signal), stdout, stderr });
    });
  });
}

async function send(server: ServerProcess, body: string): Promise<string> {
  const { status, body: answer } = await server.call('SendMessage', {
    QueueUrl: server.queueUrl(queue),
    MessageBody: body,
    MessageGroupId: 'g',
    MessageDeduplicationId: body,
  });
  assert.equal(status, 200, JSON.stringify(answer));
  return answer.SequenceNumber;
}

test('a server moves into a database and back: receipts and duplicates are those from before', () =>
  withDirectory(async (path) => {
    const { url } = await startPostgres();
    const [home, back] = [join(path, 'home'), join(path, 'back')];
    const before = await ServerProcess.start(['--data', home]);
    await before.call('CreateQueue', { QueueName: queue, Attributes: { FifoQueue: 'true' } });
    const sequences = [await send(before, 'one'), await send(before, 'two')];
    // Its receipt is used after the move, however long that takes on a busy machine.
    const wanted = { QueueUrl: before.queueUrl(queue), VisibilityTimeout: 900 };
    const received = await before.call('ReceiveMessage', wanted);
    const running = await copy('--from', home, '--to', url);
    assert.equal(running.code, 1);
    assert.match(running.stderr, /is in use by process \d+\. Stop that server/);
    await before.kill('SIGTERM');

    const there = await copy('--from', home, '--to', url);
    assert.equal(there.stderr, '', 'nothing to wait for');
    const { host, pathname } = new URL(url);
    assert.equal(
      there.stdout.replace(/^\d+ /, ''),
      `records copied from ${home} to ${host}${pathname}, and verified\n`,
    );
    const node = await ServerProcess.start(['--postgres', url]);
    assert.equal(await send(node, 'two'), sequences[1], 'a duplicate');
    const [message] = received.body.Messages;
    const handle = { ReceiptHandle: message.ReceiptHandle };
    const deleted = { QueueUrl: node.queueUrl(queue), ...handle };
    assert.equal((await node.call('DeleteMessage', deleted)).status, 200);
    assert.match((await copy('--from', url, '--to', back)).stderr, /A server uses the database/);
    await node.kill('SIGTERM');

    assert.equal((await copy('--from', url, '--to', back)).code, 0);
    const after = await ServerProcess.start(['--data', back]);
    assert.equal(await send(after, 'one'), sequences[0]);
    assert.ok(BigInt(await send(after, 'three')) > BigInt(sequences[1] as string));
    const left = await after.call('ReceiveMessage', {
      QueueUrl: after.queueUrl(queue),
      MaxNumberOfMessages: 10,
    });
    const bodies = left.body.Messages.map(({ Body }: { Body: string }) => Body);
    assert.deepEqual(bodies, ['two', 'three']);
    await after.kill('SIGTERM');
  }));

test('how to use it is said when it is used otherwise', async () => {
  for (const args of [[], ['--from', 'a'], ['--from', 'a', '--to', 'b', 'c'], ['--form', 'a']]) {
    const { code, stderr } = await copy(...args);
    assert.equal(code, 2);
    assert.match(stderr, /Usage: oncemq copy --from DIR\|URL --to DIR\|URL/);
  }
  const { code, stderr } = await copy('--from', 'no/such/place', '--to', 'nowhere');
  assert.equal(code, 1);
  assert.match(stderr, /There is no server data in .*no\/such\/place\./);
});
