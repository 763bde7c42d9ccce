/**
 * The data directory itself: who may use it, which formats it may have, and what is reported when it cannot be used.
 * A start that is refused changes nothing in it.
 */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { manualClock } from '../../../src/server/clock.ts';
import { DataError } from '../../../src/storage/lmdb/file/data-error.ts';
import { Environment } from '../../../src/storage/lmdb/file/environment.ts';
import { bringUpToDate, currentFormat, formatOf } from '../../../src/storage/lmdb/file/format.ts';
import type { Put } from '../../../src/storage/lmdb/file/lmdb-file.ts';
import { openDataBackend } from '../../../src/storage/lmdb/open.ts';
import { keyOf, nameKeyOf, rangeOf, textKeyOf } from '../../../src/storage/lmdb/records/keys.ts';
import { ServerProcess } from '../../support/server-process.ts';
import { testOnSmallDisk } from '../../support/small-disk.ts';
import { checked, type Meddling, meddle, withDirectory } from './data-directories.ts';
import { checkFixture, openFixture, startedAt, writeFixture } from './format-fixture.ts';

const fixtures = 'packages/broker/test/storage/lmdb/fixtures';
/** LMDB's, which is that of the machine. */
const pageBytes = 4096;
const metaBytes = 2 * pageBytes;

function refusedToOpen(directory: string, text: RegExp): Promise<void> {
  return assert.rejects(
    openDataBackend({ clock: manualClock(startedAt) }, { directory }),
    (error) => error instanceof DataError && text.test(error.message),
  );
}

for (const fixture of readdirSync(fixtures)) {
  test(`a directory of ${fixture} is read, and all of its state continues`, () =>
    withDirectory(async (path) => {
      cpSync(join(fixtures, fixture), path, { recursive: true });
      const backend = await openFixture(path);
      await checkFixture(backend);
      await backend.close();
    }));
}

for (const fixture of readdirSync(fixtures)) {
  testOnSmallDisk(
    `a directory of ${fixture} is read on a disk that is nearly full`,
    async (disk) => {
      const path = join(disk.path, 'data');
      cpSync(join(fixtures, fixture), path, { recursive: true });
      const backend = await openFixture(path);
      await checkFixture(backend);
      await backend.close();
    },
    { megabytes: 32 },
  );
}

test('the current format is the newest fixture', () =>
  withDirectory(async (path) => {
    assert.deepEqual(readdirSync(fixtures).at(-1), `format-${currentFormat}`);
    await writeFixture(path);
    const backend = await openFixture(path);
    await checkFixture(backend);
    await backend.close();
  }));

test('an older format is brought up to date, step by step, and stays so', () =>
  withDirectory(async (path) => {
    cpSync(join(fixtures, `format-${currentFormat}`), path, { recursive: true });
    const note = nameKeyOf('store', 'note');
    const newest = currentFormat + 2;
    const formats = {
      current: newest,
      upgrades: {
        [currentFormat]: (_: Environment, put: Put) => put(note, Buffer.from('one')),
        [currentFormat + 1]: (environment: Environment, put: Put) =>
          put(note, Buffer.from(`${environment.get(note)} and two`)),
      },
    };
    const environment = await Environment.open({ directory: path });
    await bringUpToDate(environment, formats);
    await bringUpToDate(environment, formats);
    assert.equal(formatOf(environment), newest);
    assert.equal(String(environment.get(note)), 'one and two');
    assert.equal(environment.hasJournaled, false, 'older versions do not read the journal');
    await environment.close();
    const refusal = `newer OnceMQ \\(format ${newest}; this version reads up to ${currentFormat}\\)\\. Upgrade`;
    await refusedToOpen(path, new RegExp(refusal));
  }));

test('only the user of the server can read the data, and files of earlier versions become so', (t) => {
  if (process.platform === 'win32') return t.skip('Windows has no such modes');
  return withDirectory(async (path) => {
    const directory = join(path, 'new');
    const modes = (): number[] =>
      [directory, ...readdirSync(directory).map((name) => join(directory, name))].map(
        (file) => statSync(file).mode & 0o777,
      );
    let backend = await openFixture(directory);
    assert.equal(modes()[0], 0o700);
    assert.deepEqual(new Set(modes().slice(1)), new Set([0o600]));
    await backend.close();
    chmodSync(directory, 0o755);
    chmodSync(join(directory, 'data.mdb'), 0o644);
    backend = await openFixture(directory);
    assert.deepEqual(new Set(modes()), new Set([0o755, 0o600]), 'the directory may be shared');
    await backend.close();
  });
});

