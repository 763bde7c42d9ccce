/**
 * The LMDB store returns what went in: engines are driven through random scenarios, all their changes go into the store
 * and into memory alike, the store is closed and opened again at random moments, and then both must hold the same, entry
 * by entry and text by text.
 */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Change, type MessageContent, topicOwner } from '../../../src/core/changes.ts';
import { Engine } from '../../../src/core/engine.ts';
import { Environment } from '../../../src/storage/lmdb/file/environment.ts';
import { bringUpToDate } from '../../../src/storage/lmdb/file/format.ts';
import { LmdbStore } from '../../../src/storage/lmdb/lmdb-store.ts';
import { contentKinds, rangeOf } from '../../../src/storage/lmdb/records/keys.ts';
import { MemoryStore } from '../../../src/storage/memory/memory-store.ts';
import { scenario } from '../../simulation/scenarios.ts';
import { Simulation } from '../../simulation/simulation.ts';
import type { Scenario } from '../../simulation/steps.ts';
import { startedAt, type TopicStep, TopicWorld, topicSteps } from '../../simulation/topic-steps.ts';
import { temporaryDirectory } from '../backends.ts';
import { openStore, problemsIn, user } from './open-store.ts';

interface Written {
  readonly changes: readonly Change[];
  readonly now: number;
}

function drive({ steps, inFlightMax }: Scenario): Written[] {
  const written: Written[] = [];
  let now = 0;
  const simulation = new Simulation(inFlightMax, {
    before: (_, moment) => {
      now = moment.now;
    },
    after: (_, { changes }) => {
      if (changes.length > 0) written.push({ changes, now });
    },
  });
  simulation.run(steps);
  return written;
}

function driveTopics(steps: readonly TopicStep[]): Written[] {
  const written: Written[] = [];
  const world = new TopicWorld({
    before: () => {},
    after: (_, { changes }, { now }) => {
      if (changes.length > 0) written.push({ changes, now });
    },
  });
  world.run(steps);
  return written;
}

/** Everything that the store holds, contents and texts included, in an order of its own. */
function told(store: MemoryStore | LmdbStore): string[] {
  return [...store.load()]
    .flat()
    .map((change) => {
      if (change.kind === 'message' && change.value !== null) {
        const content = store.content(change.queue, change.id);
        return JSON.stringify({ ...change, value: ordered({ ...change.value, content }) });
      }
      if (change.kind === 'window') {
        const [value] = store.windowEntries(change.queue, [change.id]);
        return JSON.stringify({ kind: 'window', queue: change.queue, id: change.id, ...value });
      }
      if (change.kind === 'topic-window') {
        const [value] = store.windowEntries(topicOwner(change.topic), [change.id]);
        return JSON.stringify({ kind: change.kind, topic: change.topic, id: change.id, ...value });
      }
      if (change.kind === 'archived' || change.kind === 'post') {
        const { kind, topic, id } = change;
        const kept = kind === 'post' ? store.post(topic, id) : store.archived(topic, id);
        assert.equal(JSON.stringify(kept), JSON.stringify(change.value));
      }
      if (change.kind === 'counter') return `counter ${change.queue} ${change.value}`;
      return JSON.stringify(change);
    })
    .sort();
}

function ordered(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Engines take changes as the store gives them, with texts that are read only if somebody asks for them. */
function engineOf(store: MemoryStore | LmdbStore): Engine {
  const engine = new Engine();
  for (const changes of store.load()) engine.absorb(changes, 0);
  return engine;
}

async function proveKept(path: string, written: readonly Written[], salt: number): Promise<void> {
  const memory = new MemoryStore();
  // A time before everything, so that nothing has expired for the store that memory still has.
  let lmdb = await openStore(path, 0);
  for (const [index, { changes }] of written.entries()) {
    memory.apply(changes);
    lmdb.apply(changes);
    if ((index + salt) % 3 === 0) await lmdb.kept();
    if ((index + salt) % 29 !== 0) continue;
    await lmdb.close();
    assert.deepEqual(await problemsIn(path), []);
    lmdb = await openStore(path, 0);
    assert.deepEqual(told(lmdb), told(memory));
    assert.equal(engineOf(lmdb).nextDueAt(), engineOf(memory).nextDueAt());
  }
  await lmdb.close();
  assert.deepEqual(await problemsIn(path), []);
  // A start after which everything in the windows has expired, and one more.
  for (const now of [startedAt * 2, startedAt * 2 + 1]) {
    const later = await openStore(path, now);
    for (const _ of later.load());
    await later.close();
    assert.deepEqual(await problemsIn(path), []);
  }
}

for (const [title, lives] of [
  ['queues', scenario(60).map(drive)],
  ['topics', topicSteps.map(driveTopics)],
] as const) {
  test(`any written ${title} are read back after closing and opening`, async () => {
    const directory = temporaryDirectory();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(lives, fc.nat(), (written, salt) => {
        runs += 1;
        return proveKept(join(directory.path, String(runs)), written, salt);
      }),
      { numRuns: 60 },
    );
    directory.remove();
  });
}

