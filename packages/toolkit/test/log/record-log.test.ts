/**
 * The log on disk: appended records are there when it is opened again, whatever a crash has left at its end; damage that
 * no crash explains is reported.
 */

import assert from 'node:assert/strict';
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { type LogPosition, RecordLog } from '../../src/log/record-log.ts';

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'oncemq-log-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

async function opened(
  path: string,
  segmentBytesMax = 1_000,
): Promise<{ log: RecordLog; records: unknown[]; positions: LogPosition[] }> {
  const records: unknown[] = [];
  const positions: LogPosition[] = [];
  const log = await RecordLog.open(path, { segmentBytesMax }, (record, position) => {
    records.push(record);
    positions.push(position);
  });
  return { log, records, positions };
}

test('a log below /proc, where no folder can be made, is an error', async (t) => {
  if (!existsSync('/proc/self')) return t.skip('no /proc here');
  await assert.rejects(opened('/proc/oncemq/log'), { code: 'ENOENT' });
});

test('records are in order when the log is reopened, over any number of segments', async (t) => {
  const path = folder(t);
  const { log } = await opened(path);
  const written = Array.from({ length: 100 }, (_, index) => ({ index, text: 'line\n"é😀' }));
  await Promise.all(written.slice(0, 50).map((record) => log.append(record)));
  for (const record of written.slice(50)) await log.append(record);
  await log.close();
  assert.ok(readdirSync(path).length > 3);
  const again = await opened(path);
  assert.deepEqual(again.records, written);
  assert.deepEqual(await again.log.read(again.positions[42] as LogPosition), written[42]);
  const streamed: unknown[] = [];
  for await (const record of again.log.records()) streamed.push(record);
  assert.deepEqual(streamed, written);
  await again.log.close();
});

test('wherever a crash cuts the last segment, all records before the cut are read', async (t) => {
  const path = folder(t);
  const file = join(path, '00000001.log');
  const { log } = await opened(path, 1_000_000);
  for (let index = 0; index < 20; index += 1) await log.append({ index });
  await log.close();
  const whole = readFileSync(file);
  const ends = [...whole.entries()].filter(([, byte]) => byte === 10).map(([index]) => index + 1);
  for (let cut = 0; cut <= whole.length; cut += 1) {
    writeFileSync(file, whole);
    truncateSync(file, cut);
    const again = await opened(path, 1_000_000);
    assert.equal(again.records.length, ends.filter((end) => end <= cut).length);
    const position = await again.log.append({ after: cut });
    assert.deepEqual(await again.log.read(position), { after: cut });
    await again.log.close();
  }
});

test('anything after the last whole record is cut off and kept in another file', async (t) => {
  const path = folder(t);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (rubbish) => {
      rmSync(path, { recursive: true });
      const { log } = await opened(path);
      await log.append({ kept: true });
      await log.close();
      appendFileSync(join(path, '00000001.log'), rubbish);
      const again = await opened(path);
      assert.deepEqual(again.records, [{ kept: true }]);
      await again.log.close();
      const aside = readFileSync(join(path, '00000001.log.damaged'));
      assert.deepEqual(aside, Buffer.from(rubbish));
    }),
    { numRuns: 50 },
  );
});

test('a damaged line in an earlier segment is reported, and nothing is cut off', async (t) => {
  const path = folder(t);
  const { log } = await opened(path, 10);
  for (let index = 0; index < 3; index += 1) await log.append({ index });
  await log.close();
  const file = join(path, '00000001.log');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"index":0', '"index":7'));
  await assert.rejects(opened(path), /00000001\.log is damaged at byte 0/);
  assert.ok(!existsSync(`${file}.damaged`));
});

test('a damaged line in the middle of the last segment is reported, and nothing is cut off', async (t) => {
  const path = folder(t);
  const { log } = await opened(path);
  for (let index = 0; index < 3; index += 1) await log.append({ index });
  await log.close();
  const file = join(path, '00000001.log');
  const damaged = readFileSync(file, 'utf8').replace('"index":1', '"index":7');
  writeFileSync(file, damaged);
  await assert.rejects(opened(path), /00000001\.log is damaged at byte \d+, with intact records/);
  assert.equal(readFileSync(file, 'utf8'), damaged);
  assert.ok(!existsSync(`${file}.damaged`));
});