test('a head whose key is damaged is missed, although another record has its place', () =>
  withDirectory(async (path) => {
    await writeFixture(path);
    const file = join(path, 'data.mdb');
    const bytes = readFileSync(file);
    // On pages that are free, too.
    for (const contents of [1, 2, 3, 4, 5, 6]) {
      const key = keyOf('head', contents, 0);
      for (let at = bytes.indexOf(key); at !== -1; at = bytes.indexOf(key, at + 1))
        bytes[at + key.length - 1] = 1;
    }
    writeFileSync(file, bytes);
    await refusedToOpen(path, /: head 1 does not match its checksum/);
  }));

test('a head whose number is damaged is missed, whoever the number belongs to', async () => {
  const abandoned = 200;
  for (const [number, key] of [
    ['a number that keeps no heads', 2],
    ['an abandoned number', abandoned],
  ] as const) {
    await withDirectory(async (path) => {
      const backend = await openFixture(path);
      for (const queue of ['first', 'second']) {
        await backend.run({ type: 'create-queue', queue, attributes: {} });
        await backend.run({ type: 'send', queue, isBatch: false, entries: [{ body: queue }] });
        const command = { type: 'receive', queue, count: 1 } as const;
        const received = await backend.receive(command, new AbortController());
        assert.ok(received.ok);
        const entries = received.messages.map(({ receiptHandle }) => ({ id: '0', receiptHandle }));
        await backend.run({ type: 'delete-messages', queue, isBatch: false, entries });
      }
      await backend.close();
      await meddle(path, (put) => put(keyOf('abandoned', abandoned, 0), Buffer.alloc(0)));
      const file = join(path, 'data.mdb');
      const bytes = readFileSync(file);
      const head = Buffer.from(keyOf('head', 3, 0));
      // On pages that are free, too.
      for (let at = bytes.indexOf(head); at !== -1; at = bytes.indexOf(head, at + 1))
        keyOf('head', key, 0).copy(bytes, at);
      writeFileSync(file, bytes);
      await refusedToOpen(path, /head 0 belongs to no queue or topic/);
      assert.match((await checked(path)).problems.join(), /head 0 belongs to/, number);
      const data = { directory: path, acceptsLoss: true };
      await (await openDataBackend({ clock: manualClock(startedAt) }, data)).close();
      assert.deepEqual((await checked(path)).problems, [], number);
    });
  }
});

test('--accept-loss starts without what is damaged, and says what that is; or that nothing was', () =>
  withDirectory(async (path) => {
    await writeFixture(path);
    const file = join(path, 'data.mdb');
    const bytes = readFileSync(file);
    // On pages that are free, too.
    const text = '"DelaySeconds":"600"';
    for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1))
      bytes[at + 3] = 0x40;
    writeFileSync(file, bytes);
    await refusedToOpen(path, /damaged: queue plain does not match its checksum.*--accept-loss/);
    const said: string[] = [];
    for (const _ of ['damaged', 'whole']) {
      const onNotice = (text: string): void => void said.push(text);
      const data = { directory: path, acceptsLoss: true, onNotice };
      const backend = await openDataBackend({ clock: manualClock(startedAt) }, data);
      const found = await backend.run({ type: 'find-queue', queue: 'plain' });
      assert.equal(found.ok, false);
      await backend.close();
    }
    assert.match(said[0] ?? '', /^damaged, and lost: queue plain does not match its checksum/);
    assert.match(said.at(-1) ?? '', /^nothing was damaged: --accept-loss had no effect/);
    assert.deepEqual((await checked(path)).problems, []);
  }));

test('the ready line says that answers do not wait for the disk, if they do not', () =>
  withDirectory(async (path) => {
    for (const [flags, expected] of [
      [[], /durability=fsync clock/],
      [['--durability', 'os'], /durability=os \(.*\) clock/],
    ] as const) {
      const server = await ServerProcess.start(['--data', path, ...flags]);
      assert.match(server.readyLine, expected);
      await server.kill('SIGTERM');
    }
  }));

