/**
 * When there is no room: requests that would add something get a 503 with the reason, read-only ones are answered, what is
 * there can be received and deleted, and once there is room the server resumes by itself with everything that was answered
 * and nothing that was not.
 *
 * A real server on a real file system that is full: a small tmpfs where one can be mounted, and everywhere a limit on the
 * size of the file, which the kernel enforces below LMDB. Real time, because the server retries once a second; tests await
 * what it logs.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Environment } from '../../../src/storage/lmdb/file/environment.ts';
import { nameIn, rangeOf } from '../../../src/storage/lmdb/records/keys.ts';
import { PrometheusPage } from '../../support/prometheus-page.ts';
import { type Answer, ServerProcess } from '../../support/server-process.ts';
import { type SmallDisk, testOnSmallDisk } from '../../support/small-disk.ts';
import { temporaryDirectory } from '../backends.ts';

const name = 'orders.fifo';

class Sender {
  readonly answered: { readonly id: string; readonly sequenceNumber: string }[] = [];
  readonly refused: string[] = [];
  readonly server: ServerProcess;
  readonly #body: string;
  #sent = 0;

  constructor(server: ServerProcess, bodyBytes = 20_000) {
    this.server = server;
    this.#body = 'x'.repeat(bodyBytes);
  }

  async send(): Promise<Answer> {
    this.#sent += 1;
    const id = `message-${this.#sent}`;
    const answer = await this.server.call('SendMessage', {
      QueueUrl: this.server.queueUrl(name),
      MessageBody: `${id} ${this.#body}`,
      MessageGroupId: 'g',
      MessageDeduplicationId: id,
    });
    if (answer.status !== 200) this.refused.push(id);
    else this.answered.push({ id, sequenceNumber: answer.body.SequenceNumber });
    return answer;
  }

  /** Answers that come together are not read in the order in which they were sent. */
  answeredInOrder(): string[] {
    return this.answered
      .toSorted((a, b) => (a.sequenceNumber < b.sequenceNumber ? -1 : 1))
      .map(({ id }) => id);
  }

  /** Several at a time, so that a failing commit holds more than one. */
  async sendUntilRefused(): Promise<Answer> {
    for (;;) {
      const answers = await Promise.all([this.send(), this.send(), this.send(), this.send()]);
      const refusal = answers.find(({ status }) => status !== 200);
      if (refusal !== undefined) return refusal;
    }
  }
}

/** What the log says last: that changes are accepted, or that messages can be received and removed. */
const isWellAgain = (server: ServerProcess): Promise<void> =>
  server.says(/accepted again(?![\s\S]*(?:refused until|nothing can be added))/);
const isDrainable = (server: ServerProcess): Promise<void> =>
  server.says(/nothing can be added(?![\s\S]*refused until)/);

