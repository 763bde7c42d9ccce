/**
 * The files of the ledger on a real disk: what a kill leaves, what the bound removes, and that a disk that cannot be
 * written neither disturbs the queue nor goes unreported.
 */

import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ConfigError } from '../../src/server/config/config.ts';
import { LineWriter } from '../../src/server/ledger/line-writer.ts';
import { readRecords } from '../../src/server/ledger/read-records.ts';
import { mendSegments, Segments } from '../../src/server/ledger/segments.ts';
import { startTestServer } from '../../src/testing.ts';
import {
  readLedger,
  segmentPaths,
  temporaryFolder,
  trace,
  untilLedger,
} from '../support/ledger.ts';
import { ServerProcess } from '../support/server-process.ts';

const aTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function startWith(
  t: TestContext,
  ledger: string,
  args: readonly string[] = ['--memory'],
  prefix?: readonly string[],
): Promise<ServerProcess> {
  const server = await ServerProcess.start(
    [...args, '--ledger', ledger],
    prefix === undefined ? {} : { prefix },
  );
  t.after(() => server.kill());
  await server.call('CreateQueue', { QueueName: 'jobs' });
  return server;
}

async function send(server: ServerProcess, body = 'x'): Promise<string> {
  const QueueUrl = server.queueUrl('jobs');
  const answer = await server.call('SendMessage', { QueueUrl, MessageBody: body });
  assert.equal(answer.status, 200);
  return answer.body.MessageId;
}

test('a stop writes everything and closes; the next run records a clean start', async (t) => {
  const ledger = join(temporaryFolder(t), 'a', 'ledger');
  for (let run = 1; run <= 2; run += 1) {
    const server = await startWith(t, ledger);
    await send(server);
    assert.equal(await server.kill('SIGTERM'), 0);
  }
  const told = readLedger(ledger).map(({ event, clean }) => [event, clean]);
  const run = [
    ['opened', true],
    ['accepted', undefined],
    ['closed', undefined],
  ];
  assert.deepEqual(told, [...run, ...run]);
});

test('a run in which nothing happens leaves no file', async (t) => {
  const ledger = join(temporaryFolder(t), 'ledger');
  const server = await startTestServer({ ledger });
  await server.close();
  assert.deepEqual(segmentPaths(ledger), []);
});

test('after a kill the torn line is cut off, and the next run records an unclean start', async (t) => {
  const folder = temporaryFolder(t);
  const ledger = join(folder, 'ledger');
  const data = ['--data', join(folder, 'data'), '--clock', 'manual'];
  const first = await startWith(t, ledger, data);
  const id = await send(first);
  await untilLedger(ledger, (text) => text.includes(id));
  await first.kill('SIGKILL');
  const [segment] = segmentPaths(ledger) as [string];
  const whole = readFileSync(segment, 'utf8');
  appendFileSync(segment, whole.slice(0, 100));
  const torn = await trace(id, '--ledger', ledger);
  assert.match(torn.out, /accepted +jobs/);

  const second = await startWith(t, ledger, data);
  assert.equal(readFileSync(segment, 'utf8'), whole);
  const QueueUrl = second.queueUrl('jobs');
  const { body } = await second.call('ReceiveMessage', { QueueUrl });
  assert.equal(body.Messages[0].MessageId, id);
  await second.kill('SIGTERM');
  assert.deepEqual(
    readLedger(ledger).map(({ event, clean }) => [event, clean]),
    [
      ['opened', true],
      ['accepted', undefined],
      ['opened', false],
      ['delivered', undefined],
      ['closed', undefined],
    ],
  );
  const { out } = await trace(id, '--ledger', ledger);
  assert.match(out, /accepted.*\n.*opened +the server had been killed.*\n.*delivered/);
});

