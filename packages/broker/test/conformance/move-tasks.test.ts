/**
 * Message move tasks: starting, speed, what arrives, listing, cancelling, and how a task ends. How messages got into
 * the dead-letter queue is in dead-letter-queues.
 */

import assert from 'node:assert/strict';
import type { MoveTaskView, Outcome } from '../../src/core/commands.ts';
import {
  accepted,
  arnOf,
  assertRefused,
  type Opener,
  redrivePolicy,
  startedAt,
  type TestBackend,
  type TestQueue,
  test,
} from './fixture.ts';

interface StartOptions {
  readonly sourceArn?: string | undefined;
  readonly destinationArn?: string;
  readonly perSecond?: number;
}

async function tryStart(
  home: TestBackend,
  options: StartOptions,
): Promise<Outcome<'start-move-task'>> {
  return await home.run({ type: 'start-move-task', ...options });
}

/** Starts a task and lets its first tick pass. */
async function start(source: TestQueue, options: StartOptions = {}): Promise<string> {
  const { taskId } = accepted(await tryStart(source.home, { sourceArn: source.arn, ...options }));
  await source.advance(0);
  return taskId;
}

async function tasksOf(source: TestQueue, limit = 10): Promise<readonly MoveTaskView[]> {
  const { home, arn: sourceArn } = source;
  return accepted(await home.run({ type: 'list-move-tasks', sourceArn, limit })).tasks;
}

async function tryCancel(source: TestQueue, taskId: string): Promise<Outcome<'cancel-move-task'>> {
  return await source.home.run({ type: 'cancel-move-task', taskId, sourceArn: source.arn });
}

/** A queue whose messages with these bodies have all died, and their dead-letter queue. */
async function openDead(
  open: Opener,
  options: { fifo?: boolean; bodies?: readonly string[] } = {},
): Promise<{
  queue: TestQueue;
  dead: TestQueue;
}> {
  const { bodies = ['g-1', 'g-2', 'g-3', 'g-4'], fifo = false } = options;
  const { queue, dead } = await open.queueWithDeadLetters({ fifo });
  for (const body of bodies) {
    await queue.send(fifo ? { body, groupId: body.split('-')[0] } : { body });
  }
  for (let at = 0; at < 20 && (await queue.receive({ visibilitySeconds: 0 })).length > 0; at += 1);
  assert.deepEqual(await dead.counts(), [bodies.length, 0, 0]);
  return { queue, dead };
}

test('a source must be given, and be an ARN (13.1)', async (open) => {
  const { home } = (await openDead(open)).dead;
  const missing = 'The request must contain the parameter SourceArn.';
  assertRefused(await tryStart(home, {}), 'MissingParameter', missing);
  assertRefused(await tryStart(home, { sourceArn: '' }), 'MissingParameter', missing);
  const form =
    'You must use this format to specify the SourceArn: arn:<partition>:<service>:<region>:<account-id>:<resource-id>';
  assertRefused(await tryStart(home, { sourceArn: 'dead' }), 'InvalidParameterValue', form);
});

test('a source must exist (13.1)', async (open) => {
  const { home } = (await openDead(open)).dead;
  const text = "The resource that you specified for the SourceArn parameter doesn't exist.";
  assertRefused(await tryStart(home, { sourceArn: arnOf('none') }), 'ResourceNotFound', text);
});

test('a source must be the dead-letter queue of some queue (13.1)', async (open) => {
  const { queue } = await openDead(open);
  const text = 'Source queue must be configured as a Dead Letter Queue.';
  const outcome = await tryStart(queue.home, { sourceArn: queue.arn });
  assertRefused(outcome, 'InvalidParameterValue', text);
});

test('a destination must exist, be another queue, and be of the same kind (13.1)', async (open) => {
  const { dead } = await openDead(open);
  const fifo = await dead.home.createQueue('other.fifo');
  const to = async (destinationArn: string): Promise<Outcome<'start-move-task'>> =>
    await tryStart(dead.home, { sourceArn: dead.arn, destinationArn });
  const missing = "The resource that you specified for the DestinationArn parameter doesn't exist.";
  assertRefused(await to(arnOf('none')), 'ResourceNotFound', missing);
  const same = 'Source queue arn and destination queue arn cannot be the same.';
  assertRefused(await to(dead.arn), 'InvalidParameterValue', same);
  const kind = 'The source queue and destination queue must be of the same queue type.';
  assertRefused(await to(fifo.arn), 'InvalidParameterValue', kind);
});