test('when everything is gone, nothing is left in the file', async () => {
  const directory = temporaryDirectory();
  await fc.assert(
    fc.asyncProperty(scenario(60), topicSteps, async (value, steps) => {
      const store = await openStore(directory.path, 0);
      for (const _ of store.load());
      for (const { changes } of drive(value)) store.apply(changes);
      store.clear();
      for (const { changes } of driveTopics(steps)) store.apply(changes);
      store.clear();
      for (let kept = store.kept(); kept !== undefined; kept = store.kept()) await kept;
      await store.close();
      const environment = await Environment.open({ directory: directory.path });
      for (const kind of [...contentKinds, 'queue', 'topic', 'name', 'abandoned'] as const) {
        assert.deepEqual([...environment.range(rangeOf(kind))], [], kind);
      }
      await environment.close();
    }),
    { numRuns: 20 },
  );
  directory.remove();
});

/** If it failed, what depends on it would be kept without it. */
test('no commit begins before the previous one has ended', async () => {
  const directory = temporaryDirectory();
  const environment = await Environment.open({ directory: directory.path });
  await bringUpToDate(environment);
  const write = environment.write.bind(environment);
  let underWay = 0;
  let commits = 0;
  environment.write = async (...args) => {
    underWay += 1;
    commits += 1;
    assert.equal(underWay, 1);
    await write(...args);
    underWay -= 1;
  };
  const store = new LmdbStore(environment, user(0));
  for (const _ of store.load());
  const queues = 200;
  for (let number = 0; number < queues; number += 1) {
    store.apply([{ kind: 'name', queue: `q${number}`, value: 1 }]);
    const kept = store.kept();
    // Some while no commit is in flight, some during a commit, some as it ends.
    if (number % 7 === 0) await kept;
    else if (number % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  for (let kept = store.kept(); kept !== undefined; kept = store.kept()) await kept;
  assert.ok(commits > queues / 7);
  await store.close();
  directory.remove();
});

/** While the stopwatch stands still, a commit that waits would do so for ever. */
const endless = { timeout: 20_000 };

/** A commit of its own for an early request would make all others wait for it. */
test('changes made during a commit are committed together with those of the clients that it answers', async () => {
  const { store, commits, stopwatch, request, close } = await openTimed();
  const first = request('first');
  await commits.begun();
  stopwatch.ms += 8;
  const early = request('early');
  await first;
  await someTurns();
  assert.equal(commits.count, 1);
  await Promise.all([early, request('first again')]);
  assert.equal(commits.count, 2);
  assert.equal(store.kept(), undefined);
  await close();
});

test(
  'a commit waits for the clients just answered for a quarter of the time that the previous one took, and no longer',
  endless,
  async () => {
    const { commits, stopwatch, request, close } = await openAnswered(8);
    const again = request('one again');
    stopwatch.ms += 1.9;
    await someTurns();
    assert.equal(commits.count, 1);
    stopwatch.ms += 0.1;
    await again;
    assert.equal(commits.count, 2);
    await close();
  },
);

test('a client that asks again late is not held up for others', endless, async () => {
  const { commits, stopwatch, request, close } = await openAnswered(8);
  stopwatch.ms += 8;
  await request('one again');
  assert.equal(commits.count, 2);
  await close();
});

test('after a commit that was stalled, the next one waits for 5 ms at most', endless, async () => {
  const { commits, stopwatch, request, close } = await openAnswered(60_000);
  stopwatch.ms += 19;
  const again = request('one again');
  await someTurns();
  assert.equal(commits.count, 1);
  stopwatch.ms += 5;
  await again;
  assert.equal(commits.count, 2);
  await close();
});

test('closing does not wait for clients', endless, async () => {
  const { request, close } = await openAnswered(8);
  const again = request('one again');
  await close();
  assert.equal(await again, 'one again');
});

test('an answer is prepared once its commit has begun, and leaves when it has ended', async () => {
  const { store, commits, close } = await openTimed();
  const log: string[] = [];
  const prepare = (outcome: string): string => {
    log.push(`${outcome} is prepared, begun: ${commits.count}, ended: ${commits.ended}`);
    return `answer to ${outcome}`;
  };
  store.apply([{ kind: 'name', queue: 'first', value: 1 }]);
  const leaves = (answer: string): unknown => log.push(`${answer} leaves, ended: ${commits.ended}`);
  const first = store.answer('first', prepare).then(leaves);
  assert.deepEqual(log, []);
  await commits.begun();
  // Nothing is applied, but its answer may depend on what is being written.
  const second = store.answer('second', prepare).then(leaves);
  await Promise.all([first, second]);
  assert.deepEqual(log, [
    'first is prepared, begun: 1, ended: 0',
    'second is prepared, begun: 1, ended: 0',
    'answer to first leaves, ended: 1',
    'answer to second leaves, ended: 1',
  ]);
  await close();
});

test('an answer that cannot be prepared fails alone', async () => {
  const { store, request, close } = await openTimed();
  const before = request('before');
  const failing = store.answer(0, () => {
    throw new Error('cannot be encoded');
  });
  const after = request('after');
  await assert.rejects(failing, /cannot be encoded/);
  assert.deepEqual(await Promise.all([before, after]), ['before', 'after']);
  await close();
});

test('a content is held in memory until its commit is over, and then read from the file', async () => {
  const { store, commits, close } = await openTimed();
  const queue = 'q.fifo';
  const send = (id: number): MessageContent => {
    const content = {
      body: `body ${id}`,
      bodyMd5: 'ab'.repeat(16),
      attributes: [],
      attributesMd5: '',
    };
    const value = { sentAt: 1, delayMs: 0, groupId: 'g', content };
    store.apply([{ kind: 'message', queue, id, value }]);
    return content;
  };
  const kept = { attributes: {}, tags: {}, secret: 's', createdAt: 0, modifiedAt: 0 };
  store.apply([{ kind: 'queue', queue, value: kept }]);
  const first = send(1);
  const written = store.kept();
  await commits.begun();
  const second = send(2);
  assert.equal(store.content(queue, 1), first);
  await written;
  assert.notEqual(store.content(queue, 1), first);
  assert.equal(store.content(queue, 1)?.body, 'body 1');
  assert.equal(store.content(queue, 2), second);
  await store.kept();
  assert.notEqual(store.content(queue, 2), second);
  assert.equal(store.content(queue, 2)?.body, 'body 2');
  await close();
});

/** `openTimed`, and a commit that took this long and answered two clients. */
async function openAnswered(ms: number): ReturnType<typeof openTimed> {
  const opened = await openTimed();
  const answered = Promise.all([opened.request('one'), opened.request('two')]);
  await opened.commits.begun();
  opened.stopwatch.ms += ms;
  await answered;
  return opened;
}

/** A new store whose commits are counted, with a stopwatch that stands still unless it is moved. */
async function openTimed() {
  const directory = temporaryDirectory();
  const environment = await Environment.open({ directory: directory.path });
  await bringUpToDate(environment);
  const stopwatch = { ms: 0 };
  const { promise: begun, resolve: begin } = withResolvers();
  const commits = { count: 0, ended: 0, begun: () => begun };
  const write = environment.write.bind(environment);
  environment.write = async (...args) => {
    commits.count += 1;
    const written = write(...args);
    begin();
    await written;
    commits.ended += 1;
  };
  const store = new LmdbStore(environment, user(0), { stopwatch: () => stopwatch.ms });
  for (const _ of store.load());
  const request = (queue: string): Promise<string> => {
    store.apply([{ kind: 'name', queue, value: 1 }]);
    return store.answer(queue, (outcome) => outcome);
  };
  const close = async (): Promise<void> => {
    await store.close();
    directory.remove();
  };
  return { store, commits, stopwatch, request, close };
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((given) => {
    resolve = given;
  });
  return { promise, resolve };
}

/** More than a commit waits for without a reason. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** The engine has moved on by all of the command's changes. */
test('if a part of the changes of a command cannot be applied, none is kept, and their owners are loaded again', async () => {
  const directory = temporaryDirectory();
  const environment = await Environment.open({ directory: directory.path });
  await bringUpToDate(environment);
  const takenBack: string[] = [];
  const takeBack = (owners: ReadonlySet<string>): void => {
    takenBack.push(...owners);
  };
  const store = new LmdbStore(environment, { ...user(0), takeBack });
  for (const _ of store.load());
  store.apply([
    { kind: 'name', queue: 'first', value: 1 },
    { kind: 'counter', queue: 'unknown', value: 1 },
    { kind: 'name', queue: 'last', value: 1 },
  ]);
  await assert.rejects(
    store.kept() ?? assert.fail('it is kept'),
    /a counter came for unknown, which is not kept/,
  );
  assert.deepEqual(takenBack, ['first', 'unknown', 'last']);
  await store.close();
  const later = await openStore(directory.path, 0);
  assert.deepEqual(told(later), []);
  await later.close();
  directory.remove();
});

test('closing keeps what gathered while a commit was in flight', { timeout: 20_000 }, async () => {
  const directory = temporaryDirectory();
  const environment = await Environment.open({ directory: directory.path });
  await bringUpToDate(environment);
  const write = environment.write.bind(environment);
  const begun = new Promise<void>((resolve) => {
    environment.write = (writes) => {
      resolve();
      return write(writes);
    };
  });
  const store = new LmdbStore(environment, user(0));
  for (const _ of store.load());
  store.apply([{ kind: 'name', queue: 'first', value: 1 }]);
  void store.kept();
  await begun;
  store.apply([{ kind: 'name', queue: 'second', value: 1 }]);
  await store.close();
  const again = await openStore(directory.path, 0);
  const names = [...again.load()].flat().map((change) => 'queue' in change && change.queue);
  assert.deepEqual(names, ['first', 'second']);
  await again.close();
  directory.remove();
});
