/**
 * Contents that share a record: which do, how they are read and moved one by one, and when the record goes. The changes go
 * straight into the store, so that a test decides what is in one commit.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeptQueue, MessageContent, QueueChange } from '../../../src/core/changes.ts';
import { windowExpiredUntil } from '../../../src/core/deduplication/window-expiry.ts';
import { Environment } from '../../../src/storage/lmdb/file/environment.ts';
import { bringUpToDate } from '../../../src/storage/lmdb/file/format.ts';
import { LmdbStore } from '../../../src/storage/lmdb/lmdb-store.ts';
import { contentIn, packBytesMax } from '../../../src/storage/lmdb/records/content-pack.ts';
import { idIn, keyOf, rangeOf } from '../../../src/storage/lmdb/records/keys.ts';
import type { StoreUser } from '../../../src/storage/store.ts';
import { checked, meddle, withDirectory } from './data-directories.ts';

const user: StoreUser = {
  now: () => 0,
  takeBack: () => assert.fail('a commit failed'),
  windowExpiredUntil: (owner) => windowExpiredUntil(owner, 0),
  reserve: () => {},
  suspend: () => {},
  committed: () => {},
  resume: () => {},
};

const kept: KeptQueue = { attributes: {}, tags: {}, secret: 's', createdAt: 0, modifiedAt: 0 };

/** The queue's own record; it gets the contents 1, a second queue 3. */
const created = (queue = 'jobs'): QueueChange => ({ kind: 'queue', queue, value: kept });

function sent(id: number, body = `body ${id}`, queue = 'jobs'): QueueChange[] {
  const content: MessageContent = {
    body,
    bodyMd5: 'd41d8cd98f00b204e9800998ecf8427e',
    attributes: [],
    attributesMd5: '',
    traceHeader: undefined,
    senderId: undefined,
    groupId: undefined,
    deduplicationId: undefined,
  };
  const value = { sentAt: 0, delayMs: 0, groupId: undefined, content };
  return [
    { kind: 'message', queue, id, value },
    { kind: 'counter', queue, value: id },
  ];
}

const removed = (id: number): QueueChange => ({
  kind: 'message',
  queue: 'jobs',
  id,
  value: null,
});

/** Applies each list as one commit, then opens the store again and hands it over. */
async function afterCommits(
  directory: string,
  commits: readonly (readonly QueueChange[])[],
  look: (store: LmdbStore) => void = () => {},
): Promise<void> {
  const writing = await open(directory);
  for (const changes of commits) {
    writing.apply(changes);
    await writing.kept();
  }
  await writing.close();
  const reading = await open(directory);
  look(reading);
  await reading.close();
}

async function open(directory: string): Promise<LmdbStore> {
  const environment = await Environment.open({ directory });
  await bringUpToDate(environment);
  const store = new LmdbStore(environment, user);
  for (const _ of store.load());
  return store;
}

/** The keys and lengths of the records of contents. */
async function recordsOf(directory: string, contents = 1): Promise<[key: number, bytes: number][]> {
  const environment = await Environment.open({ directory, isReadOnly: true });
  const records = Array.from(
    environment.range(rangeOf('content', contents)),
    ({ key, value }): [number, number] => [idIn(key), value.length],
  );
  await environment.close();
  return records;
}

async function keysOf(directory: string, contents?: number): Promise<number[]> {
  return (await recordsOf(directory, contents)).map(([key]) => key);
}

/** A copy of the first record of contents. */
function recordIn(environment: Environment): Buffer {
  const bytes = environment.get(keyOf('content', 1, 1)) as Buffer;
  return Buffer.from(bytes.subarray(0, bytes.length));
}

test('messages of one commit share a record, and each is read from it', () =>
  withDirectory(async (directory) => {
    const commits = [
      [created(), ...sent(1), ...sent(2), ...sent(5)],
      [...sent(6), ...sent(7)],
    ];
    await afterCommits(directory, commits, (store) => {
      for (const id of [1, 2, 5, 6, 7]) {
        assert.equal(store.content('jobs', id)?.body, `body ${id}`);
      }
      for (const id of [0, 3, 8, 64]) assert.equal(store.content('jobs', id), undefined);
    });
    assert.deepEqual(await keysOf(directory), [1, 6]);
  }));

test('a record of several contents is bounded, and within one block and one queue', () =>
  withDirectory(async (directory) => {
    const many = Array.from({ length: 100 }, (_, index) => sent(index + 1)).flat();
    const others = [10, 3_900, 200, 5_000, 100].flatMap((length, index) =>
      sent(200 + index, 'x'.repeat(length)),
    );
    // In the same block, so that only the queue keeps them apart.
    const queues = [...sent(260, 'a', 'other'), ...sent(300), ...sent(261, 'b', 'other')];
    await afterCommits(
      directory,
      [[created(), created('other')], many, others, queues],
      (store) => {
        assert.equal(store.content('jobs', 203)?.body.length, 5_000);
        assert.equal(store.content('other', 261)?.body, 'b');
      },
    );
    const records = await recordsOf(directory);
    assert.ok(records.length < 20, `${records.length} records`);
    assert.ok(records.some(([key]) => key === 64));
    for (const [key, bytes] of records) assert.ok(bytes <= packBytesMax || key === 203);
    assert.deepEqual(await keysOf(directory, 3), [260, 261]);
    assert.deepEqual(
      (await checked(directory)).problems.filter((problem) => !/MD5/.test(problem)),
      [],
    );
  }));