test('a task moves 1 to 500 messages a second (13.1)', async (open) => {
  const { dead } = await openDead(open);
  const text =
    "Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must enter a number that's between 1 and 500.";
  for (const perSecond of [0, 501, 1.5]) {
    const outcome = await tryStart(dead.home, { sourceArn: dead.arn, perSecond });
    assertRefused(outcome, 'InvalidParameterValue', text);
  }
  for (const perSecond of [1, 500]) {
    accepted(
      await tryCancel(
        dead,
        accepted(await tryStart(dead.home, { sourceArn: dead.arn, perSecond })).taskId,
      ),
    );
  }
});

test('a source has at most one running task (13.1)', async (open) => {
  const { dead } = await openDead(open);
  await start(dead, { perSecond: 1 });
  const text =
    'There is already a task running. Only one active task is allowed for a source queue arn at a given time.';
  const outcome = await tryStart(dead.home, { sourceArn: dead.arn });
  assertRefused(outcome, 'InvalidParameterValue', text);
});

test('for a start with several errors, the first in a fixed order is reported (13.1)', async (open) => {
  const { queue, dead } = await openDead(open);
  const { home } = dead;
  const wrong = { destinationArn: arnOf('none'), perSecond: 0 };
  const code = async (options: StartOptions): Promise<string> => {
    const outcome = await tryStart(home, options);
    return outcome.ok ? 'started' : outcome.code;
  };
  await start(dead, { perSecond: 1 });
  assert.equal(await code(wrong), 'parameter-missing');
  assert.equal(await code({ ...wrong, sourceArn: 'x' }), 'move-arn-invalid');
  assert.equal(await code({ ...wrong, sourceArn: arnOf('none') }), 'move-source-unknown');
  assert.equal(await code({ ...wrong, sourceArn: queue.arn }), 'move-source-not-dead-letter');
  assert.equal(await code({ ...wrong, sourceArn: dead.arn }), 'move-destination-unknown');
  const toItself = { ...wrong, sourceArn: dead.arn, destinationArn: dead.arn };
  assert.equal(await code(toItself), 'move-to-itself');
  assert.equal(await code({ sourceArn: dead.arn, perSecond: 0 }), 'move-rate-invalid');
  assert.equal(await code({ sourceArn: dead.arn }), 'move-already-running');
});

test('a task is identified by a UUID and the ARN of its source (13.2)', async (open) => {
  const { dead } = await openDead(open);
  const { taskId, sourceArn } = accepted(await tryStart(dead.home, { sourceArn: dead.arn }));
  assert.match(taskId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.equal(sourceArn, dead.arn);
});

test('without a destination each message returns to the queue it came from (13.3)', async (open) => {
  const { queue, dead } = await openDead(open, { bodies: ['from jobs'] });
  const other = await queue.home.createQueue('other', {
    RedrivePolicy: redrivePolicy(dead.arn, 1),
  });
  await other.send({ body: 'from other' });
  await other.receive({ visibilitySeconds: 0 });
  await other.receive();
  await start(dead);
  assert.deepEqual(await queue.receiveBodies(), ['from jobs']);
  assert.deepEqual(await other.receiveBodies(), ['from other']);
  assert.equal((await tasksOf(dead))[0]?.status, 'COMPLETED');
});

test('a message that came from no queue fails a task without a destination (13.3)', async (open) => {
  const { queue, dead } = await openDead(open, { bodies: ['dead'] });
  await dead.send({ body: 'sent here' });
  await start(dead);
  const [task] = await tasksOf(dead);
  assert.equal(task?.status, 'FAILED');
  assert.equal(task?.failureReason, 'CouldNotDetermineMessageSource');
  assert.deepEqual(await queue.receiveBodies(), ['dead']);
  assert.deepEqual(await dead.receiveBodies(), ['sent here']);
});

test('with a destination every message goes there (13.3)', async (open) => {
  const { queue, dead } = await openDead(open, { bodies: ['dead'] });
  const other = await queue.home.createQueue('other');
  await dead.send({ body: 'sent here' });
  await start(dead, { destinationArn: other.arn });
  assert.deepEqual(await other.receiveBodies(), ['dead', 'sent here']);
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
});

test('a moved message is a new message with the old content (13.4, 17.5)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  await queue.send({
    body: 'dying',
    attributes: [{ name: 'a', type: 'String', stringValue: 'x' }],
  });
  const before = await queue.receiveOne({ visibilitySeconds: 0 });
  await queue.receive();
  await queue.advance(50);
  await start(dead);
  const after = await queue.receiveOne();
  assert.notEqual(after.messageId, before.messageId);
  assert.equal(after.sentAt, startedAt + 50_000);
  assert.equal(after.firstReceivedAt, startedAt + 50_000);
  assert.equal(after.receiveCount, 1);
  assert.equal(after.deadLetterSource, undefined);
  assert.deepEqual(after.content, before.content);
});

