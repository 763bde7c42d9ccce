/**
 * A file that is damaged under a running server, so that a commit fails and what is kept cannot be loaded again: memory no
 * longer tells what is kept, and the server says so instead of answering from it.
 */

import assert from 'node:assert/strict';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ServerProcess } from '../../support/server-process.ts';
import { withDirectory } from './data-directories.ts';

/** LMDB's meta pages, without which nothing would be tried. */
const metaBytes = 8192;

function damageAllPages(file: string): void {
  const descriptor = openSync(file, 'r+');
  const pages = Buffer.alloc(statSync(file).size - metaBytes);
  writeSync(descriptor, pages, 0, pages.length, metaBytes);
  closeSync(descriptor);
}

test('what cannot be loaded again after a failed commit is not said to be missing: every request is refused, and it is logged', () =>
  withDirectory(async (path) => {
    const server = await ServerProcess.start(['--data', path, '--clock', 'manual']);
    try {
      const QueueUrl = server.queueUrl('jobs');
      await server.call('CreateQueue', { QueueName: 'jobs' });
      damageAllPages(join(path, 'data.mdb'));
      // So large that the journal does not take it.
      const send = { QueueUrl, MessageBody: 'b'.repeat(600_000) };
      assert.equal((await server.call('SendMessage', send)).status, 503);
      const reason = /could not be loaded again, so the server has to be restarted: .* is damaged/;
      for (const [action, input] of [
        ['SendMessage', send],
        ['ReceiveMessage', { QueueUrl }],
        ['GetQueueUrl', { QueueName: 'jobs' }],
        ['GetQueueAttributes', { QueueUrl }],
        ['ListQueues', {}],
      ] as const) {
        const { status, body } = await server.call(action, input);
        assert.equal(status, 503, action);
        assert.match(body.message, reason);
      }
      for (const view of ['health', 'queues', 'queues/jobs/messages', 'queues/jobs/dedup']) {
        assert.equal((await server.inspect(view)).status, 503, view);
      }
      const advanced = await fetch(`${server.url}/_oncemq/clock/advance`, {
        method: 'POST',
        body: JSON.stringify({ seconds: 1 }),
      });
      assert.equal(advanced.status, 503, 'time that cannot be kept is not moved');
      assert.match(server.said(), reason);
      assert.equal(await server.kill('SIGTERM'), 0);
    } finally {
      await server.kill();
    }
  }));
