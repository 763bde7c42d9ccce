/**
 * When there is no room: requests that would change something get a 503 with the reason, read-only ones are answered, and
 * once there is room the server resumes by itself with everything that was answered and nothing that was not.
 *
 * A real server on a real file system that is full: a small tmpfs where one can be mounted, and everywhere a limit on the
 * size of the file, which the kernel enforces below LMDB. Real time, because the server retries once a second.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { PrometheusPage } from '../support/prometheus-page.ts';
import { type Answer, ServerProcess } from '../support/server-process.ts';
import { SmallDisk } from '../support/small-disk.ts';
import { temporaryDirectory } from './backends.ts';

const name = 'orders.fifo';
const body = 'x'.repeat(20_000);

class Sender {
  readonly answered: { readonly id: string; readonly sequenceNumber: string }[] = [];
  readonly refused: string[] = [];
  readonly server: ServerProcess;
  #sent = 0;

  constructor(server: ServerProcess) {
    this.server = server;
  }

  async send(): Promise<Answer> {
    this.#sent += 1;
    const id = `message-${this.#sent}`;
    const answer = await this.server.call('SendMessage', {
      QueueUrl: this.server.queueUrl(name),
      MessageBody: `${id} ${body}`,
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

async function isWellAgain(server: ServerProcess): Promise<void> {
  while ((await server.inspect('health')).status !== 200) await delay(50);
}

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
  assert.equal((await server.call('ReceiveMessage', { QueueUrl })).status, 503);
  assert.equal((await server.call('PurgeQueue', { QueueUrl })).status, 503);
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

test('a full disk is said, looked past, and got over', async () => {
  const disk = SmallDisk.mount('4m');
  if (disk === undefined) return limitedFile();
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
    disk.remove();
  }
});

/** A start without room for LMDB's files is refused with the reason, and succeeds once there is room. */
async function startWhenFull(disk: SmallDisk): Promise<void> {
  const ballast = join(disk.path, 'ballast');
  const [fresh, restored] = [join(disk.path, 'fresh'), join(disk.path, 'restored')];
  mkdirSync(fresh);
  cpSync('packages/broker/test/storage/fixtures/format-1', restored, { recursive: true });
  fill(ballast);
  for (const data of [fresh, restored]) {
    const said = await ServerProcess.refusal(['--data', data]);
    assert.match(said, /cannot be opened: the disk is full\. Make room, or choose another/);
  }
  rmSync(ballast);
  const server = await ServerProcess.start(['--data', restored]);
  assert.equal(await server.kill('SIGTERM'), 0);
}

/** Takes all the room that is left. */
function fill(file: string): void {
  try {
    for (;;) writeFileSync(file, Buffer.alloc(4096), { flag: 'a' });
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  }
}

test('a write error below LMDB is said, looked past, and got over', limitedFile);

/** The file may not grow beyond a limit, until it is lifted. */
async function limitedFile(): Promise<void> {
  const { path, remove } = temporaryDirectory();
  const prefix = ['bash', '-c', 'ulimit -S -f 2000; exec "$0" "$@"'];
  const server = await ServerProcess.start(['--data', path], { prefix });
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
}