test('a run that starts after the clock was set back is ordered after the runs before it', async (t) => {
  const ledger = join(temporaryFolder(t), 'ledger');
  const ahead = await startWith(t, ledger);
  await send(ahead);
  await ahead.kill('SIGTERM');
  const [segment = ''] = segmentPaths(ledger);
  renameSync(segment, segment.replace(/ledger-20\d\d/, 'ledger-2999'));

  const killed = await startWith(t, ledger);
  const id = await send(killed);
  await untilLedger(ledger, (text) => text.includes(id));
  await killed.kill('SIGKILL');
  const last = await startWith(t, ledger);
  await send(last);
  await last.kill('SIGTERM');
  assert.deepEqual(
    readLedger(ledger).map(({ event, clean }) => [event, clean]),
    [
      ['opened', true],
      ['accepted', undefined],
      ['closed', undefined],
      ['opened', true],
      ['accepted', undefined],
      ['opened', false],
      ['accepted', undefined],
      ['closed', undefined],
    ],
  );
});

for (const [what, bytes] of [
  ['is empty', 0],
  ['contains only zero bytes', 100_000],
] as const) {
  test(`a ledger whose newest segment ${what} is not treated as closed`, async (t) => {
    const ledger = join(temporaryFolder(t), 'ledger');
    const first = await startWith(t, ledger);
    await send(first);
    await first.kill('SIGTERM');
    const [closed = ''] = segmentPaths(ledger);
    writeFileSync(closed.replace(/\d+\.jsonl$/, '2.jsonl'), Buffer.alloc(bytes));
    const second = await startWith(t, ledger);
    await send(second);
    await second.kill('SIGTERM');
    const opened = readFileSync(segmentPaths(ledger).at(-1) as string, 'utf8').split('\n')[0];
    assert.equal(JSON.parse(opened ?? '').clean, false);
  });
}

test('a ledger stays below its limit: the oldest segments are removed, the newest records stay', async (t) => {
  const ledger = join(temporaryFolder(t), 'ledger');
  const bytesMax = 1_000_000;
  const server = await startWith(t, ledger, ['--memory', '--ledger-max-bytes', String(bytesMax)]);
  const QueueUrl = server.queueUrl('jobs');
  const entries = Array.from({ length: 10 }, (_, at) => ({ Id: `${at}`, MessageBody: 'x' }));
  const first = await send(server);
  let last = '';
  for (let batch = 1; batch <= 400; batch += 1) {
    const { body } = await server.call('SendMessageBatch', { QueueUrl, Entries: entries });
    last = body.Successful[9].MessageId;
  }
  await server.kill('SIGTERM');
  const sizes = segmentPaths(ledger).map((path) => statSync(path).size);
  assert.ok(sizes.length > 10 && sizes.every((size) => size <= bytesMax / 16), String(sizes));
  assert.ok(sizes.reduce((sum, size) => sum + size) <= bytesMax);
  const numbers = readLedger(ledger).map((record) => Number(/\d+$/.exec(record['@id'])?.[0]));
  assert.equal(numbers.at(-1), 1 + 1 + 4_000 + 1);
  assert.ok((numbers[0] as number) > 1);
  assert.ok(numbers.every((number, at) => number === (numbers[0] as number) + at));
  assert.equal((await trace(first, '--ledger', ledger)).code, 1);
  assert.equal((await trace(last, '--ledger', ledger)).code, 0);
});

test('a segment that is removed while the ledger is read is skipped', async (t) => {
  const ledger = temporaryFolder(t);
  const paths = [1, 2, 3].map((number) => join(ledger, `ledger-r-${number}.jsonl`));
  for (const path of paths) writeFileSync(path, `{"event":"gap","lost":1}\n`);
  let blocks = 0;
  const mayHold = (): boolean => {
    blocks += 1;
    if (blocks === 1) rmSync(paths[1] as string);
    return true;
  };
  let records = 0;
  for await (const _ of readRecords(ledger, mayHold)) records += 1;
  assert.deepEqual([blocks, records], [2, 2]);
});

test('a line that another server is still writing is not cut off', async (t) => {
  const ledger = temporaryFolder(t);
  const path = join(ledger, 'ledger-r-1.jsonl');
  let written = '{"event":"gap","lost":1}\n{';
  writeFileSync(path, written);
  let isMended = false;
  const mended = mendSegments(ledger).finally(() => {
    isMended = true;
  });
  while (!isMended) {
    appendFileSync(path, 'x');
    written += 'x';
    await aTurn();
  }
  assert.equal(await mended, '{"event":"gap","lost":1}');
  assert.equal(readFileSync(path, 'utf8'), written);
});

