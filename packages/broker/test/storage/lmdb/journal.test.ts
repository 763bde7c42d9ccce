/**
 * The journal before LMDB's file: readers see both as one, and after a crash every commit that was answered is there, none
 * is there in part, and nothing that an earlier use of a file has left behind comes back.
 */

import assert from 'node:assert/strict';
import {
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { BackupTarget } from '../../../src/storage/lmdb/file/backup-target.ts';
import { Environment } from '../../../src/storage/lmdb/file/environment.ts';
import type { Put } from '../../../src/storage/lmdb/file/lmdb-file.ts';
import { framesIn, writeFrame } from '../../../src/storage/lmdb/journal/frame.ts';
import { layersOf, partsOf } from '../../../src/storage/lmdb/journal/journal-index.ts';
import { checksumOf, crc32InScript } from '../../../src/storage/lmdb/records/checksum.ts';
import { keyOf, rangeOf } from '../../../src/storage/lmdb/records/keys.ts';
import { sealBytes } from '../../../src/storage/lmdb/records/seal.ts';
import { withDirectory } from './data-directories.ts';

/** Keys of the records that a commit writes, with their values; null removes. */
type Commit = readonly (readonly [id: number, value: string | null])[];

const all = rangeOf('delivery', 1);
/** So small that files are sealed and used again all the time, and some commits are too large for them. */
const journalBytes = 1_600;

class Model extends Map<number, string> {
  apply(commit: Commit): void {
    for (const [id, value] of commit) {
      if (value === null) this.delete(id);
      else this.set(id, value);
    }
  }

  sorted(): [number, string][] {
    return [...this].sort(([a], [b]) => a - b);
  }
}

function write(environment: Environment, commit: Commit, isDirect = false): Promise<void> {
  return environment.write(
    (put) => {
      for (const [id, value] of commit) {
        put(keyOf('delivery', 1, id), value === null ? null : Buffer.from(value));
      }
    },
    { isDirect },
  );
}

function inside(environment: Environment): [number, string][] {
  return Array.from(environment.range(all), ({ key, value }) => [
    key.readUIntBE(5, 6),
    String(value),
  ]);
}

function assertSame(environment: Environment, model: Model): void {
  assert.deepEqual(inside(environment), model.sorted());
  const keys = Array.from(environment.keys(all, 3), (key) => key.readUIntBE(5, 6));
  assert.deepEqual(
    keys,
    model
      .sorted()
      .slice(0, 3)
      .map(([id]) => id),
  );
  for (let id = 0; id < 12; id += 1) {
    const value = environment.get(keyOf('delivery', 1, id));
    assert.equal(value === undefined ? undefined : String(value), model.get(id));
  }
}

/** The directory as a process that is killed now would leave it. */
function crash(from: string, to: string): string {
  cpSync(from, to, { recursive: true, filter: (file) => !file.endsWith('lock.mdb') });
  return to;
}

async function readBy<T>(directory: string, read: (environment: Environment) => T): Promise<T> {
  const environment = await Environment.open({ directory, isReadOnly: true, isAlone: true });
  const result = read(environment);
  await environment.close();
  return result;
}

const commits = fc.array(
  fc.tuple(
    fc.nat(11),
    fc.oneof(
      { weight: 2, arbitrary: fc.constant(null) },
      { weight: 6, arbitrary: fc.string({ maxLength: 12 }) },
      { weight: 1, arbitrary: fc.constant('x'.repeat(150)) },
    ),
  ),
  { minLength: 1, maxLength: 3 },
);
const steps = fc.array(
  fc.oneof(
    { weight: 120, arbitrary: commits.map((commit) => ({ kind: 'commit' as const, commit })) },
    { weight: 2, arbitrary: commits.map((commit) => ({ kind: 'direct' as const, commit })) },
    { weight: 1, arbitrary: fc.constant({ kind: 'close' as const }) },
    { weight: 2, arbitrary: fc.constant({ kind: 'crash' as const }) },
  ),
  { minLength: 50, maxLength: 120 },
);

test('whatever is committed is read, at once and after any number of stops and crashes', () =>
  withDirectory(async (path) => {
    let directories = 0;
    const next = (): string => {
      directories += 1;
      return join(path, String(directories));
    };
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        let directory = next();
        const model = new Model();
        let environment = await Environment.open({ directory, journalBytes });
        for (const step of list) {
          if (step.kind === 'commit' || step.kind === 'direct') {
            await write(environment, step.commit, step.kind === 'direct');
            model.apply(step.commit);
          } else {
            const left = directory;
            if (step.kind === 'crash') directory = crash(left, next());
            await environment.close();
            await readBy(directory, (reader) => assertSame(reader, model));
            environment = await Environment.open({ directory, journalBytes });
          }
          assertSame(environment, model);
        }
        await environment.close();
      }),
      { numRuns: 30 },
    );
  }));