async function receiveAll(server: ServerProcess): Promise<string[]> {
  const received: string[] = [];
  for (;;) {
    const QueueUrl = server.queueUrl(name);
    const answer = await server.call('ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 10 });
    const messages: { Body: string; ReceiptHandle: string }[] = answer.body.Messages ?? [];
    if (messages.length === 0) return received;
    for (const { Body, ReceiptHandle } of messages) {
      received.push(Body.split(' ')[0] as string);
      const deleted = await server.call('DeleteMessage', { QueueUrl, ReceiptHandle });
      assert.equal(deleted.status, 200);
    }
  }
}

async function receiveSome(server: ServerProcess, count: number): Promise<string[]> {
  const received: string[] = [];
  const QueueUrl = server.queueUrl(name);
  while (received.length < count) {
    const answer = await server.call('ReceiveMessage', { QueueUrl });
    assert.equal(answer.status, 200);
    for (const { Body, ReceiptHandle } of answer.body.Messages ?? []) {
      const { status } = await server.call('DeleteMessage', { QueueUrl, ReceiptHandle });
      assert.equal(status, 200);
      received.push(Body.split(' ')[0] as string);
    }
  }
  return received;
}

async function live(
  server: ServerProcess,
  { reason, makeRoom }: { reason: RegExp; makeRoom: () => void },
): Promise<void> {
  const QueueUrl = server.queueUrl(name);
  await server.call('CreateQueue', { QueueName: name, Attributes: { FifoQueue: 'true' } });
  const sender = new Sender(server);
  const refusal = await sender.sendUntilRefused();
  assert.equal(refusal.status, 503);
  assert.match(refusal.body.__type, /ServiceUnavailable/);
  assert.match(refusal.body.message, reason);

  const count = async (): Promise<unknown> =>
    (
      await server.call('GetQueueAttributes', {
        QueueUrl,
        AttributeNames: ['ApproximateNumberOfMessages'],
      })
    ).body.Attributes.ApproximateNumberOfMessages;
  assert.equal(await count(), String(sender.answered.length), 'what was refused is not there');
  const health = await server.inspect('health');
  assert.equal(health.status, 503);
  assert.match(health.body.reason, reason);
  const metrics = await PrometheusPage.of(server);
  assert.equal(metrics.value('oncemq_store_available'), 0);
  const sent = metrics.value('oncemq_messages_sent_total', { queue: name });
  assert.equal(sent, sender.answered.length, 'what was lost is not counted');
  assert.equal((await server.inspect(`queues/${name}/messages`)).status, 200);
  assert.equal((await server.call('ListQueues', {})).status, 200);
  assert.equal((await sender.send()).status, 503);
  const form = new URLSearchParams({ Action: 'CreateTopic', Version: '2010-03-31', Name: 'news' });
  const topic = await fetch(server.url, { method: 'POST', body: form });
  assert.equal(topic.status, 503);
  assert.match(await topic.text(), /<ErrorResponse xmlns="http:\/\/sns\.amazonaws\.com/);

  makeRoom();
  await isWellAgain(server);
  assert.equal((await sender.send()).status, 200);
  assert.equal((await sender.send()).status, 200);
  const expected = sender.answeredInOrder();
  assert.deepEqual(await receiveAll(server), expected, 'all that was answered, in order');
  assert.equal(await count(), '0');
}

/** A task that has to move large messages, one a second. */
async function startMoveTask(server: ServerProcess): Promise<void> {
  const [source, dead] = ['source.fifo', 'dead.fifo'];
  const deadArn = `arn:aws:sqs:us-east-1:000000000000:${dead}`;
  const redrive = JSON.stringify({ deadLetterTargetArn: deadArn, maxReceiveCount: 1 });
  const fifo = { FifoQueue: 'true' };
  await server.call('CreateQueue', { QueueName: dead, Attributes: fifo });
  const Attributes = { ...fifo, RedrivePolicy: redrive };
  await server.call('CreateQueue', { QueueName: source, Attributes });
  const QueueUrl = server.queueUrl(source);
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    const MessageBody = id.repeat(100_000);
    const ids = { MessageGroupId: id, MessageDeduplicationId: id };
    await server.call('SendMessage', { QueueUrl, MessageBody, ...ids });
  }
  // The second receive moves what the first has seen.
  const all = { QueueUrl, VisibilityTimeout: 0, MaxNumberOfMessages: 10 };
  for (let count = 0; count < 2; count += 1) await server.call('ReceiveMessage', all);
  const slowly = { SourceArn: deadArn, MaxNumberOfMessagesPerSecond: 1 };
  const started = await server.call('StartMessageMoveTask', slowly);
  assert.equal(started.status, 200);
}

/** Consumers take what a queue has filled the disk with; nothing else makes room. */
async function drain(server: ServerProcess, restart: () => Promise<ServerProcess>): Promise<void> {
  await server.call('CreateQueue', { QueueName: name, Attributes: { FifoQueue: 'true' } });
  // So large that no refused message finds room before another is deleted.
  const sender = new Sender(server, 100_000);
  await sender.sendUntilRefused();
  const look = { QueueUrl: server.queueUrl(name), VisibilityTimeout: 0 };
  await isDrainable(server);
  assert.equal((await server.call('ReceiveMessage', look)).status, 200);
  assert.equal((await sender.send()).status, 503, 'nothing is added before there is room');
  assert.equal((await server.inspect('health')).status, 503);
  assert.deepEqual(await receiveAll(server), sender.answeredInOrder());
  await isWellAgain(server);
  sender.answered.length = 0;
  for (let count = 0; count < 10; count += 1) assert.equal((await sender.send()).status, 200);
  await server.kill('SIGKILL');
  const again = await restart();
  assert.deepEqual(await receiveAll(again), sender.answeredInOrder());
  await again.kill();
}

testOnSmallDisk(
  'a full disk is reported, reads continue, and the server recovers',
  async (disk) => {
    const ballast = join(disk.path, 'ballast');
    writeFileSync(ballast, Buffer.alloc(2_000_000));
    const server = await ServerProcess.start(['--data', join(disk.path, 'data')]);
    try {
      await live(server, { reason: /the disk is full/, makeRoom: () => rmSync(ballast) });
      assert.equal(await server.kill('SIGTERM'), 0);
      await startWhenFull(disk);
    } finally {
      // A failed test must not leave its server on a disk that is removed.
      await server.kill();
    }
  },
);

testOnSmallDisk(
  'a disk that a queue has filled can be drained, and takes messages again',
  async (disk) => {
    const start = () => ServerProcess.start(['--data', join(disk.path, 'data')]);
    const server = await start();
    try {
      await drain(server, start);
    } finally {
      await server.kill();
    }
  },
);

/** A larger one than the others: with so little room as they have, nothing is put into the journal. */
testOnSmallDisk(
  'what is only in the journal when a disk fills up is kept and can be received, and the server recovers',
  async (disk) => {
    const data = join(disk.path, 'data');
    const server = await ServerProcess.start(['--data', data]);
    try {
      await server.call('CreateQueue', { QueueName: name, Attributes: { FifoQueue: 'true' } });
      const sender = new Sender(server);
      await server.call('CreateQueue', { QueueName: 'other' });
      assert.equal((await sender.send()).status, 200);
      assert.ok(existsSync(join(data, 'journal-1')));
      const ballast = disk.fill('ballast');
      assert.match((await sender.sendUntilRefused()).body.message, /the disk is full/);
      const { length } = sender.answered;
      assert.ok(length > 100, 'the journal has its room already');
      await server.call('PurgeQueue', { QueueUrl: server.queueUrl('other') });
      assert.deepEqual(await receiveSome(server, 10), sender.answeredInOrder().slice(0, 10));
      assert.equal((await sender.send()).status, 503, 'nothing is added before there is room');
      rmSync(ballast);
      await isWellAgain(server);
      assert.equal((await sender.send()).status, 200);
      await server.kill('SIGKILL');
      const again = await ServerProcess.start(['--data', data]);
      assert.deepEqual(await receiveAll(again), sender.answeredInOrder().slice(10));
      assert.equal(await again.kill('SIGTERM'), 0);
    } finally {
      await server.kill();
    }
  },
  { megabytes: 192 },
);

test('a commit that the journal cannot take goes into the file, and is there after a crash', async () => {
  const { path, remove } = temporaryDirectory();
  const server = await ServerProcess.start(['--data', path]);
  try {
    await server.call('CreateQueue', { QueueName: name, Attributes: { FifoQueue: 'true' } });
    // The journal gets longer and longer, and what it leaves stays small.
    const sender = new Sender(server, 1_000);
    for (let count = 0; count < 100; count += 1) {
      await sender.send();
      await receiveAll(server);
    }
    const limit = 200_000;
    assert.ok(statSync(join(path, 'data.mdb')).size < limit);
    execFileSync('prlimit', ['--pid', String(server.child.pid), `--fsize=${limit}:`]);
    sender.answered.length = 0;
    for (let count = 0; count < 5; count += 1) assert.equal((await sender.send()).status, 200);
    await server.kill('SIGKILL');
    const again = await ServerProcess.start(['--data', path]);
    assert.deepEqual(await receiveAll(again), sender.answeredInOrder());
    assert.equal(await again.kill('SIGTERM'), 0);
  } finally {
    await server.kill();
    remove();
  }
});

/** A start without room for LMDB's files is refused with the reason, and succeeds once there is room. */
async function startWhenFull(disk: SmallDisk): Promise<void> {
  const [fresh, restored] = [join(disk.path, 'fresh'), join(disk.path, 'restored')];
  mkdirSync(fresh);
  cpSync('packages/broker/test/storage/lmdb/fixtures/format-1', restored, { recursive: true });
  const ballast = disk.fill('ballast');
  for (const data of [fresh, restored]) {
    const said = await ServerProcess.refusal(['--data', data]);
    assert.match(said, /cannot be opened: the disk is full\. Make room, or choose another/);
  }
  rmSync(ballast);
  const server = await ServerProcess.start(['--data', restored]);
  assert.equal(await server.kill('SIGTERM'), 0);
}

/** The server's file may not grow beyond a limit, which is enforced below LMDB. */
const startLimited = (data: string): Promise<ServerProcess> =>
  ServerProcess.start(['--data', data], {
    prefix: ['bash', '-c', 'ulimit -S -f 2000; exec "$0" "$@"'],
  });

test('a write error below LMDB is reported, reads continue, and the server recovers', async () => {
  const { path, remove } = temporaryDirectory();
  const server = await startLimited(path);
  const makeRoom = (): void => {
    execFileSync('prlimit', ['--pid', String(server.child.pid), '--fsize=unlimited:']);
  };
  try {
    await live(server, { reason: /./, makeRoom });
    assert.equal(await server.kill('SIGTERM'), 0);
  } finally {
    await server.kill();
    remove();
  }
});

test('a file that cannot grow further can be drained while a move task waits, and accepts messages again', {
  timeout: 90_000,
}, async () => {
  const { path, remove } = temporaryDirectory();
  const server = await startLimited(path);
  try {
    await startMoveTask(server);
    await drain(server, () => startLimited(path));
    const environment = await Environment.open({ directory: path, isReadOnly: true });
    const kept = [...environment.keys(rangeOf('store'), 10)].map(nameIn);
    await environment.close();
    assert.deepEqual(kept, ['format', 'journal', 'time'], 'nothing is left of the attempts');
  } finally {
    await server.kill();
    remove();
  }
});