test('a moved message is retained as long as a new one (13.4)', async (open) => {
  const { queue, dead } = await openDead(open, { bodies: ['dead'] });
  await queue.set({ MessageRetentionPeriod: '60' });
  await queue.advance(59);
  await start(dead);
  await queue.advance(59.999);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
  await queue.advance(0.001);
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
});

test('a moved message is delayed like a new one (13.4)', async (open) => {
  for (const fifo of [false, true]) {
    const { queue, dead } = await openDead(open, { fifo, bodies: ['g-1'] });
    await queue.set({ DelaySeconds: '5' });
    await start(dead);
    assert.deepEqual(await queue.counts(), [0, 0, 1]);
    await queue.advance(5);
    assert.deepEqual(await queue.counts(), [1, 0, 0]);
  }
});

test('messages are moved oldest first and keep their groups and order (13.4)', async (open) => {
  const { queue, dead } = await openDead(open, {
    fifo: true,
    bodies: ['g1-1', 'g2-1', 'g1-2', 'g1-3'],
  });
  await start(dead, { perSecond: 1 });
  assert.deepEqual(await queue.receiveBodies({ visibilitySeconds: 0 }), ['g1-1']);
  await queue.set({ RedrivePolicy: '' });
  await queue.advance(10);
  const messages = await queue.receive();
  const bodiesOf = (groupId: string): readonly string[] =>
    messages.filter((message) => message.groupId === groupId).map(({ body }) => body);
  assert.deepEqual(bodiesOf('g1'), ['g1-1', 'g1-2', 'g1-3']);
  assert.deepEqual(bodiesOf('g2'), ['g2-1']);
});

test('the original deduplication id does not suppress a moved message (13.4)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters({ fifo: true });
  const { messageId } = await queue.send({ deduplicationId: 'd' });
  await queue.receive({ visibilitySeconds: 0 });
  await queue.receive();
  await start(dead);
  assert.equal((await queue.receiveOne()).deduplicationId, messageId);
});

test('a moved message gets a new sequence number (13.4)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters({ fifo: true });
  const sequence = (await queue.send()).sequence as number;
  await queue.receive({ visibilitySeconds: 0 });
  await queue.receive();
  await start(dead);
  assert.ok((await queue.receiveOne()).sequence > sequence);
});

test('four messages at one a second take three seconds, the first at once (13.5)', async (open) => {
  const { queue, dead } = await openDead(open);
  await start(dead, { perSecond: 1 });
  for (const moved of [1, 2, 3]) {
    assert.deepEqual(await queue.counts(), [moved, 0, 0]);
    assert.equal((await tasksOf(dead))[0]?.status, 'RUNNING');
    await queue.advance(0.999);
    assert.deepEqual(await queue.counts(), [moved, 0, 0]);
    await queue.advance(0.001);
  }
  assert.deepEqual(await queue.counts(), [4, 0, 0]);
  assert.equal((await tasksOf(dead))[0]?.status, 'COMPLETED');
});

test('without a rate everything moves at once (13.5)', async (open) => {
  const bodies = Array.from({ length: 250 }, (_, at) => `${at}`);
  const { queue, dead } = await open.queueWithDeadLetters();
  for (const body of bodies) await dead.send({ body });
  await start(dead, { destinationArn: queue.arn });
  assert.deepEqual(await queue.counts(), [250, 0, 0]);
});

test('messages in flight in the source are neither counted nor moved (13.4)', async (open) => {
  const { queue, dead } = await openDead(open);
  await dead.receiveOne();
  await start(dead);
  assert.equal((await tasksOf(dead))[0]?.toMove, 3);
  assert.deepEqual(await queue.counts(), [3, 0, 0]);
  assert.deepEqual(await dead.counts(), [0, 1, 0]);
});

test('a message that reaches the source after the start stays there (13.6)', async (open) => {
  const { queue, dead } = await openDead(open, { bodies: ['one', 'two'] });
  await start(dead, { perSecond: 1, destinationArn: queue.arn });
  await dead.send({ body: 'late' });
  await queue.advance(10);
  assert.deepEqual(await dead.receiveBodies(), ['late']);
});

