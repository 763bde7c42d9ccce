/**
 * `--postgres embedded`, in real processes: the database is set up once, keeps what it was given, is shared with a second server,
 * and ends with the server, however that ends. PostgreSQL refuses root, so root runs the server as nobody.
 */

import assert from 'node:assert/strict';
import { chownSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { ServerProcess } from '../support/server-process.ts';

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
const prefix = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];
const identity = isRoot ? { prefix } : {};

function isOpenToAll(path: string): boolean {
  const isOpen = (statSync(path).mode & 0o005) === 0o005;
  return isOpen && (dirname(path) === path || isOpenToAll(dirname(path)));
}
const isReadable = !isRoot || isOpenToAll(dirname(fileURLToPath(import.meta.url)));

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'oncemq-own-'));
  if (isRoot) chownSync(path, nobody, nobody);
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function start(data: string): Promise<ServerProcess> {
  return ServerProcess.start(['--postgres', 'embedded', '--data', data], identity);
}

/** The first line of what PostgreSQL writes while it runs. */
function processOf(data: string): number {
  return Number(readFileSync(join(data, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('an embedded PostgreSQL keeps messages, is shared, and ends with its server', async (t) => {
  if (!isReadable) return t.skip('only root can read the clone');
  const data = folder(t);
  const first = await start(data);
  assert.match(first.readyLine, / storage=postgres /);
  assert.match(first.said(), /for a first look; use a database of your own/);
  const pid = processOf(data);
  await first.call('CreateQueue', { QueueName: 'jobs' });
  const QueueUrl = first.queueUrl('jobs');
  await first.call('SendMessage', { QueueUrl, MessageBody: 'one' });
  const url = /--postgres '(.+)'/.exec(first.said())?.[1] as string;
  const second = await ServerProcess.start(['--postgres', url], identity);
  const { body } = await second.call('ReceiveMessage', { QueueUrl, VisibilityTimeout: 0 });
  assert.equal(body.Messages[0].Body, 'one');
  assert.equal(await second.kill('SIGTERM'), 0);
  assert.equal(await first.kill('SIGTERM'), 0);
  assert.equal(isRunning(pid), false);
  const again = await start(data);
  const client = new pg.Client(url);
  await client.connect();
  const kept = await again.call('ReceiveMessage', { QueueUrl, VisibilityTimeout: 0 });
  assert.equal(kept.body.Messages[0].Body, 'one');
  const reasons: string[] = [];
  client.on('error', ({ message }) => void reasons.push(message));
  const disconnected = new Promise((resolve) => client.once('end', resolve));
  await again.kill();
  await disconnected;
  assert.match(reasons[0] as string, /terminating connection due to administrator command/);
});

test('a path that is too long for a socket is refused', async (t) => {
  if (!isReadable) return t.skip('only root can read the clone');
  const data = join(folder(t), 'long'.repeat(30));
  const refusal = await ServerProcess.refusal(['--postgres', 'embedded', '--data', data], identity);
  assert.match(refusal, /is too long for a socket\. Choose a shorter one with --data/);
});

test('root is refused before anything is written', async (t) => {
  if (!isRoot) return t.skip('this user is not root');
  const data = join(folder(t), 'data');
  const refusal = await ServerProcess.refusal(['--postgres', 'embedded', '--data', data]);
  assert.match(refusal, /cannot be used by root, since PostgreSQL refuses to run as root/);
  assert.throws(() => statSync(data), /ENOENT/);
});
