/**
 * A disk that a queue has filled can be emptied through the queue alone: PurgeQueue, or consumers, make room for new messages,
 * at once and after any kind of restart, even if others have taken what was left of the disk.
 *
 * A real server on a small tmpfs and on ext4, where they can be mounted. Real time, because how soon messages are accepted
 * again is a promise of the guide.
 */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Answer, ServerProcess } from '../../support/server-process.ts';
import { fileSystems, type SmallDisk, testOnSmallDisk } from '../../support/small-disk.ts';

const QueueName = 'jobs';
const body = 'x'.repeat(4000);
const atOnce = 8;
/** How soon after a purge messages are accepted again. */
const purgedMsMax = 2000;

class Jobs {
  server: ServerProcess;
  readonly #data: string;
  /** Of messages whose send was answered, that were not deleted yet. */
  readonly kept: Set<string> = new Set();
  #sent = 0;

  private constructor(server: ServerProcess, data: string) {
    this.server = server;
    this.#data = data;
  }

  static async start(disk: SmallDisk): Promise<Jobs> {
    const data = join(disk.path, 'data');
    const jobs = new Jobs(await ServerProcess.start(['--data', data]), data);
    await jobs.server.call('CreateQueue', { QueueName });
    return jobs;
  }

  async restart(signal: NodeJS.Signals): Promise<void> {
    await this.server.kill(signal);
    this.server = await ServerProcess.start(['--data', this.#data]);
  }

  call(action: string, input: object): Promise<Answer> {
    return this.server.call(action, { QueueUrl: this.server.queueUrl(QueueName), ...input });
  }

  async send(): Promise<Answer> {
    const ids = Array.from({ length: 10 }, (_, index) => String(this.#sent + index));
    this.#sent += ids.length;
    const Entries = ids.map((Id) => ({ Id, MessageBody: `${Id} ${body}` }));
    const answer = await this.call('SendMessageBatch', { Entries });
    if (answer.status === 200) for (const id of ids) this.kept.add(id);
    return answer;
  }

  async fill(): Promise<void> {
    for (;;) {
      const answers = await Promise.all(Array.from({ length: atOnce }, () => this.send()));
      const refusal = answers.find(({ status }) => status !== 200);
      if (refusal === undefined) continue;
      assert.equal(refusal.status, 503);
      assert.match(refusal.body.message, /the disk is full/);
      return;
    }
  }

  /** Several consumers at a time; each answer must be a success. */
  async drain(untilLeft: number): Promise<void> {
    const consume = async (): Promise<void> => {
      while (this.kept.size > untilLeft) {
        const received = await this.call('ReceiveMessage', { MaxNumberOfMessages: 10 });
        assert.equal(received.status, 200, 'a receive is answered');
        const messages: { Body: string; ReceiptHandle: string }[] = received.body.Messages ?? [];
        if (messages.length === 0) return;
        const Entries = messages.map(({ ReceiptHandle }, index) => ({
          Id: String(index),
          ReceiptHandle,
        }));
        const deleted = await this.call('DeleteMessageBatch', { Entries });
        assert.equal(deleted.status, 200, 'a delete is answered');
        for (const { Body } of messages) {
          assert.ok(this.kept.delete(Body.split(' ')[0] as string), 'nothing comes twice');
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, consume));
  }

  /** A tenth makes room for more, and all that was answered comes out. */
  async drainAndGoOn(): Promise<void> {
    await this.drain(this.kept.size * 0.9);
    await this.server.says(/accepted again/);
    assert.equal((await this.send()).status, 200);
    assert.equal((await this.server.inspect('health')).status, 200);
    await this.drain(0);
    assert.equal(this.kept.size, 0, 'nothing that was answered is lost');
    assert.doesNotMatch(this.server.said(), /mdb_|do_write/, 'LMDB writes nothing of its own');
  }
}

for (const fileSystem of fileSystems) {
  const testOn = (title: string, megabytes: number, run: (disk: SmallDisk) => Promise<void>) =>
    testOnSmallDisk(title, run, { megabytes, fileSystem });

  testOn('a full disk takes messages again soon after a purge', 24, async (disk) => {
    const jobs = await Jobs.start(disk);
    try {
      await jobs.fill();
      assert.equal((await jobs.server.inspect('health')).body.reason, 'the disk is full');
      const purgedAt = performance.now();
      assert.equal((await jobs.call('PurgeQueue', {})).status, 200);
      await jobs.server.says(/accepted again/);
      assert.ok(performance.now() - purgedAt < purgedMsMax);
      jobs.kept.clear();
      assert.equal((await jobs.send()).status, 200);
      await jobs.drain(0);
      assert.equal(jobs.kept.size, 0);
    } finally {
      await jobs.server.kill();
    }
  });

  testOn('consumers drain a full disk, which then takes messages again', 24, async (disk) => {
    const jobs = await Jobs.start(disk);
    try {
      await jobs.fill();
      disk.fill('others');
      await jobs.drainAndGoOn();
    } finally {
      await jobs.server.kill();
    }
  });

  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    testOn(`a server starts on a full disk after ${signal}, and is drained`, 24, async (disk) => {
      const jobs = await Jobs.start(disk);
      try {
        await jobs.fill();
        disk.fill('others');
        await jobs.restart(signal);
        assert.equal((await jobs.server.inspect('health')).status, 503);
        assert.equal((await jobs.send()).status, 503);
        await jobs.drainAndGoOn();
      } finally {
        await jobs.server.kill();
      }
    });
  }

  /** Large enough for a journal. The messages would fill most of its first file. */
  testOn('what is only in the journal when others fill the disk is drained', 224, async (disk) => {
    const jobs = await Jobs.start(disk);
    try {
      for (let count = 0; count < 90; count += 1) assert.equal((await jobs.send()).status, 200);
      assert.ok(existsSync(join(disk.path, 'data', 'journal-reserve')));
      disk.fill('others');
      await jobs.restart('SIGKILL');
      await jobs.drain(0);
      assert.equal(jobs.kept.size, 0, 'nothing that was answered is lost');
      assert.equal((await jobs.send()).status, 200, 'and there is room for others');
      assert.ok(!existsSync(join(disk.path, 'data', 'journal-reserve')), 'which the reserve gave');
    } finally {
      await jobs.server.kill();
    }
  });
}