test('a story whose beginning was removed says so', async (t) => {
  const ledger = join(temporaryFolder(t), 'ledger');
  const server = await startWith(t, ledger);
  const id = await send(server);
  await server.call('ReceiveMessage', { QueueUrl: server.queueUrl('jobs') });
  await server.kill('SIGTERM');
  const [segment] = segmentPaths(ledger) as [string];
  const lines = readFileSync(segment, 'utf8').split('\n');
  writeFileSync(segment, lines.slice(2).join('\n'));
  const { out } = await trace(id, '--ledger', ledger);
  assert.match(out, /delivered +jobs/);
  assert.match(
    out,
    /The ledger starts at 20\d\d-.*Z; earlier events of this story are not in it\./,
  );
});

test('a removed directory disturbs no send, health reports why, and pending records are written later', async (t) => {
  const folder = temporaryFolder(t);
  const ledger = join(folder, 'ledger');
  const server = await startWith(t, ledger);
  const state = async (): Promise<{ lost: number; failure: string | null }> =>
    (await server.inspect('health')).body.ledger;
  await send(server);
  await untilLedger(ledger, (text) => text.includes('accepted'));
  renameSync(ledger, join(folder, 'elsewhere'));
  writeFileSync(ledger, 'in the way');
  const id = await send(server);
  while ((await state()).failure === null);
  assert.match((await state()).failure ?? '', /EEXIST|ENOTDIR/);
  await send(server);
  rmSync(ledger);
  while ((await state()).failure !== null);
  await server.kill('SIGTERM');
  assert.deepEqual(
    readLedger(ledger).map(({ event }) => event),
    ['accepted', 'accepted', 'closed'],
  );
  assert.equal(readLedger(ledger)[0]?.message_id, id);
});

test('a file-size limit disturbs no send, and leaves only whole lines', async (t) => {
  const ledger = join(temporaryFolder(t), 'ledger');
  const limited = ['sh', '-c', 'ulimit -f 40; exec "$@"', 'sh'];
  const server = await startWith(t, ledger, ['--memory', '--log', 'silent'], limited);
  for (let sent = 1; sent <= 200; sent += 1) await send(server);
  while ((await server.inspect('health')).body.ledger.failure === null);
  const { failure } = (await server.inspect('health')).body.ledger;
  assert.match(failure, /EFBIG/);
  await send(server);
  assert.equal(await server.kill('SIGTERM'), 0);
  const records = readLedger(ledger);
  assert.ok(records.length > 10 && records.length < 200);
});

test('records beyond the buffer are lost, counted, and marked by a gap', async (t) => {
  const folder = temporaryFolder(t);
  const directory = join(folder, 'ledger');
  writeFileSync(directory, 'in the way');
  const failures: unknown[] = [];
  let recoveries = 0;
  const writer = new LineWriter({
    segments: new Segments({ directory, bytesMax: 1024 ** 3, run: 'r' }),
    gapLine: (lost) => `gap of ${lost}\n`,
    onFailure: (error) => failures.push(error),
    onRecovery: () => {
      recoveries += 1;
    },
  });
  const megabyte = `${'x'.repeat(1024 * 1024 - 1)}\n`;
  for (let line = 1; line <= 70; line += 1) writer.append(megabyte);
  assert.equal(writer.lost, 6);
  while (writer.failure === undefined) await aTurn();
  rmSync(directory);
  mkdirSync(directory);
  while (recoveries === 0) await aTurn();
  writer.append('after\n');
  await writer.close();
  assert.equal(failures.length, 1, 'said once');
  const lines = segmentPaths(directory).flatMap((path) => readFileSync(path, 'utf8').split('\n'));
  const short = lines.filter((line) => line !== '' && !line.startsWith('x'));
  assert.deepEqual(short, ['gap of 6', 'after']);
  assert.equal(lines.filter((line) => line.startsWith('x')).length, 64);
});

test('a ledger that cannot be opened stops the start with its reason', async (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, '');
  await assert.rejects(
    startTestServer({ ledger: file }),
    (error) =>
      error instanceof ConfigError && /The ledger \S+ cannot be used: /.test(error.message),
  );
  await assert.rejects(
    startTestServer({ ledger: `${file}-2`, ledgerMaxBytes: 999_999 }),
    /ledger-max-bytes: 999999 is not valid/,
  );
});
