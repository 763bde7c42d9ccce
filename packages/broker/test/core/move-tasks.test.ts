/**
 * Message move tasks: starting, speed, what arrives, listing, cancelling, and how a task ends. How messages got into
 * the dead-letter queue is in dead-letter-queues.
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
  startedAt,
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

function tryCancel(source: TestQueue, taskId: string): Outcome<'cancel-move-task'> {
  return source.home.apply({ type: 'cancel-move-task', taskId, sourceArn: source.arn });
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

test('a source must be given, and be an ARN (13.1)', () => {
  const { home } = openDead().dead;
  const missing = 'The request must contain the parameter SourceArn.';
  assertRefused(tryStart(home, {}), 'MissingParameter', missing);
  assertRefused(tryStart(home, { sourceArn: '' }), 'MissingParameter', missing);
  const form =
    'You must use this format to specify the SourceArn: arn:<partition>:<service>:<region>:<account-id>:<resource-id>';
  assertRefused(tryStart(home, { sourceArn: 'dead' }), 'InvalidParameterValue', form);
});

test('a source must exist (13.1)', () => {
  const { home } = openDead().dead;
  const text = "The resource that you specified for the SourceArn parameter doesn't exist.";
  assertRefused(tryStart(home, { sourceArn: arnOf('none') }), 'ResourceNotFound', text);
});

test('a source must be the dead-letter queue of some queue (13.1)', () => {
  const { queue } = openDead();
  const text = 'Source queue must be configured as a Dead Letter Queue.';
  const outcome = tryStart(queue.home, { sourceArn: queue.arn });
  assertRefused(outcome, 'InvalidParameterValue', text);
});

test('a destination must exist, be another queue, and be of the same kind (13.1)', () => {
  const { dead } = openDead();
  const fifo = dead.home.createQueue('other.fifo');
  const to = (destinationArn: string): Outcome<'start-move-task'> =>
    tryStart(dead.home, { sourceArn: dead.arn, destinationArn });
  const missing = "The resource that you specified for the DestinationArn parameter doesn't exist.";
  assertRefused(to(arnOf('none')), 'ResourceNotFound', missing);
  const same = 'Source queue arn and destination queue arn cannot be the same.';
  assertRefused(to(dead.arn), 'InvalidParameterValue', same);
  const kind = 'The source queue and destination queue must be of the same queue type.';
  assertRefused(to(fifo.arn), 'InvalidParameterValue', kind);
});

test('a task moves 1 to 500 messages a second (13.1)', () => {
  const { dead } = openDead();
  const text =
    "Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must enter a number that's between 1 and 500.";
  for (const perSecond of [0, 501, 1.5]) {
    const outcome = tryStart(dead.home, { sourceArn: dead.arn, perSecond });
    assertRefused(outcome, 'InvalidParameterValue', text);
  }
  for (const perSecond of [1, 500]) {
    accepted(
      tryCancel(dead, accepted(tryStart(dead.home, { sourceArn: dead.arn, perSecond })).taskId),
    );
  }
});

test('a source has at most one running task (13.1)', () => {
  const { dead } = openDead();
  start(dead, { perSecond: 1 });
  const text =
    'There is already a task running. Only one active task is allowed for a source queue arn at a given time.';
  const outcome = tryStart(dead.home, { sourceArn: dead.arn });
  assertRefused(outcome, 'InvalidParameterValue', text);
});

test('for a start with several errors, the first in a fixed order is reported (13.1)', () => {
  const { queue, dead } = openDead();
  const { home } = dead;
  const wrong = { destinationArn: arnOf('none'), perSecond: 0 };
  const code = (options: StartOptions): string => {
    const outcome = tryStart(home, options);
    return outcome.ok ? 'started' : outcome.code;
  };
  start(dead, { perSecond: 1 });
  assert.equal(code(wrong), 'parameter-missing');
  assert.equal(code({ ...wrong, sourceArn: 'x' }), 'move-arn-invalid');
  assert.equal(code({ ...wrong, sourceArn: arnOf('none') }), 'move-source-unknown');
  assert.equal(code({ ...wrong, sourceArn: queue.arn }), 'move-source-not-dead-letter');
  assert.equal(code({ ...wrong, sourceArn: dead.arn }), 'move-destination-unknown');
  const toItself = { ...wrong, sourceArn: dead.arn, destinationArn: dead.arn };
  assert.equal(code(toItself), 'move-to-itself');
  assert.equal(code({ sourceArn: dead.arn, perSecond: 0 }), 'move-rate-invalid');
  assert.equal(code({ sourceArn: dead.arn }), 'move-already-running');
});

test('a task is identified by a UUID and the ARN of its source (13.2)', () => {
  const { dead } = openDead();
  const { taskId, sourceArn } = accepted(tryStart(dead.home, { sourceArn: dead.arn }));
  assert.match(taskId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.equal(sourceArn, dead.arn);
});

test('without a destination each message returns to the queue it came from (13.3)', () => {
  const { queue, dead } = openDead({ bodies: ['from jobs'] });
  const other = queue.home.createQueue('other', { RedrivePolicy: redrivePolicy(dead.arn, 1) });
  other.send({ body: 'from other' });
  other.receive({ visibilitySeconds: 0 });
  other.receive();
  start(dead);
  assert.deepEqual(queue.receiveBodies(), ['from jobs']);
  assert.deepEqual(other.receiveBodies(), ['from other']);
  assert.equal(tasksOf(dead)[0]?.status, 'COMPLETED');
});

test('a message that came from no queue fails a task without a destination (13.3)', () => {
  const { queue, dead } = openDead({ bodies: ['dead'] });
  dead.send({ body: 'sent here' });
  start(dead);
  const [task] = tasksOf(dead);
  assert.equal(task?.status, 'FAILED');
  assert.equal(task?.failureReason, 'CouldNotDetermineMessageSource');
  assert.deepEqual(queue.receiveBodies(), ['dead']);
  assert.deepEqual(dead.receiveBodies(), ['sent here']);
});

test('with a destination every message goes there (13.3)', () => {
  const { queue, dead } = openDead({ bodies: ['dead'] });
  const other = queue.home.createQueue('other');
  dead.send({ body: 'sent here' });
  start(dead, { destinationArn: other.arn });
  assert.deepEqual(other.receiveBodies(), ['dead', 'sent here']);
  assert.deepEqual(queue.counts(), [0, 0, 0]);
});

test('a moved message is a new message with the old content (13.4, 17.5)', () => {
  const { queue, dead } = openQueueWithDeadLetters();
  queue.send({
    body: 'dying',
    attributes: [{ name: 'a', type: 'String', stringValue: 'x' }],
  });
  const before = queue.receiveOne({ visibilitySeconds: 0 });
  queue.receive();
  queue.advance(50);
  start(dead);
  const after = queue.receiveOne();
  assert.notEqual(after.messageId, before.messageId);
  assert.equal(after.sentAt, startedAt + 50_000);
  assert.equal(after.firstReceivedAt, startedAt + 50_000);
  assert.equal(after.receiveCount, 1);
  assert.equal(after.deadLetterSource, undefined);
  assert.deepEqual(after.content, before.content);
});

test('a moved message is retained as long as a new one (13.4)', () => {
  const { queue, dead } = openDead({ bodies: ['dead'] });
  queue.set({ MessageRetentionPeriod: '60' });
  queue.advance(59);
  start(dead);
  queue.advance(59.999);
  assert.deepEqual(queue.counts(), [1, 0, 0]);
  queue.advance(0.001);
  assert.deepEqual(queue.counts(), [0, 0, 0]);
});

test('a moved message is delayed like a new one (13.4)', () => {
  for (const fifo of [false, true]) {
    const { queue, dead } = openDead({ fifo, bodies: ['g-1'] });
    queue.set({ DelaySeconds: '5' });
    start(dead);
    assert.deepEqual(queue.counts(), [0, 0, 1]);
    queue.advance(5);
    assert.deepEqual(queue.counts(), [1, 0, 0]);
  }
});

test('messages are moved oldest first and keep their groups and order (13.4)', () => {
  const { queue, dead } = openDead({ fifo: true, bodies: ['g1-1', 'g2-1', 'g1-2', 'g1-3'] });
  start(dead, { perSecond: 1 });
  assert.deepEqual(queue.receiveBodies({ visibilitySeconds: 0 }), ['g1-1']);
  queue.set({ RedrivePolicy: '' });
  queue.advance(10);
  const messages = queue.receive();
  const bodiesOf = (groupId: string): readonly string[] =>
    messages.filter((message) => message.groupId === groupId).map(({ body }) => body);
  assert.deepEqual(bodiesOf('g1'), ['g1-1', 'g1-2', 'g1-3']);
  assert.deepEqual(bodiesOf('g2'), ['g2-1']);
});

test('the original deduplication id does not suppress a moved message (13.4)', () => {
  const { queue, dead } = openQueueWithDeadLetters({ fifo: true });
  const { messageId } = queue.send({ deduplicationId: 'd' });
  queue.receive({ visibilitySeconds: 0 });
  queue.receive();
  start(dead);
  assert.equal(queue.receiveOne().deduplicationId, messageId);
});

test('a moved message gets a new sequence number (13.4)', () => {
  const { queue, dead } = openQueueWithDeadLetters({ fifo: true });
  const sequence = queue.send().sequence as number;
  queue.receive({ visibilitySeconds: 0 });
  queue.receive();
  start(dead);
  assert.ok(queue.receiveOne().sequence > sequence);
});

test('four messages at one a second take three seconds, the first at once (13.5)', () => {
  const { queue, dead } = openDead();
  start(dead, { perSecond: 1 });
  for (const moved of [1, 2, 3]) {
    assert.deepEqual(queue.counts(), [moved, 0, 0]);
    assert.equal(tasksOf(dead)[0]?.status, 'RUNNING');
    queue.advance(0.999);
    assert.deepEqual(queue.counts(), [moved, 0, 0]);
    queue.advance(0.001);
  }
  assert.deepEqual(queue.counts(), [4, 0, 0]);
  assert.equal(tasksOf(dead)[0]?.status, 'COMPLETED');
});

test('without a rate everything moves at once (13.5)', () => {
  const bodies = Array.from({ length: 250 }, (_, at) => `${at}`);
  const { queue, dead } = openQueueWithDeadLetters();
  for (const body of bodies) dead.send({ body });
  start(dead, { destinationArn: queue.arn });
  assert.deepEqual(queue.counts(), [250, 0, 0]);
});

test('messages in flight in the source are neither counted nor moved (13.4)', () => {
  const { queue, dead } = openDead();
  dead.receiveOne();
  start(dead);
  assert.equal(tasksOf(dead)[0]?.toMove, 3);
  assert.deepEqual(queue.counts(), [3, 0, 0]);
  assert.deepEqual(dead.counts(), [0, 1, 0]);
});

test('a message that reaches the source after the start stays there (13.6)', () => {
  const { queue, dead } = openDead({ bodies: ['one', 'two'] });
  start(dead, { perSecond: 1, destinationArn: queue.arn });
  dead.send({ body: 'late' });
  queue.advance(10);
  assert.deepEqual(dead.receiveBodies(), ['late']);
});

test('a running task shows its parameters and its progress (13.6)', () => {
  const { queue, dead } = openDead();
  const taskId = start(dead, { perSecond: 2, destinationArn: queue.arn });
  assert.deepEqual(tasksOf(dead), [
    {
      taskId,
      status: 'RUNNING',
      startedAt,
      destinationArn: queue.arn,
      perSecond: 2,
      moved: 1,
      toMove: 4,
      failureReason: undefined,
    },
  ]);
});

test('destination and rate are shown only if they were given (13.6)', () => {
  const { dead } = openDead();
  start(dead);
  const [task] = tasksOf(dead);
  assert.equal(task?.destinationArn, undefined);
  assert.equal(task?.perSecond, undefined);
});

test('tasks are listed newest first, one unless more are asked for (13.6)', () => {
  const { dead } = openDead();
  const ids = Array.from({ length: 3 }, () => start(dead));
  assert.deepEqual(
    tasksOf(dead).map(({ taskId }) => taskId),
    ids.toReversed(),
  );
  const { home, arn: sourceArn } = dead;
  const { tasks } = accepted(home.apply({ type: 'list-move-tasks', sourceArn }));
  assert.deepEqual(
    tasks.map(({ taskId }) => taskId),
    [ids[2]],
  );
});

test('the last ten tasks of a source are remembered (13.6)', () => {
  const { dead } = openDead();
  const ids = Array.from({ length: 12 }, () => start(dead));
  assert.deepEqual(
    tasksOf(dead).map(({ taskId }) => taskId),
    ids.slice(2).toReversed(),
  );
});

test('a list of tasks has 1 to 10 of them, of a source that exists (13.6)', () => {
  const { dead } = openDead();
  const { home, arn: sourceArn } = dead;
  const text =
    "Value for parameter MaxResults is invalid. Reason: You must enter a number that's between 1 and 10.";
  for (const limit of [0, 11]) {
    const outcome = home.apply({ type: 'list-move-tasks', sourceArn, limit });
    assertRefused(outcome, 'InvalidParameterValue', text);
  }
  const unknown = home.apply({ type: 'list-move-tasks', sourceArn: arnOf('none') });
  const missing = "The resource that you specified for the SourceArn parameter doesn't exist.";
  assertRefused(unknown, 'ResourceNotFound', missing);
});

test('a task fails when its destination vanishes (13.6)', () => {
  for (const isNamed of [true, false]) {
    const { queue, dead } = openDead();
    start(dead, { perSecond: 1, ...(isNamed ? { destinationArn: queue.arn } : {}) });
    queue.delete();
    dead.advance(1);
    const [task] = tasksOf(dead);
    assert.equal(task?.status, 'FAILED');
    assert.equal(task?.failureReason, 'AWS.SimpleQueueService.NonExistentQueue');
    assert.equal(task?.moved, 1);
    assert.deepEqual(dead.counts(), [3, 0, 0]);
  }
});

test('a cancelled task moves nothing more, and moved messages stay moved (13.7)', () => {
  const { queue, dead } = openDead();
  const taskId = start(dead, { perSecond: 1 });
  queue.advance(1);
  assert.equal(accepted(tryCancel(dead, taskId)).moved, 2);
  queue.advance(10);
  assert.equal(tasksOf(dead)[0]?.status, 'CANCELLED');
  assert.deepEqual(queue.counts(), [2, 0, 0]);
  assert.deepEqual(dead.counts(), [2, 0, 0]);
});

test('a cancel needs a valid handle, an existing source and a running task (13.7)', () => {
  const { dead } = openDead();
  const { home, arn: sourceArn } = dead;
  const taskId = start(dead);
  const undecodable = home.apply({ type: 'cancel-move-task' });
  const handleText = 'Value for parameter TaskHandle is invalid.';
  assertRefused(undecodable, 'InvalidParameterValue', handleText);
  const nowhere = home.apply({ type: 'cancel-move-task', taskId, sourceArn: arnOf('none') });
  const sourceText = "The resource that you specified for the SourceArn parameter doesn't exist.";
  assertRefused(nowhere, 'ResourceNotFound', sourceText);
  const unknown = home.apply({ type: 'cancel-move-task', taskId: 'x', sourceArn });
  assertRefused(unknown, 'ResourceNotFound', 'Task does not exist.');
  const text = 'Only active tasks can be cancelled.';
  assertRefused(tryCancel(dead, taskId), 'InvalidParameterValue', text);
});

test('a source whose task was cancelled can start another (13.7)', () => {
  const { queue, dead } = openDead();
  accepted(tryCancel(dead, start(dead, { perSecond: 1 })));
  start(dead);
  assert.deepEqual(queue.counts(), [4, 0, 0]);
});

test('a task that is not done after 36 hours fails (13.8)', () => {
  const { dead } = openDead();
  dead.set({ MessageRetentionPeriod: '1209600' });
  start(dead, { perSecond: 1 });
  dead.advance(36 * 3600);
  assert.equal(tasksOf(dead)[0]?.status, 'FAILED');
});

test('an account has up to 100 running tasks (13.8)', () => {
  const home = openEngine();
  const sources = Array.from({ length: 101 }, (_, at) =>
    home.createQueue(`q${at}`, { RedrivePolicy: redrivePolicy(arnOf(`q${at}`), 1) }),
  );
  const destination = home.createQueue('destination');
  const outcomes = sources.map(({ arn }) =>
    tryStart(home, { sourceArn: arn, destinationArn: destination.arn }),
  );
  for (const outcome of outcomes.slice(0, 100)) accepted(outcome);
  assertRefused(outcomes[100], 'OverLimit');
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
