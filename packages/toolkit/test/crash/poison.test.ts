/**
 * A message that kills its consumer (SIGKILL, as the kernel does to a process without memory) reaches the dead-letter queue
 * alone: neither the rest of its group nor what other groups had in flight goes with it. The consumer is started again and
 * again until the queue is empty; only the server's clock is moved.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createQueue, drain, openQueue } from '../support/server.ts';
import type { PoisonOrder } from './poison-child.ts';

const child = fileURLToPath(new URL('poison-child.js', import.meta.url));
const livesMax = 30;

interface Setting {
  readonly maxReceiveCount: number;
  readonly messages: readonly string[];
  /** Whether the first consumer has been running for long, and receives ten messages at once. */
  readonly isCalm: boolean;
  readonly killAt?: number;
}

async function outcome(t: TestContext, { maxReceiveCount, messages, isCalm, killAt = 0 }: Setting) {
  const queue = await openQueue(t);
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-poison-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const deadUrl = await createQueue(queue.client, 'dead.fifo');
  const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:dead.fifo';
  const queueUrl = await createQueue(queue.client, 'work.fifo', {
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount }),
  });
  for (const MessageBody of messages) {
    const MessageGroupId = MessageBody.slice(0, 1);
    await queue.client.sendMessage({ QueueUrl: queueUrl, MessageBody, MessageGroupId });
  }
  const effects = join(folder, 'effects.txt');
  const order: PoisonOrder = {
    clientConfig: queue.server.clientConfig,
    queueUrl,
    effects,
    isCalm,
    killAt,
  };
  let deaths = 0;
  while (!(await survives(deaths === 0 ? order : { ...order, isCalm: false, killAt: 0 }))) {
    deaths += 1;
    assert.ok(deaths < livesMax, 'it never came to its end');
    // A receive that was under way at the kill reaches the server before the clock moves, as it would outside of a test.
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await queue.server.clock.advance(30);
  }
  const handled = existsSync(effects) ? readFileSync(effects, 'utf8').trim().split('\n') : [];
  return { handled, dead: await drain({ ...queue, queueUrl: deadUrl }), deaths };
}

async function survives(order: PoisonOrder): Promise<boolean> {
  const running = spawn(process.execPath, [child, JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = (await once(running, 'exit')) as [number | null, string | null];
  assert.ok(code === 0 || signal === 'SIGKILL', `ended with ${code ?? signal}`);
  return code === 0;
}

/** In order, without repetitions: there is no inbox here, and a message whose deletion was cut off is handled again. */
function of(group: string, names: readonly string[]): string[] {
  return [...new Set(names.filter((name) => name.startsWith(group)))];
}

const messages = ['b0', 'a0!!', 'a1', 'c0', 'a2', 'b1', 'c1', 'd0!', 'd1'];

describe('a message that kills its consumer', { concurrency: true }, () => {
  for (const maxReceiveCount of [2, 3, 4, 5]) {
    for (const isCalm of [true, false]) {
      const which = isCalm ? 'that receives ten messages' : 'that has just started';
      test(`${which} goes alone at maxReceiveCount ${maxReceiveCount}`, {
        timeout: 120_000,
      }, async (t) => {
        const { handled, dead, deaths } = await outcome(t, { maxReceiveCount, messages, isCalm });
        assert.deepEqual(dead.sort(), ['a0!!', 'd0!']);
        assert.deepEqual(of('a', handled), ['a1', 'a2']);
        assert.deepEqual(of('b', handled), ['b0', 'b1']);
        assert.deepEqual(of('c', handled), ['c0', 'c1']);
        assert.deepEqual(of('d', handled), ['d1']);
        assert.equal(deaths, maxReceiveCount);
      });
    }
  }
});

describe('a consumer that is killed once', { concurrency: true }, () => {
  for (const killAt of [1, 2, 3]) {
    test(`in handler call ${killAt} dead-letters nothing, even at maxReceiveCount 2`, {
      timeout: 120_000,
    }, async (t) => {
      const good = ['a0', 'a1', 'a2', 'b0', 'b1'];
      const setting = { maxReceiveCount: 2, messages: good, isCalm: true, killAt };
      const { handled, dead, deaths } = await outcome(t, setting);
      assert.deepEqual([dead, deaths], [[], 1]);
      assert.deepEqual(of('a', handled), ['a0', 'a1', 'a2']);
      assert.deepEqual(of('b', handled), ['b0', 'b1']);
    });
  }
});
