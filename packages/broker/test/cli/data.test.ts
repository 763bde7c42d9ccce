/**
 * `oncemq backup` and `oncemq check`, as people run them: a copy of a running server's data on which another server
 * starts, and a check of a stopped server's data.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Environment } from '../../src/storage/lmdb/file/environment.ts';
import { bringUpToDate, currentFormat } from '../../src/storage/lmdb/file/format.ts';
import { temporaryDirectory } from '../storage/backends.ts';
import { openFixture, writeFixture } from '../storage/lmdb/format-fixture.ts';
import { ServerProcess } from '../support/server-process.ts';
import { SmallDisk } from '../support/small-disk.ts';

const cli = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

interface Ended {
  /** The exit code, or the signal that ended it. */
  readonly code: number | string | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function run(...args: string[]): Promise<Ended> {
  return runAfter([], ...args);
}

/** Runs it with a prefix before `node`, such as a shell that sets limits. */
function runAfter(prefix: readonly string[], ...args: string[]): Promise<Ended> {
  const [command, ...words] = [...prefix, process.execPath, cli, ...args] as [string, ...string[]];
  return new Promise((resolve) => {
    execFile(command, words, (error, stdout, stderr) => {
      const code = error === null ? 0 : (error.code ?? error.signal);
      resolve({ code, stdout, stderr });
    });
  });
}

const name = 'orders.fifo';

async function send(server: ServerProcess, id: string): Promise<void> {
  const answer = await server.call('SendMessage', {
    QueueUrl: server.queueUrl(name),
    MessageBody: id,
    MessageGroupId: 'g',
    MessageDeduplicationId: id,
  });
  assert.equal(answer.status, 200);
}

test('a backup of a running server is a data directory as of that moment, and passes the check', async () => {
  const { path, remove } = temporaryDirectory();
  const [data, copy] = [join(path, 'data'), join(path, 'copy')];
  const server = await ServerProcess.start(['--data', data]);
  await server.call('CreateQueue', { QueueName: name, Attributes: { FifoQueue: 'true' } });
  await send(server, 'before');
  const taken = await run('backup', copy, '--data', data);
  assert.deepEqual([taken.code, taken.stderr], [0, '']);
  await send(server, 'after');

  const running = await run('check', data);
  assert.equal(running.code, 1);
  assert.match(running.stderr, /in use by process \d+\. Stop that server/);
  assert.deepEqual(readdirSync(copy), ['data.mdb']);
  const again = await run('backup', copy, '--data', data);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /already contains data; choose another directory/);
  assert.equal(await server.kill('SIGTERM'), 0);

  const checked = await run('check', data);
  assert.equal(checked.code, 0, checked.stderr);
  assert.match(checked.stdout, /orders\.fifo +2 +0 +2 +11\n\nno problems found/);
  const { queues } = JSON.parse((await run('check', copy, '--json')).stdout);
  assert.deepEqual(queues[0].messages, 1);

  const restored = await ServerProcess.start(['--data', copy]);
  const { body } = await restored.inspect(`queues/${name}/messages`);
  assert.deepEqual(
    body.messages.map((message: { body: string }) => message.body),
    ['before'],
  );
  await restored.kill('SIGTERM');
  remove();
});

/** So much that the journal changes from file to file while it is read. */
test('a backup under load has all that was answered before it began, whole and in order', async () => {
  const { path, remove } = temporaryDirectory();
  const data = join(path, 'data');
  const server = await ServerProcess.start(['--data', data]);
  const QueueUrl = server.queueUrl(name);
  await server.call('CreateQueue', { QueueName: name, Attributes: { FifoQueue: 'true' } });
  const [body, ids] = ['x'.repeat(20_000), { MessageGroupId: 'g' }];
  let [answered, isOver] = [0, false];
  const sending = (async () => {
    while (!isOver) {
      const Entries = Array.from({ length: 10 }, (_, index) => {
        const MessageDeduplicationId = String(answered + index);
        return { Id: String(index), MessageBody: body, MessageDeduplicationId, ...ids };
      });
      const { status } = await server.call('SendMessageBatch', { QueueUrl, Entries });
      assert.equal(status, 200);
      answered += 10;
    }
  })();
  for (let number = 0; number < 3; number += 1) {
    const copy = join(path, String(number));
    const before = answered;
    assert.equal((await run('backup', copy, '--data', data)).code, 0);
    const { problems, queues } = JSON.parse((await run('check', copy, '--json')).stdout);
    assert.deepEqual(problems, []);
    assert.ok(queues[0].messages >= before && queues[0].messages % 10 === 0, 'whole commits');
  }
  isOver = true;
  await sending;
  await server.kill();
  remove();
});

test('check lists topics in a table of their own', async () => {
  const { path, remove } = temporaryDirectory();
  const backend = await openFixture(path);
  await backend.run({ type: 'create-queue', queue: 'jobs', attributes: {} });
  const created = await backend.run({ type: 'create-topic', name: 'news' });
  assert.ok(created.ok);
  await backend.run({
    type: 'subscribe',
    topicArn: created.topicArn,
    protocol: 'sqs',
    endpoint: 'arn:aws:sqs:us-east-1:000000000000:jobs',
    baseUrl: 'http://localhost',
  });
  await backend.close();
  const { code, stdout } = await run('check', path);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /QUEUE .*\njobs .*\n\nTOPIC +SUBSCRIPTIONS .*\nnews +1 +0 +0 +0\n\nno problems found/,
  );
  remove();
});

