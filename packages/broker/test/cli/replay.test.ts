/**
 * `oncemq replay` as a process: the messages of a time range in a producer's outbox arrive again, byte for byte.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createRelay, defineProducer, openFileOutbox } from '@oncemq/toolkit';
import { openDaysQueue } from './days-queue.ts';

const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

/** Runs where neither the environment nor a file names a region. */
async function replay(...args: string[]): Promise<{ code: number; said: string }> {
  const { AWS_REGION: _, AWS_DEFAULT_REGION: __, ...rest } = process.env;
  const env = {
    ...rest,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_CONFIG_FILE: join(tmpdir(), 'no-such-aws-config'),
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
  const child = spawn(process.execPath, [main, 'replay', ...args], { env });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said += String(chunk);
    });
  }
  const [code] = (await once(child, 'close')) as [number];
  return { code, said };
}

test('messages of a time range are sent again as they were kept', async (t) => {
  const { client, queueUrl, folder: outboxFolder } = await openDaysQueue(t);
  const producer = defineProducer<{ day: string }>({
    source: 'kfm.calendar.days',
    dedupeKey: ({ day }) => day,
    eventTime: ({ day }) => `${day}T12:00:00Z`,
    eventId: 'random',
  });
  const days = ['2025-12-01', '2025-12-02', '2025-12-03'].map((day) => producer.message({ day }));
  const outbox = await openFileOutbox(outboxFolder);
  for (const message of days) await outbox.append(message);
  await createRelay({ outbox, client, queueUrl }).flush();
  await outbox.close();
  await client.purgeQueue({ QueueUrl: queueUrl });

  const flags = ['--outbox', outboxFolder, '--queue', queueUrl];
  const { code, said } = await replay(
    ...flags,
    '--from',
    '2025-12-02T00:00:00Z',
    '--to',
    '2025-12-03',
  );
  assert.equal(code, 0, said);
  assert.match(said, /^1 message sent, 0 older than the deduplication window\.$/m);
  const { Messages = [] } = await client.receiveMessage({
    QueueUrl: queueUrl,
    MaxNumberOfMessages: 10,
  });
  assert.deepEqual(
    Messages.map(({ Body }) => Body),
    [days[1]?.body],
  );

  const all = await replay(...flags);
  assert.match(all.said, /^3 messages sent, /m);
  const gone = await replay(...flags.slice(0, 3), queueUrl.replace('days', 'none'));
  assert.equal(gone.code, 1);
  assert.match(gone.said, /Replay stopped.*: The specified queue does not exist/);
});

test('wrong usage ends with 2', async () => {
  for (const args of [
    [],
    ['--outbox', 'nowhere', '--queue', 'http://127.0.0.1/q'],
    ['--outbox', '.', '--queue', 'jobs'],
    ['--outbox', '.', '--queue', 'http://127.0.0.1/q', '--from', 'yesterday'],
    ['--outbox', '.', '--queue', 'http://127.0.0.1/q', '--from', '5'],
    ['--outbox', '.', '--queue', 'http://127.0.0.1/q', '--to', '2025-12-03T00:00:00'],
    ['--outbx', '.'],
  ]) {
    assert.equal((await replay(...args)).code, 2, args.join(' '));
  }
  const target = ['--outbox', '.', '--queue', 'http://127.0.0.1/q'];
  const { code, said } = await replay(...target, '--from', '2025-12-03', '--to', '2025-12-02');
  assert.equal(code, 2);
  assert.match(said, /--from 2025-12-03 is after --to 2025-12-02/);
});

test('a folder or a file that is no outbox is refused, and left as it is', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-no-outbox-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'file');
  writeFileSync(file, 'text');
  for (const outbox of [folder, file]) {
    const ran = await replay('--outbox', outbox, '--queue', 'http://127.0.0.1:1/000000000000/q');
    assert.match(ran.said, /no outbox in|is a file, not an outbox/);
    assert.equal(ran.code, 2);
  }
  assert.deepEqual(readdirSync(folder), ['file']);
});