test('a commit that is cut off, or has a wrong byte, is not there, and all before it are', () =>
  withDirectory(async (path) => {
    const [source, copy] = [join(path, 'source'), join(path, 'copy')];
    const environment = await Environment.open({ directory: source });
    const journal = (directory: string): string => join(directory, 'journal-1');
    // The first one opens the journal.
    await write(environment, [[0, 'first']]);
    await write(environment, [[1, 'second']]);
    const before = framesIn(readFileSync(journal(source))).at(-1)?.end as number;
    await write(environment, [
      [1, 'third'],
      [2, 'third'],
    ]);
    const whole = readFileSync(journal(source));
    const end = framesIn(whole).at(-1)?.end as number;
    assert.ok(end > before);
    crash(source, copy);
    await environment.close();
    const second = [
      [0, 'first'],
      [1, 'second'],
    ];
    for (let length = before; length < end; length += 1) {
      writeFileSync(journal(copy), whole);
      truncateSync(journal(copy), length);
      assert.deepEqual(await readBy(copy, inside), second, `${length} bytes`);
      const wrong = Buffer.from(whole);
      wrong[length] = (wrong[length] as number) ^ 0x10;
      writeFileSync(journal(copy), wrong);
      assert.deepEqual(await readBy(copy, inside), second, `byte ${length}`);
      wrong.fill(0, length);
      writeFileSync(journal(copy), wrong);
      assert.deepEqual(await readBy(copy, inside), second, `nothing from byte ${length} on`);
    }
    writeFileSync(journal(copy), whole);
    const third = [
      [0, 'first'],
      [1, 'third'],
      [2, 'third'],
    ];
    assert.deepEqual(await readBy(copy, inside), third);
  }));

test('a damaged commit with whole ones after it is damage, and the last one may be torn', () =>
  withDirectory(async (path) => {
    const [source, copy] = [join(path, 'source'), join(path, 'copy')];
    const environment = await Environment.open({ directory: source });
    await write(environment, [[0, 'first']]);
    for (const value of ['second', 'third', 'fourth']) await write(environment, [[1, value]]);
    crash(source, copy);
    await environment.close();
    const file = join(copy, 'journal-1');
    const whole = readFileSync(file);
    const ends = framesIn(whole).map(({ end }) => end);
    assert.equal(ends.length, 3);
    for (let byte = 0; byte < (ends[2] as number); byte += 1) {
      const wrong = Buffer.from(whole);
      wrong[byte] = (wrong[byte] as number) ^ 0x04;
      writeFileSync(file, wrong);
      const isLast = byte >= (ends[1] as number);
      const [damage, notices]: [string[], string[]] = [[], []];
      const reader = await Environment.open({
        directory: copy,
        isReadOnly: true,
        isAlone: true,
        onDamage: (what) => damage.push(what),
        onNotice: (text) => notices.push(text),
      });
      const left = byte < (ends[0] as number) ? [] : [[1, isLast ? 'third' : 'second']];
      assert.deepEqual(inside(reader), [[0, 'first'], ...left]);
      await reader.close();
      assert.deepEqual([damage.length, notices.length], isLast ? [0, 1] : [1, 0], `byte ${byte}`);
    }
  }));

/** Numbers begin anew with each run, so what lies behind its last commit can look like the next one. */
test('what a killed run has left behind is not taken for a torn commit of the next one', () =>
  withDirectory(async (path) => {
    let directory = join(path, '0');
    for (const commits of [4, 3, 2, 1]) {
      const environment = await Environment.open({ directory });
      for (let count = 0; count < commits; count += 1) await write(environment, [[1, 'same']]);
      const next = crash(directory, join(path, String(commits)));
      await environment.close();
      directory = next;
      const notices: string[] = [];
      const reader = await Environment.open({
        directory,
        isReadOnly: true,
        isAlone: true,
        onNotice: (text) => notices.push(text),
      });
      await reader.close();
      assert.deepEqual(notices, [], `after ${commits} commits`);
    }
  }));