test('a second server is refused while one runs, but not after that one was killed', () =>
  withDirectory(async (path) => {
    const first = await ServerProcess.start(['--data', path]);
    assert.match(
      await ServerProcess.refusal(['--data', path]),
      new RegExp(
        `in use by process ${first.child.pid}. Stop that server, wait if it is a backup, or choose another`,
      ),
    );
    await first.kill('SIGKILL');
    const next = await ServerProcess.start(['--data', path]);
    assert.equal(await next.kill('SIGTERM'), 0);
  }));

test('a second server is refused even if it has the same process id in a container of its own', (t) => {
  const prefix = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
  const { status } = spawnSync('unshare', [...prefix.slice(1), 'true']);
  if (status !== 0) return t.skip('no container can be made here');
  return withDirectory(async (path) => {
    const first = await ServerProcess.start(['--data', path], { prefix });
    try {
      assert.match(
        await ServerProcess.refusal(['--data', path], { prefix }),
        /in use by another process with the same pid, 1, probably in another container\. Stop that server/,
      );
    } finally {
      await first.kill();
    }
  });
});

/** It could be cut off: the server that runs may have written more since its size was read. */
test('a second server that is refused does not resize the file of the one that runs', () =>
  withDirectory(async (path) => {
    const first = await ServerProcess.start(['--data', path]);
    try {
      // A file can lack its last pages, if they were never written.
      const file = join(path, 'data.mdb');
      const size = statSync(file).size - pageBytes;
      truncateSync(file, size);
      assert.match(await ServerProcess.refusal(['--data', path]), /in use by process/);
      assert.equal(statSync(file).size, size);
    } finally {
      await first.kill();
    }
  }));

test('two servers in one process cannot share a directory either', () =>
  withDirectory(async (path) => {
    const first = await openDataBackend({ clock: manualClock() }, { directory: path });
    await refusedToOpen(path, /in use by another server in this process/);
    await first.close();
    await (await openDataBackend({ clock: manualClock() }, { directory: path })).close();
  }));

test('a directory that cannot be written is reported', () =>
  withDirectory(async (path) => {
    writeFileSync(join(path, 'file'), '');
    await refusedToOpen(join(path, 'file', 'below'), /cannot be written \(ENOTDIR\)/);
    await refusedToOpen(join(path, 'file'), /file is a file; the data needs a directory/);
    const closed = join(path, 'closed');
    mkdirSync(closed);
    chmodSync(path, 0o755);
    chmodSync(closed, 0o555);
    assert.match(
      openedAsNobody(closed),
      /closed cannot be written \(EACCES\)\. Give this user permission, or choose another/,
    );
  }));

test('a lock file of another user is named as what cannot be written', () =>
  withDirectory(async (path) => {
    chmodSync(path, 0o777);
    writeFileSync(join(path, 'lock.mdb'), '');
    chmodSync(join(path, 'lock.mdb'), 0o400);
    assert.match(
      openedAsNobody(path),
      /cannot be written \(EACCES at lock\.mdb\)\. Give this user/,
    );
  }));

/** What the process printed. */
function openedAsNobody(...words: string[]): string {
  const opener = fileURLToPath(new URL('open-as-nobody.js', import.meta.url));
  return execFileSync(process.execPath, [opener, ...words], { encoding: 'utf8' });
}

test('a read-only directory is checked, and copied if no server can be running on it', () =>
  withDirectory(async (path) => {
    cpSync(join(fixtures, 'format-1'), path, { recursive: true });
    chmodSync(join(path, 'data.mdb'), 0o444);
    chmodSync(path, 0o555);
    assert.equal(openedAsNobody(path, 'check'), 'it opened');
    assert.equal(openedAsNobody(path, 'backup'), 'it opened');
    chmodSync(path, 0o755);
    writeFileSync(join(path, 'lock.mdb'), '', { mode: 0o444 });
    assert.equal(openedAsNobody(path, 'check'), 'it opened');
    assert.match(openedAsNobody(path, 'backup'), /lock\.mdb in \S+ cannot be written \(EACCES\)/);
  }));

test('a directory that cannot be read is reported as unreadable, not as empty', () =>
  withDirectory(async (path) => {
    cpSync(join(fixtures, 'format-1'), path, { recursive: true });
    const text = /The data directory \S+ cannot be read \(EACCES\)\. Give this user permission/;
    chmodSync(path, 0o755);
    assert.match(
      openedAsNobody(join(path, 'data.mdb'), 'check'),
      /data\.mdb is a file; the data needs a directory/,
    );
    chmodSync(join(path, 'data.mdb'), 0o000);
    assert.match(openedAsNobody(path, 'check'), text);
    chmodSync(path, 0o000);
    assert.match(openedAsNobody(path, 'check'), text);
    chmodSync(path, 0o755);
  }));

