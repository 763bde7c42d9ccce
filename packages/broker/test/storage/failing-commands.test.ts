/**
 * A command that throws in the middle leaves nothing behind. Random lives of queues and topics are driven, and recorded with
 * what each command answered and changed. Then another engine gets the same commands, but before each one succeeds it fails,
 * at any of its calls (support/faults.ts); what it touched is loaded again from a store, as the backend does. It must answer and
 * change exactly what the first one did, which never saw a failure. So must an engine that is loaded after the store was closed
 * and opened. A failure that follows another can mend what that one left; so most commands fail once.
 */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { isLooking } from '../../src/core/command-effects.ts';
import type { Command } from '../../src/core/commands.ts';
import { type Applied, CommandFailed, Engine } from '../../src/core/engine.ts';
import { strictLimits } from '../../src/core/limits.ts';
import { MemoryStore } from '../../src/storage/memory/memory-store.ts';
import type { Store } from '../../src/storage/store.ts';
import { scenario } from '../simulation/scenarios.ts';
import { limitsOf, Simulation } from '../simulation/simulation.ts';
import type { Scenario } from '../simulation/steps.ts';
import {
  startedAt,
  type TopicStep,
  TopicWorld,
  topicEngine,
  topicSteps,
} from '../simulation/topic-steps.ts';
import { CountedIds } from '../support/counted-ids.ts';
import { Fault, Faults } from '../support/faults.ts';
import { temporaryDirectory } from './backends.ts';
import { openStore, problemsIn } from './lmdb/open-store.ts';

interface Moment {
  readonly command: Command;
  readonly now: number;
  readonly ids: CountedIds;
  /** Its outcome and changes, as JSON. */
  answered: string;
}

interface Life {
  readonly moments: readonly Moment[];
  readonly newEngine: () => Engine;
}

const faults = new Faults();
after(() => faults.end());

function answered({ outcome, changes }: Applied<Command['type']>): string {
  return JSON.stringify({ outcome, changes });
}

function queueLife({ steps, inFlightMax }: Scenario): Life {
  const moments: Moment[] = [];
  const simulation = new Simulation(inFlightMax, {
    before: (command, { now, ids }) => moments.push({ command, now, ids, answered: '' }),
    after: (_, applied) => {
      (moments.at(-1) as Moment).answered = answered(applied);
    },
  });
  simulation.run(steps);
  return { moments, newEngine: () => new Engine({ limits: limitsOf({ inFlightMax }) }) };
}

function topicLife(steps: readonly TopicStep[]): Life {
  const moments: Moment[] = [];
  const world = new TopicWorld({
    before: (command, { now, ids }) => moments.push({ command, now, ids, answered: '' }),
    after: (_, applied) => {
      (moments.at(-1) as Moment).answered = answered(applied);
    },
  });
  world.run(steps);
  return { moments, newEngine: topicEngine };
}

/** What random lives seldom have: dead letters, and a task that moves them back. */
function deadLetterLife(): Life {
  const arnOf = (queue: string) => `arn:aws:sqs:us-east-1:000000000000:${queue}`;
  const RedrivePolicy = JSON.stringify({
    deadLetterTargetArn: arnOf('dead.fifo'),
    maxReceiveCount: 1,
  });
  const queue = 'jobs.fifo';
  const receive = { type: 'receive', queue, visibilitySeconds: 0 } as const;
  const entries = ['1', '2'].map((id) => ({ id, body: id, groupId: id, deduplicationId: id }));
  const create = { type: 'create-queue', attributes: { FifoQueue: 'true' } } as const;
  const commands: readonly Command[] = [
    { ...create, queue: 'dead.fifo' },
    { ...create, queue, attributes: { FifoQueue: 'true', RedrivePolicy } },
    { type: 'send', queue, isBatch: true, entries },
    receive,
    receive,
    // Each was received once, and becomes a dead letter.
    receive,
    { type: 'start-move-task', sourceArn: arnOf('dead.fifo') },
    { type: 'tick' },
    { type: 'peek-messages', queue, limit: 10 },
    { type: 'purge-queue', queue },
    { type: 'delete-queue', queue: 'dead.fifo' },
  ];
  // When its name is free again.
  const later: readonly Command[] = [
    { type: 'tick' },
    { ...create, queue: 'dead.fifo' },
    { type: 'list-queues' },
  ];
  const engine = new Engine();
  const ids = new CountedIds();
  const moments = [...commands, ...later].map((command): Moment => {
    const now = startedAt + (later.includes(command) ? strictLimits.nameReuseMs : 0);
    const moment = { command, now, ids: ids.fork() };
    return { ...moment, answered: answered(engine.apply(command, { now, ids })) };
  });
  return { moments, newEngine: () => new Engine() };
}