test('one process at a time holds the folder, and the lock of a dead one is taken over', async (t) => {
  const path = folder(t);
  const { log } = await opened(path);
  await assert.rejects(opened(path), /is in use by process \d+/);
  await log.close();
  // Above the highest pid on Linux.
  writeFileSync(join(path, 'lock'), '4194305');
  const again = await opened(path);
  await again.log.close();
  for (let time = 0; time < 2; time += 1) {
    await assert.rejects(again.log.append({}), /is closed/);
  }
});

test('a lock left by a crash in a container is taken over even if its pid is in use again', async (t) => {
  const path = folder(t);
  const left = [
    // Our own pid, for a folder that we do not hold.
    `${process.pid} 1`,
    String(process.pid),
    // The pid of a running process that started at another time than the dead one.
    ...(existsSync('/proc/self/stat') ? [`${process.ppid} 1`] : []),
  ];
  for (const text of left) {
    writeFileSync(join(path, 'lock'), text);
    const { log } = await opened(path);
    await assert.rejects(opened(path), /is in use by process \d+/);
    await log.close();
  }
});

test('of processes that start at the same time after a crash, one gets the folder', async (t) => {
  const program = fileURLToPath(new URL('lock-racer.js', import.meta.url));
  const racers = Array.from({ length: 4 }, () => fork(program));
  t.after(() => racers.map((racer) => racer.kill()));
  const answers = (): Promise<unknown[]> =>
    Promise.all(racers.map(async (racer) => ((await once(racer, 'message')) as [unknown])[0]));
  await answers();
  const path = folder(t);
  for (let round = 0; round < 300; round += 1) {
    const contested = join(path, String(round));
    mkdirSync(contested);
    writeFileSync(join(contested, 'lock'), '4194305 1');
    const answered = answers();
    for (const racer of racers) racer.send(contested);
    assert.equal((await answered).filter((isMine) => isMine === true).length, 1);
    assert.deepEqual(readdirSync(contested), ['lock']);
  }
});

test('a worker thread that ends releases its folder', async (t) => {
  const path = folder(t);
  const module = new URL('../../src/log/folder-lock.js', import.meta.url).href;
  const program = `import('${module}').then(({ lockFolder }) => {
    lockFolder(require('node:worker_threads').workerData);
    process.exit(7);
  });`;
  const worker = new Worker(program, { eval: true, workerData: path });
  assert.deepEqual(await once(worker, 'exit'), [7]);
  const { log } = await opened(path);
  await log.close();
});

test('closing a log twice does not release the folder of its next holder', async (t) => {
  const path = folder(t);
  const { log } = await opened(path);
  await log.close();
  const { log: next } = await opened(path);
  await log.close();
  await assert.rejects(opened(path), /is in use by process \d+/);
  await next.close();
});

test('a failed write leaves no record, and later ones succeed', async (t) => {
  const path = folder(t);
  const program = fileURLToPath(new URL('full-disk.js', import.meta.url));
  const limited = `ulimit -f 16 && exec "${process.execPath}" "${program}" "${path}"`;
  const { stdout, stderr } = spawnSync('sh', ['-c', limited], { encoding: 'utf8' });
  assert.equal(stdout, 'kept\nEFBIG\nkept\n', stderr);
  const { log, records } = await opened(path);
  assert.deepEqual(records, Array(2).fill({ text: 'x'.repeat(100) }));
  await log.close();
  assert.ok(!existsSync(join(path, '00000001.log.damaged')));
});

test('segments before a given one are removed, but never the one being written', async (t) => {
  const path = folder(t);
  const { log } = await opened(path, 10);
  for (let index = 0; index < 5; index += 1) await log.append({ index });
  await log.removeBefore(3);
  assert.equal(readdirSync(path).filter((name) => name.endsWith('.log')).length, 3);
  await log.removeBefore(Number.POSITIVE_INFINITY);
  await log.close();
  assert.deepEqual((await opened(path)).records, [{ index: 4 }]);
});