test('a truncated or foreign file is reported as damaged, and an empty one is initialized', () =>
  withDirectory(async (path) => {
    await writeFixture(path);
    const filler = await openFixture(path);
    const entries = [{ body: 'x'.repeat(1_000_000) }];
    await filler.run({ type: 'send', queue: 'plain', isBatch: false, entries });
    await filler.close();
    const file = join(path, 'data.mdb');
    const whole = readFileSync(file);
    for (const length of [whole.length / 2, 8192, 4096, 100]) {
      writeFileSync(file, whole);
      truncateSync(file, length);
      assert.match(
        await ServerProcess.refusal(['--data', path]),
        /The data in .* is damaged: .*Restore a backup, or move the directory away/,
        `${length} bytes`,
      );
    }
    writeFileSync(file, 'something else'.repeat(1000));
    await refusedToOpen(path, /data\.mdb is not an LMDB file/);
    writeFileSync(file, '');
    await (await openFixture(path)).close();
  }));

test('pages that are missing at the end but needed are said to be damaged, and do not kill the process', () =>
  withDirectory(async (path) => {
    cpSync(join(fixtures, 'format-1'), path, { recursive: true });
    truncateSync(join(path, 'data.mdb'), metaBytes);
    assert.match(
      await ServerProcess.refusal(['--data', path]),
      /The data in .* is damaged: page [0-9]+ of data\.mdb .*Restore a backup, or move the directory away/,
    );
  }));

test('pages that a commit finds damaged are reported, with what to do', () =>
  withDirectory(async (path) => {
    await meddle(path, (put) => {
      for (let id = 0; id < 1000; id += 1) put(keyOf('content', 1, id), Buffer.alloc(500));
    });
    const environment = await Environment.open({ directory: path });
    const file = join(path, 'data.mdb');
    const pages = Buffer.alloc(statSync(file).size - metaBytes);
    const descriptor = openSync(file, 'r+');
    writeSync(descriptor, pages, 0, pages.length, metaBytes);
    closeSync(descriptor);
    await assert.rejects(
      environment.write((put) => put(keyOf('content', 1, 500), Buffer.alloc(600))),
      /The data in .* is damaged: MDB_\w+.*Restore a backup, or move the directory away/,
    );
    await environment.close();
  }));

test('records that cannot be valid are reported as damaged', () =>
  withDirectory(async (path) => {
    await writeFixture(path);
    await meddle(path, (put) => put(keyOf('delivery', 3, 999_999), Buffer.alloc(45)));
    await refusedToOpen(path, /damaged: queue orders\.fifo has a delivery of message 999999/);
    await meddle(path, (put, environment) => {
      put(keyOf('delivery', 3, 999_999), null);
      const [{ key, value }] = environment.range(rangeOf('block', 3)) as unknown as [
        { key: Buffer; value: Buffer },
      ];
      put(Buffer.from(key), value.subarray(0, value.length - 3));
    });
    await refusedToOpen(path, /damaged: a record is cut off/);
  }));

test('an id that expired before a start stays forgotten, even if the window is made longer', () =>
  withDirectory(async (path) => {
    const queue = 'jobs.fifo';
    const entries = [{ body: 'b', groupId: 'g', deduplicationId: 'd' }];
    const open = (seconds: number) =>
      openDataBackend({ clock: manualClock(startedAt + seconds * 1000) }, { directory: path });
    const first = await open(0);
    await first.run({ type: 'create-queue', queue, attributes: { FifoQueue: 'true' } });
    await first.run({ type: 'send', queue, isBatch: false, entries });
    await first.close();
    const later = await open(301);
    const attributes = { DeduplicationIntervalSeconds: '3600' };
    await later.run({ type: 'set-attributes', queue, attributes });
    await later.close();
    const last = await open(302);
    const sent = await last.run({ type: 'send', queue, isBatch: false, entries });
    assert.ok(sent.ok);
    assert.equal(sent.results[0]?.ok && sent.results[0].isDuplicate, false);
    await last.close();
  }));