/** Fails at the n-th call, and is undone; or returns what was applied, if there are fewer calls. */
function applyOrUndo(
  engine: Engine,
  { command, now, ids }: Moment,
  store: Store,
  n: number,
): Applied<Command['type']> | undefined {
  const dueBefore = engine.nextDueAt();
  try {
    const context = { now, ids: ids.fork() };
    return faults.during(n, () => engine.apply(command, context));
  } catch (error) {
    assert.ok(error instanceof CommandFailed && error.cause instanceof Fault, String(error));
    for (const owner of error.concerned) engine.drop(owner);
    for (const changes of store.applied(error.concerned)) engine.absorb(changes, now);
    // What was due may be done by loading it: a message that is visible again.
    const isDone = dueBefore !== undefined && dueBefore <= now;
    if (!isDone) assert.equal(engine.nextDueAt(), dueBefore);
    return undefined;
  }
}

const never = Number.POSITIVE_INFINITY;

/** Lets every command fail, at some call or at several, one after the other, before it succeeds. */
async function prove(
  { moments, newEngine }: Life,
  salt: number,
  stored: OpenedStore,
): Promise<void> {
  let engine = newEngine();
  let store = await stored.open();
  for await (const _ of store.load());
  for (const [index, moment] of moments.entries()) {
    // Most commands only look, to compare; those that do something have more calls.
    const callsMax = isLooking(moment.command) ? 40 : 200;
    const stride = 1 + ((Math.imul(salt + index, 0x9e37_79b1) >>> 8) % callsMax);
    const failuresMax = index % 3 === 0 ? 10 : 1;
    let applied: Applied<Command['type']> | undefined;
    for (let failures = 0; applied === undefined; failures += 1) {
      const n = failures < failuresMax ? stride * (failures + 1) : never;
      applied = applyOrUndo(engine, moment, store, n);
    }
    assert.equal(answered(applied), moment.answered, `${index}: ${moment.command.type}`);
    store.apply(applied.changes);
    // Thus commands fail while a commit is under way, while one gathers, both, or neither.
    if ((index + salt) % 5 === 0) await store.kept();
    if ((index + salt) % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
    if (!stored.isKept || (index + salt) % 41 !== 0) continue;
    await store.close();
    store = await stored.open();
    engine = newEngine();
    for await (const changes of store.load()) engine.absorb(changes, moment.now);
  }
  await store.close();
}

/** Lets every command fail once at each of its calls, each time on an engine of its own. */
async function proveEachCall({ moments, newEngine }: Life, store: Store): Promise<void> {
  const loaded = new MemoryStore();
  for (const moment of moments) {
    for (let n = 1; ; n += 1) {
      const engine = newEngine();
      engine.absorb(loaded.changes(), moment.now);
      let applied = applyOrUndo(engine, moment, store, n);
      const hasFailed = applied === undefined;
      applied ??= applyOrUndo(engine, moment, store, never) as Applied<Command['type']>;
      assert.equal(answered(applied), moment.answered, `${moment.command.type} at call ${n}`);
      if (hasFailed) continue;
      loaded.apply(applied.changes);
      store.apply(applied.changes);
      break;
    }
  }
  await store.close();
}

interface OpenedStore {
  open(): Promise<Store> | Store;
  /** Whether what it had is there when it is opened again. */
  readonly isKept: boolean;
}

const memory: OpenedStore = { open: () => new MemoryStore(), isKept: false };

for (const [title, lives, runs] of [
  ['queues', scenario(40).map(queueLife), { memory: 15, lmdb: 6 }],
  ['topics', topicSteps.map(topicLife), { memory: 150, lmdb: 20 }],
] as const) {
  test(`commands about ${title} that fail leave nothing behind (memory)`, async () => {
    await fc.assert(
      fc.asyncProperty(lives, fc.nat(), (life, salt) => prove(life, salt, memory)),
      { numRuns: runs.memory },
    );
  });

  test(`commands about ${title} that fail leave nothing behind (lmdb)`, async () => {
    const directory = temporaryDirectory();
    let opened = 0;
    await fc.assert(
      fc.asyncProperty(lives, fc.nat(), async (life, salt) => {
        opened += 1;
        const path = join(directory.path, String(opened));
        await prove(life, salt, { open: () => openStore(path, 0), isKept: true });
        assert.deepEqual(await problemsIn(path), []);
      }),
      { numRuns: runs.lmdb },
    );
    directory.remove();
  });
}

test('dead letters and tasks that move them can fail at each call (memory)', async () => {
  await proveEachCall(deadLetterLife(), new MemoryStore());
});

test('dead letters and tasks that move them can fail at each call (lmdb)', async () => {
  const directory = temporaryDirectory();
  await proveEachCall(deadLetterLife(), await openStore(directory.path, 0));
  assert.deepEqual(await problemsIn(directory.path), []);
  directory.remove();
});