/** Its commits are in LMDB's file, perhaps overwritten there by later ones. */
test('a journal that another run has left behind is not read', () =>
  withDirectory(async (path) => {
    const [directory, copy] = [join(path, 'data'), join(path, 'copy')];
    const first = await Environment.open({ directory });
    await write(first, [[0, 'old']]);
    await write(first, [[1, 'old']]);
    crash(directory, copy);
    await first.close();
    assert.ok(!existsSync(join(directory, 'journal-1')), 'a stop leaves no journal');
    const second = await Environment.open({ directory });
    await write(second, [[1, 'new']]);
    await second.close();
    cpSync(join(copy, 'journal-1'), join(directory, 'journal-1'));
    const expected = [
      [0, 'old'],
      [1, 'new'],
    ];
    assert.deepEqual(await readBy(directory, inside), expected);
  }));

test('a copy has what is only in the journal, and a checkpoint brings it into the file', () =>
  withDirectory(async (path) => {
    const [directory, left, copy] = [join(path, 'data'), join(path, 'left'), join(path, 'copy')];
    const environment = await Environment.open({ directory });
    await write(environment, [[0, 'in the file']]);
    await write(environment, [[1, 'in the journal']]);
    crash(directory, left);
    await environment.close();
    mkdirSync(copy);
    const reader = await Environment.open({ directory: left, isReadOnly: true });
    await reader.copyTo(copy);
    await reader.close();
    const expected = [
      [0, 'in the file'],
      [1, 'in the journal'],
    ];
    assert.deepEqual(await readBy(copy, inside), expected);
    const writer = await Environment.open({ directory: copy });
    assert.equal(writer.hasJournaled, true);
    await writer.checkpoint();
    assert.equal(writer.hasJournaled, false);
    assert.deepEqual(inside(writer), expected);
    await writer.close();
    assert.deepEqual(await readBy(copy, inside), expected);
  }));

/** A killed process does not lose what it has written; only a look at how it writes tells what power loss would leave. */
for (const durability of ['fsync', 'os'] as const) {
  test(`a write returns ${durability === 'os' ? 'before' : 'when'} it is on disk (${durability})`, (t) => {
    if (process.platform !== 'linux') return t.skip('only Linux shows how a file is open');
    return withDirectory(async (directory) => {
      const environment = await Environment.open({ directory, durability });
      await write(environment, [[0, 'value']]);
      const open = readdirSync('/proc/self/fd').filter((fd) =>
        linkOf(fd).startsWith(join(realpathSync(directory), 'journal-')),
      );
      const flags = open.map((fd) => {
        const [, octal = ''] =
          /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
        return Number.parseInt(octal, 8) & constants.O_DSYNC;
      });
      const expected = durability === 'os' ? 0 : constants.O_DSYNC;
      assert.deepEqual(flags, [expected, expected]);
      await environment.close();
    });
  });
}

/** Empty for a descriptor that was closed meanwhile. */
function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return '';
  }
}

/** Whoever puts LMDB's file back and forgets the journal beside it is told so, and gets no mixture. */
test('a file of an earlier time is not continued by frames that followed a later one', () =>
  withDirectory(async (path) => {
    const [directory, copy, backup] = [
      join(path, 'data'),
      join(path, 'copy'),
      join(path, 'backup'),
    ];
    const environment = await Environment.open({ directory });
    await write(environment, [[0, 'first']]);
    cpSync(join(directory, 'data.mdb'), join(copy, 'data.mdb'));
    const target = new BackupTarget(backup, 1);
    target.prepare();
    const reader = await Environment.open({ directory, isReadOnly: true });
    await target.take(reader);
    await reader.close();
    await write(environment, [[0, 'second']], true);
    await write(environment, [[1, 'third']]);
    for (const earlier of [copy, backup]) {
      for (const name of ['journal-1', 'journal-2'])
        cpSync(join(directory, name), join(earlier, name));
    }
    await assert.rejects(readBy(copy, inside), /journal lacks a commit, and a later commit cannot/);
    assert.deepEqual(await readBy(backup, inside), [[0, 'first']], 'it is a run of its own');
    await environment.close();
  }));

test('a start does without a file of the journal that is missing', () =>
  withDirectory(async (path) => {
    const [directory, copy] = [join(path, 'data'), join(path, 'copy')];
    const environment = await Environment.open({ directory });
    await write(environment, [[0, 'in the file']]);
    await write(environment, [[1, 'in the journal']]);
    crash(directory, copy);
    await environment.close();
    rmSync(join(copy, 'journal-2'));
    const again = await Environment.open({ directory: copy });
    assert.deepEqual(inside(again), [
      [0, 'in the file'],
      [1, 'in the journal'],
    ]);
    await again.close();
  }));

test('what is only in the journal can be read until the journal is closed', () =>
  withDirectory(async (directory) => {
    const environment = await Environment.open({ directory });
    await write(environment, [[0, 'in the file']]);
    await write(environment, [[1, 'in the journal']]);
    const closed = environment.close();
    // The turn in which the last transaction is handed over.
    await Promise.resolve();
    assert.equal(inside(environment).length, 2);
    await closed;
  }));