test('a commit of any size keeps every content', () =>
  withDirectory(async (directory) => {
    const bodyOf = (id: number): string => String(id).padEnd(1_000, 'x');
    const ids = Array.from({ length: 400 }, (_, index) => index + 1);
    const commit = [created(), ...ids.flatMap((id) => sent(id, bodyOf(id)))];
    await afterCommits(directory, [commit], (store) => {
      for (const id of ids) assert.equal(store.content('jobs', id)?.body, bodyOf(id));
    });
  }));

test('a message without a content does not come between others and theirs', () =>
  withDirectory(async (directory) => {
    const content = { from: { queue: 'jobs', sequence: 99 } };
    const value = { sentAt: 0, delayMs: 0, groupId: undefined, content };
    const lost: QueueChange = { kind: 'message', queue: 'jobs', id: 2, value };
    await afterCommits(directory, [[created(), ...sent(1), lost, ...sent(3)]], (store) => {
      assert.equal(store.content('jobs', 1)?.body, 'body 1');
      assert.equal(store.content('jobs', 3)?.body, 'body 3');
    });
  }));

test('a record goes with the last of its messages', () =>
  withDirectory(async (directory) => {
    await afterCommits(directory, [
      [created(), ...sent(1), ...sent(2), ...sent(3)],
      [removed(2), removed(1)],
    ]);
    assert.deepEqual(await keysOf(directory), [1]);
    await afterCommits(directory, [], (store) => {
      assert.equal(store.content('jobs', 1), undefined, 'it was removed');
      assert.equal(store.content('jobs', 3)?.body, 'body 3');
    });
    await afterCommits(directory, [[removed(3)]]);
    assert.deepEqual(await keysOf(directory), []);
  }));

test('nothing is added to a record that the same commit removes', () =>
  withDirectory(async (directory) => {
    const commit = [created(), ...sent(1), ...sent(2), removed(1), removed(2), ...sent(3)];
    await afterCommits(directory, [commit], (store) => {
      assert.equal(store.content('jobs', 3)?.body, 'body 3');
    });
    assert.deepEqual(await keysOf(directory), [3]);
  }));

test('a message moves without its neighbors, also one that cannot be read', () =>
  withDirectory(async (directory) => {
    const moved = (id: number, to: number): QueueChange[] => [
      {
        kind: 'message',
        queue: 'dead',
        id: to,
        value: {
          sentAt: 0,
          delayMs: 0,
          groupId: undefined,
          content: { from: { queue: 'jobs', sequence: id } },
        },
      },
      { kind: 'counter', queue: 'dead', value: to },
      removed(id),
    ];
    await afterCommits(directory, [
      [created(), created('dead'), ...sent(1), ...sent(2), ...sent(3)],
      moved(2, 1),
    ]);
    // Takes the third content away from the record that the first is in.
    await meddle(directory, (put, environment) => {
      const record = recordIn(environment);
      const third = contentIn(record, 3);
      put(keyOf('content', 1, 1), record.subarray(0, record.length - third.length - 5));
    });
    await afterCommits(directory, [[...moved(3, 2), ...moved(1, 3)]], (store) => {
      assert.equal(store.content('dead', 1)?.body, 'body 2');
      assert.throws(() => store.content('dead', 2), /is damaged: a record is cut off/);
      assert.equal(store.content('dead', 3)?.body, 'body 1');
    });
    assert.deepEqual(await keysOf(directory), []);
    assert.deepEqual(await keysOf(directory, 3), [1, 2]);
  }));

test('a record that lacks a content is damaged', () =>
  withDirectory(async (directory) => {
    await afterCommits(directory, [[created(), ...sent(1), ...sent(2)]]);
    await meddle(directory, (put, environment) => {
      const record = recordIn(environment);
      const second = contentIn(record, 2);
      put(keyOf('content', 1, 1), record.subarray(0, record.length - second.length - 5));
    });
    await afterCommits(directory, [], (store) => {
      assert.equal(store.content('jobs', 1)?.body, 'body 1');
      assert.throws(() => store.content('jobs', 2), /lacks the content of message 2/);
    });
    const { problems } = await checked(directory);
    assert.match(problems.join('\n'), /content 2: a record lacks the content of message 2/);
  }));

test('check finds what a record has beyond the contents of its messages', () =>
  withDirectory(async (directory) => {
    const orphan = Buffer.from([9, 1, 0, 0, 0, 0]);
    const rests: [RegExp, Buffer][] = [
      [/content 1 has a part that belongs to no message/, orphan],
      [/content 1: a record is cut off/, orphan.subarray(0, 3)],
    ];
    await afterCommits(directory, [
      [created(), ...sent(1), ...sent(2), ...sent(3)],
      [removed(1), removed(2)],
    ]);
    const isAboutParts = (problem: string): boolean => !/MD5/.test(problem);
    assert.deepEqual((await checked(directory)).problems.filter(isAboutParts), []);
    let whole: Buffer | undefined;
    for (const [expected, rest] of rests) {
      await meddle(directory, (put, environment) => {
        whole ??= recordIn(environment);
        put(keyOf('content', 1, 1), Buffer.concat([whole, rest]));
      });
      const problems = (await checked(directory)).problems.filter(isAboutParts);
      assert.equal(problems.length, 1);
      assert.match(problems.join(), expected);
    }
  }));
