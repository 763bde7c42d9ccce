/**
 * Limits of move tasks that only an engine shows without work: the time that one may take, and that the number of running ones is
 * known to an engine that has loaded only the queues that a command names. The tasks themselves are in conformance/move-tasks.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownerOf } from '../../src/core/changes.ts';
import type { MoveTaskView, Outcome } from '../../src/core/commands.ts';
import { Engine } from '../../src/core/engine.ts';
import {
  accepted,
  arnOf,
  assertRefused,
  openEngine,
  openQueueWithDeadLetters,
  redrivePolicy,
  type TestEngine,
  type TestQueue,
} from './fixture.ts';

interface StartOptions {
  readonly sourceArn?: string | undefined;
  readonly destinationArn?: string;
  readonly perSecond?: number;
}

function tryStart(home: TestEngine, options: StartOptions): Outcome<'start-move-task'> {
  return home.apply({ type: 'start-move-task', ...options });
}

/** Starts a task and lets its first tick pass. */
function start(source: TestQueue, options: StartOptions = {}): string {
  const { taskId } = accepted(tryStart(source.home, { sourceArn: source.arn, ...options }));
  source.advance(0);
  return taskId;
}

function tasksOf(source: TestQueue, limit = 10): readonly MoveTaskView[] {
  const { home, arn: sourceArn } = source;
  return accepted(home.apply({ type: 'list-move-tasks', sourceArn, limit })).tasks;
}

/** A queue whose messages with these bodies have all died, and their dead-letter queue. */
function openDead(options: { fifo?: boolean; bodies?: readonly string[] } = {}): {
  queue: TestQueue;
  dead: TestQueue;
} {
  const { bodies = ['g-1', 'g-2', 'g-3', 'g-4'], fifo = false } = options;
  const { queue, dead } = openQueueWithDeadLetters({ fifo });
  for (const body of bodies) {
    queue.send(fifo ? { body, groupId: body.split('-')[0] } : { body });
  }
  for (let at = 0; at < 20 && queue.receive({ visibilitySeconds: 0 }).length > 0; at += 1);
  assert.deepEqual(dead.counts(), [bodies.length, 0, 0]);
  return { queue, dead };
}

test('a task that is not done after 36 hours fails (13.8)', () => {
  const { dead } = openDead();
  dead.set({ MessageRetentionPeriod: '1209600' });
  start(dead, { perSecond: 1 });
  dead.advance(36 * 3600);
  assert.equal(tasksOf(dead)[0]?.status, 'FAILED');
});

test('the limit on running tasks needs the tasks of no other queue (13.8)', () => {
  const home = openEngine();
  const sources = Array.from({ length: 101 }, (_, at) =>
    home.createQueue(`q${at}`, { RedrivePolicy: redrivePolicy(arnOf(`q${at}`), 1) }),
  );
  home.createQueue('destination');
  const commandFor = (source: TestQueue | undefined) =>
    ({
      type: 'start-move-task',
      sourceArn: source?.arn,
      destinationArn: arnOf('destination'),
    }) as const;
  for (const source of sources.slice(0, 100)) accepted(home.apply(commandFor(source)));
  const command = commandFor(sources[100]);
  // An engine with everybody's settings, and the contents only of what the command names in advance.
  const onElsewhere = () => {
    const touched = home.engine.touches(command, home.now);
    const engine = new Engine();
    const atHand = home.changes.filter(
      (change) => change.kind === 'queue' || touched.includes(ownerOf(change)),
    );
    engine.absorb(atHand, home.now);
    return engine.apply(command, { now: home.now, ids: home }).outcome;
  };
  assertRefused(onElsewhere(), 'OverLimit');
  home.advance(0);
  accepted(onElsewhere());
});