test('a running task shows its parameters and its progress (13.6)', async (open) => {
  const { queue, dead } = await openDead(open);
  const taskId = await start(dead, { perSecond: 2, destinationArn: queue.arn });
  assert.deepEqual(await tasksOf(dead), [
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

test('destination and rate are shown only if they were given (13.6)', async (open) => {
  const { dead } = await openDead(open);
  await start(dead);
  const [task] = await tasksOf(dead);
  assert.equal(task?.destinationArn, undefined);
  assert.equal(task?.perSecond, undefined);
});

test('tasks are listed newest first, one unless more are asked for (13.6)', async (open) => {
  const { dead } = await openDead(open);
  const ids: string[] = [];
  for (let at = 0; at < 3; at += 1) ids.push(await start(dead));
  assert.deepEqual(
    (await tasksOf(dead)).map(({ taskId }) => taskId),
    ids.toReversed(),
  );
  const { home, arn: sourceArn } = dead;
  const { tasks } = accepted(await home.run({ type: 'list-move-tasks', sourceArn }));
  assert.deepEqual(
    tasks.map(({ taskId }) => taskId),
    [ids[2]],
  );
});

test('the last ten tasks of a source are remembered (13.6)', async (open) => {
  const { dead } = await openDead(open);
  const ids: string[] = [];
  for (let at = 0; at < 12; at += 1) ids.push(await start(dead));
  assert.deepEqual(
    (await tasksOf(dead)).map(({ taskId }) => taskId),
    ids.slice(2).toReversed(),
  );
});

test('a list of tasks has 1 to 10 of them, of a source that exists (13.6)', async (open) => {
  const { dead } = await openDead(open);
  const { home, arn: sourceArn } = dead;
  const text =
    "Value for parameter MaxResults is invalid. Reason: You must enter a number that's between 1 and 10.";
  for (const limit of [0, 11]) {
    const outcome = await home.run({ type: 'list-move-tasks', sourceArn, limit });
    assertRefused(outcome, 'InvalidParameterValue', text);
  }
  const unknown = await home.run({ type: 'list-move-tasks', sourceArn: arnOf('none') });
  const missing = "The resource that you specified for the SourceArn parameter doesn't exist.";
  assertRefused(unknown, 'ResourceNotFound', missing);
});

test('a task fails when its destination vanishes (13.6)', async (open) => {
  for (const isNamed of [true, false]) {
    const { queue, dead } = await openDead(open);
    await start(dead, { perSecond: 1, ...(isNamed ? { destinationArn: queue.arn } : {}) });
    await queue.delete();
    await dead.advance(1);
    const [task] = await tasksOf(dead);
    assert.equal(task?.status, 'FAILED');
    assert.equal(task?.failureReason, 'AWS.SimpleQueueService.NonExistentQueue');
    assert.equal(task?.moved, 1);
    assert.deepEqual(await dead.counts(), [3, 0, 0]);
  }
});

test('a canceled task moves nothing more, and moved messages stay moved (13.7)', async (open) => {
  const { queue, dead } = await openDead(open);
  const taskId = await start(dead, { perSecond: 1 });
  await queue.advance(1);
  assert.equal(accepted(await tryCancel(dead, taskId)).moved, 2);
  await queue.advance(10);
  assert.equal((await tasksOf(dead))[0]?.status, 'CANCELLED');
  assert.deepEqual(await queue.counts(), [2, 0, 0]);
  assert.deepEqual(await dead.counts(), [2, 0, 0]);
});

test('a cancel needs a valid handle, an existing source and a running task (13.7)', async (open) => {
  const { dead } = await openDead(open);
  const { home, arn: sourceArn } = dead;
  const taskId = await start(dead);
  const undecodable = await home.run({ type: 'cancel-move-task' });
  const handleText = 'Value for parameter TaskHandle is invalid.';
  assertRefused(undecodable, 'InvalidParameterValue', handleText);
  const nowhere = await home.run({ type: 'cancel-move-task', taskId, sourceArn: arnOf('none') });
  const sourceText = "The resource that you specified for the SourceArn parameter doesn't exist.";
  assertRefused(nowhere, 'ResourceNotFound', sourceText);
  const unknown = await home.run({ type: 'cancel-move-task', taskId: 'x', sourceArn });
  assertRefused(unknown, 'ResourceNotFound', 'Task does not exist.');
  const text = 'Only active tasks can be cancelled.';
  assertRefused(await tryCancel(dead, taskId), 'InvalidParameterValue', text);
});

test('a source whose task was canceled can start another (13.7)', async (open) => {
  const { queue, dead } = await openDead(open);
  accepted(await tryCancel(dead, await start(dead, { perSecond: 1 })));
  await start(dead);
  assert.deepEqual(await queue.counts(), [4, 0, 0]);
});

test('an account has up to 100 running tasks (13.8)', async (open) => {
  const home = await open.home();
  const destinationArn = (await home.createQueue('destination')).arn;
  const outcomes: Outcome<'start-move-task'>[] = [];
  for (let at = 0; at < 101; at += 1) {
    const name = `q${at}`;
    const source = await home.createQueue(name, { RedrivePolicy: redrivePolicy(arnOf(name), 1) });
    await source.sendBatch([{}, {}]);
    outcomes.push(await tryStart(home, { sourceArn: source.arn, destinationArn, perSecond: 1 }));
  }
  for (const outcome of outcomes.slice(0, 100)) accepted(outcome);
  assertRefused(outcomes[100], 'OverLimit');
});