test('a record that is removed twice stays removed', () =>
  withDirectory(async (directory) => {
    const environment = await Environment.open({ directory });
    const key = (): Buffer => keyOf('content', 1, 1);
    await environment.write((put) => put(key(), Buffer.from('content')), { isDirect: true });
    for (const _ of ['once', 'twice']) {
      await environment.write((put) => put(key(), null));
      assert.equal(environment.get(key()), undefined);
    }
    await environment.close();
  }));

test('a journal that cannot be made is done without', async (t) => {
  if (!existsSync('/dev/full')) return t.skip('there is no device that is always full here');
  await withDirectory(async (path) => {
    const [directory, copy] = [join(path, 'data'), join(path, 'copy')];
    const environment = await Environment.open({ directory });
    symlinkSync('/dev/full', join(directory, 'journal-1'));
    const model = new Model();
    for (let id = 0; id < 5; id += 1) {
      const commit: Commit = [[id, 'value']];
      await write(environment, commit);
      model.apply(commit);
      assertSame(environment, model);
      assert.equal(environment.hasJournaled, false);
    }
    cpSync(join(directory, 'data.mdb'), join(copy, 'data.mdb'));
    await environment.close();
    assert.deepEqual(await readBy(copy, inside), model.sorted());
  });
});

/** Its client was told that it failed; whether it reached the disk, nobody knows. */
test('a frame whose writing failed does not come back once another commit has followed', () => {
  const frame = (number: number, after: number, value: string): Buffer => {
    const bytes = Buffer.alloc(200);
    const writes = (put: Put): void => put(Buffer.from('key'), Buffer.from(value));
    const end = writeFrame(bytes, 0, { run: 7, number, after }, writes)?.end;
    return bytes.subarray(0, end);
  };
  const read = (files: readonly Buffer[], number: number): string[] =>
    layersOf(files, { run: 7, number }).layers.map((layer) =>
      String(layer.get('key')?.subarray(0, -sealBytes)),
    );
  const written = frame(1, 0, 'written');
  const failed = frame(2, 1, 'failed');
  const [later, last] = [frame(3, 1, 'later'), frame(4, 3, 'last')];
  assert.deepEqual(read([Buffer.concat([written, failed])], 0), ['failed'], 'it is all there is');
  const files = [Buffer.concat([written, failed]), Buffer.concat([later, last])];
  assert.deepEqual(read(files, 0), ['written', 'last'], 'in another file');
  assert.deepEqual(read(files.toReversed(), 0), ['written', 'last'], 'in whichever order');
  assert.deepEqual(read(files, 1), ['last'], 'after a checkpoint');
  assert.deepEqual(read(files, 2), [], 'after a direct commit');
});

test('what is checkpointed in parts has the newest of each record, and removals first', () => {
  const file = (number: number, after: number, writes: (put: Put) => void): Buffer => {
    const bytes = Buffer.alloc(100_000);
    writeFrame(bytes, 0, { run: 7, number, after }, writes);
    return bytes;
  };
  const older = file(1, 0, (put) => {
    for (let id = 0; id < 600; id += 1) put(keyOf('delivery', 1, id), Buffer.from('older'));
  });
  const newer = file(2, 1, (put) => {
    put(keyOf('delivery', 1, 0), Buffer.from('newer'));
    for (let id = 500; id < 600; id += 1) put(keyOf('delivery', 1, id), null);
  });
  const parts = [...partsOf(layersOf([older, newer], { run: 7, number: 0 }).layers)];
  assert.deepEqual(
    parts.map(({ length }) => length),
    [256, 256, 88],
  );
  const records = parts.flat();
  assert.ok(records.slice(0, 100).every(({ value }) => value === null));
  const values = new Map(
    records.map(({ key, value }) => [
      key.toString('hex'),
      String(value?.subarray(0, -sealBytes) ?? null),
    ]),
  );
  const checkpointed = (id: number): string | undefined =>
    values.get(keyOf('delivery', 1, id).toString('hex'));
  assert.deepEqual([0, 1, 499, 500, 599].map(checkpointed), [
    'newer',
    'older',
    'older',
    'null',
    'null',
  ]);
  assert.equal(values.size, 600);
});

test('the checksum is that of zlib, also where Node.js does not have it', () => {
  assert.equal(crc32InScript(Buffer.from('123456789')), 0xcbf43926);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      assert.equal(crc32InScript(Buffer.from(bytes)), checksumOf(Buffer.from(bytes)));
    }),
  );
});