test('wrong usage prints the usage, and a directory without data is named', async () => {
  for (const args of [
    ['backup'],
    ['check'],
    ['check', 'a', 'b'],
    ['check', 'a', '--verbose', 'x'],
  ]) {
    const { code, stderr } = await run(...args);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, /Usage: oncemq (backup|check)/);
  }
  const { path, remove } = temporaryDirectory();
  const { code, stderr } = await run('check', path);
  assert.equal(code, 1);
  assert.match(stderr, /There is no server data in/);
  remove();
});

/** The fixture with an additional body of a million bytes. */
async function writeLargeFixture(path: string): Promise<void> {
  await writeFixture(path);
  const backend = await openFixture(path);
  const entries = [{ body: 'x'.repeat(1_000_000) }];
  await backend.run({ type: 'send', queue: 'plain', isBatch: false, entries });
  await backend.close();
}

test('data that would make LMDB crash is reported as damaged, by check and by backup', async () => {
  const { path, remove } = temporaryDirectory();
  await writeLargeFixture(path);
  const whole = readFileSync(join(path, 'data.mdb'));
  const page = 4096;
  const damages: [RegExp, Buffer][] = [
    [/There is no server data in \S+: data\.mdb is empty/, Buffer.alloc(0)],
    [/is damaged: data\.mdb is not an LMDB file/, whole.subarray(0, 100)],
    [
      /is damaged: data\.mdb was cut off: it has \d+ bytes instead of \d+/,
      whole.subarray(0, 20 * page),
    ],
    [/is damaged: .*Restore a backup, or move/, Buffer.from(whole).fill(0, 2 * page)],
    // So little is missing that it could be pages that were never written.
    [
      /is damaged: (a process that read it ended with SIG\w+|Bad address)\./,
      whole.subarray(0, -10 * page),
    ],
  ];
  for (const [index, [expected, bytes]] of damages.entries()) {
    const directory = join(path, String(index));
    mkdirSync(directory);
    writeFileSync(join(directory, 'data.mdb'), bytes);
    for (const args of [
      ['check', directory],
      ['backup', join(path, 'new', 'copy'), '--data', directory],
    ]) {
      const { code, stderr } = await run(...args);
      assert.equal(code, 1, `${args}: ${stderr}`);
      assert.match(stderr, expected, `${args}`);
      const isCheck = args[0] === 'check';
      assert.ok(!isCheck || !stderr.includes('oncemq check'), `check advises itself: ${stderr}`);
    }
    assert.equal(existsSync(join(path, 'new')), false, 'nothing is left of the backup');
  }
  remove();
});

test('a backup that cannot be written says where and why, and leaves nothing behind', async () => {
  const { path, remove } = temporaryDirectory();
  const file = join(path, 'file');
  writeFileSync(file, '');
  await writeLargeFixture(path);
  const refused = async (to: string, text: RegExp, prefix: string[] = []): Promise<void> => {
    const { code, stderr } = await runAfter(prefix, 'backup', to, '--data', path);
    assert.equal(code, 1, stderr);
    assert.match(stderr, text);
  };
  await refused(file, /backup cannot be written to \S+file: it is a file\. /);
  await refused(
    join(file, 'below'),
    /backup cannot be written to \S+below: a part of its path is a file \(ENOTDIR\)\. /,
  );
  if (existsSync('/proc/self')) {
    await refused(
      '/proc/oncemq',
      /backup cannot be written to \/proc\/oncemq: no directory can be made/,
    );
    await refused('/proc/oncemq/below', /no directory can be made there/);
  }
  // Only half of it fits: on a small disk or, if none can be mounted, under a limit on the size of files.
  const disk = SmallDisk.mount(0.6);
  const parent = disk?.path ?? join(path, 'parent');
  if (disk === undefined) mkdirSync(parent);
  try {
    const to = join(parent, 'new', 'copy');
    const text = /backup cannot be written to \S+copy: (the disk is full|File too large)\. /;
    await refused(to, text, ['bash', '-c', 'ulimit -S -f 600; exec "$0" "$@"']);
    assert.deepEqual(readdirSync(parent), []);
  } finally {
    disk?.remove();
    remove();
  }
});

test('data of a newer format is refused by check, backup and serve', async () => {
  const { path, remove } = temporaryDirectory();
  await writeFixture(path);
  const environment = await Environment.open({ directory: path });
  const newer = currentFormat + 1;
  await bringUpToDate(environment, { current: newer, upgrades: { [currentFormat]: () => {} } });
  await environment.close();
  for (const args of [
    ['check', path],
    ['backup', join(path, 'copy'), '--data', path],
    ['serve', '--port', '0', '--data', path],
  ]) {
    const { code, stderr } = await run(...args);
    assert.equal(code, 1, `${args}`);
    const reason = `newer OnceMQ (format ${newer}; this version reads up to ${currentFormat}). Upgrade`;
    assert.ok(stderr.includes(reason), `${args}: ${stderr}`);
  }
  remove();
});
