/**
 * Describing many queues and topics at once: on disk an answer waits for the commit in progress, so a thousand of them
 * one after the other would wait for a thousand commits.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventStream } from '../../src/api/inspect/event-stream.ts';
import { createInspect } from '../../src/api/inspect/inspect.ts';
import { manualClock } from '../../src/server/clock.ts';
import type { Backend } from '../../src/storage/backend.ts';
import { openMemoryBackend } from '../../src/storage/memory/open.ts';
import { startedAt } from './fixture.ts';

const count = 250;

/** A backend with many queues and topics that records the maximum number of concurrent descriptions. */
async function openWatched(): Promise<{ backend: Backend; atOnce: { max: number } }> {
  const real = openMemoryBackend({ clock: manualClock(startedAt) });
  for (let index = 0; index < count; index += 1) {
    await real.run({ type: 'create-queue', queue: `queue-${index}` });
    await real.run({ type: 'create-topic', name: `topic-${index}` });
  }
  const atOnce = { max: 0 };
  let waiting = 0;
  const run = (command: Parameters<Backend['run']>[0]): ReturnType<Backend['run']> => {
    if (!command.type.startsWith('describe-')) return real.run(command);
    waiting += 1;
    atOnce.max = Math.max(atOnce.max, waiting);
    return real.run(command).finally(() => {
      waiting -= 1;
    });
  };
  const backend = new Proxy(real, {
    get: (target, name) => {
      if (name === 'run') return run;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { backend, atOnce };
}

for (const [path, lists] of [
  ['overview?limit=1000', ['queues', 'topics']],
  ['queues', ['queues']],
  ['topics', ['topics']],
] as const) {
  test(`${path} makes no more than 100 queries at once`, async () => {
    const { backend, atOnce } = await openWatched();
    const inspect = createInspect({
      backend,
      version: '0',
      clock: 'manual',
      certificate: () => '',
      events: new EventStream(backend, () => {}),
    });
    const [name = '', search = ''] = path.split('?');
    const query = new URLSearchParams(search);
    const answer = await inspect.handle({ method: 'GET', path: name, query, body: '' });
    assert.equal(answer.status, 200);
    // Whole lists are written part by part.
    const body = typeof answer.body === 'string' ? JSON.parse(answer.body) : answer.body;
    for (const list of lists) {
      const rows = (body as Record<string, { name: string }[]>)[list] ?? [];
      assert.equal(new Set(rows.map((row) => row.name)).size, count);
    }
    assert.equal(atOnce.max, 100);
  });
}