test('check counts the stored entries and finds nothing wrong with valid data', () =>
  withDirectory(async (path) => {
    await writeFixture(path);
    const report = await checked(path);
    assert.deepEqual(report.problems, []);
    assert.deepEqual(
      report.queues.map(({ name, messages, received, windowEntries }) => [
        name,
        messages,
        received,
        windowEntries,
      ]),
      [
        ['dead.fifo', 1, 1, 0],
        ['orders.fifo', 3, 1, 4],
        ['plain', 1, 0, 0],
      ],
    );
  }));

test('check finds inconsistent messages, contents, deliveries and counters', () =>
  withDirectory(async (path) => {
    const wrongs: [RegExp, Meddling][] = [
      [/orders\.fifo: message 5 has no content/, (put) => put(keyOf('content', 3, 5), null)],
      [/content 77 belongs to no message/, (put, environment) => copy(put, environment, [5, 77])],
      [
        /delivery 77 belongs to no message/,
        (put) => put(keyOf('delivery', 3, 77), Buffer.alloc(45)),
      ],
      [
        /content 1 belongs to no queue or topic/,
        (put) => put(keyOf('content', 9, 1), Buffer.alloc(1)),
      ],
      [
        /the body of message 6 does not match its MD5/,
        (put, environment) => {
          const value = contentOf(environment, 5);
          value[value.length - 1] = 120;
          put(keyOf('content', 3, 5), value);
        },
      ],
      [
        /\d+ messages found, \d+ expected/,
        (put) => put(keyOf('removed', 3, 0), Buffer.alloc(8, 255)),
      ],
      [/above the counter/, (put) => put(keyOf('head', 3, 0), Buffer.alloc(32))],
    ];
    for (const [index, [expected, wrong]] of wrongs.entries()) {
      const directory = join(path, String(index));
      await writeFixture(directory);
      await meddle(directory, wrong);
      const { problems } = await checked(directory);
      assert.match(problems.join('\n'), expected);
    }
  }));

test('check names every record for which a start is refused', () =>
  withDirectory(async (path) => {
    const cut = Buffer.from('{');
    // The queue has the numbers 1 and 2, the topic 3 and 4.
    const wrongs: [string, Buffer][] = [
      ['jobs.fifo: head: a record is cut off', Buffer.from(keyOf('head', 1, 0))],
      ['jobs.fifo: removed 0: a record is cut off', Buffer.from(keyOf('removed', 1, 0))],
      ['jobs.fifo: attempt a: a record cannot be read', textKeyOf('attempt', 1, 'a')],
      ['jobs.fifo: task t: a record cannot be read', textKeyOf('task', 2, 't')],
      ['topic/news: subscription s: a record cannot be read', textKeyOf('subscription', 3, 's')],
      ['topic/news: archived 1: a record cannot be read', Buffer.from(keyOf('archived', 4, 1))],
      ['topic/news: post 1: a record cannot be read', Buffer.from(keyOf('post', 3, 1))],
      ['topic/news: post-attempt 1: a record', Buffer.from(keyOf('post-attempt', 3, 1))],
      ['the time of the last commit: a time cannot be read', nameKeyOf('store', 'time')],
    ];
    for (const [index, [expected, key]] of wrongs.entries()) {
      const directory = join(path, String(index));
      const backend = await openFixture(directory);
      const attributes = { FifoQueue: 'true' };
      const entries = [{ body: 'b', groupId: 'g', deduplicationId: 'd' }];
      await backend.run({ type: 'create-queue', queue: 'jobs.fifo', attributes });
      await backend.run({ type: 'create-topic', name: 'news' });
      await backend.run({ type: 'send', queue: 'jobs.fifo', isBatch: false, entries });
      await backend.close();
      assert.deepEqual((await checked(directory)).problems, []);
      await meddle(directory, (put) => put(key, cut));
      const { problems, queues, topics } = await checked(directory);
      assert.ok(problems[0]?.startsWith(expected), `${problems} instead of ${expected}`);
      assert.deepEqual([queues[0]?.name, topics[0]?.name], ['jobs.fifo', 'news']);
      await refusedToOpen(directory, /is damaged: a (record is cut off|.* cannot be read)/);
    }
  }));

function copy(
  put: (key: Buffer, value: Buffer) => void,
  environment: Environment,
  [from, to]: [number, number],
): void {
  const content = contentOf(environment, from);
  put(keyOf('content', 3, to), content);
}

/** A copy, since the next `get` overwrites the value. */
function contentOf(environment: Environment, id: number): Buffer {
  const bytes = environment.get(keyOf('content', 3, id)) as Buffer;
  return Buffer.from(bytes.subarray(0, bytes.length));
}
