/**
 * Message move tasks: DLQ redrive (§13). A task belongs to its source queue and progresses only in ticks, so that the
 * clock sets its speed. It takes what the source can deliver, oldest first, one message after the other; on FIFO the
 * order inside a group is kept.
 *
 * States: RUNNING until as many messages were moved as were visible at the start, or none is left → COMPLETED; or
 * CancelMessageMoveTask → CANCELLED; or it cannot go on (source unknown, destination gone, 36 hours over) → FAILED.
 * (Amazon also shows CANCELLING; here a cancel takes effect at once.)
 */

import { isArn } from '../arn.ts';
import type { KeptMoveTask } from '../changes.ts';
import type { CommandOf, MoveTaskView, Outcome } from '../commands.ts';
import { type Refusal, refuse } from '../errors.ts';
import {
  movesPerCommandMax,
  movesPerSecondMax,
  moveTaskMs,
  moveTasksActiveMax,
  moveTasksListedMax,
} from '../limits.ts';
import { none } from '../structures/slab.ts';
import type { Transaction } from '../transaction.ts';
import { moveByTask } from './dead-letter.ts';
import type { Queue } from './queue.ts';

/** The other queues, as a task needs them. */
export interface OtherQueues {
  /** The queue that an ARN stands for, if it exists. */
  queueOf(arn: string): Queue | undefined;
  hasDeadLetterQueue(arn: string): boolean;
  activeTasks(): number;
}

export function startMoveTask(
  { sourceArn, destinationArn, perSecond }: CommandOf<'start-move-task'>,
  others: OtherQueues,
  tx: Transaction,
): Outcome<'start-move-task'> {
  const source = sourceOf(sourceArn, others);
  if (!source.ok) return source;
  const { queue } = source;
  if (!others.hasDeadLetterQueue(queue.arn)) return refuse('move-source-not-dead-letter');
  if (destinationArn !== undefined) {
    if (!isArn(destinationArn)) return refuse('move-arn-invalid', { name: 'DestinationArn' });
    const destination = others.queueOf(destinationArn);
    if (destination === undefined) return refuse('move-destination-unknown');
    if (destination === queue) return refuse('move-to-itself');
    if (destination.isFifo !== queue.isFifo) return refuse('move-type-differs');
  }
  const isRateGood =
    perSecond === undefined ||
    (Number.isInteger(perSecond) && perSecond >= 1 && perSecond <= movesPerSecondMax);
  if (!isRateGood) return refuse('move-rate-invalid');
  if (runningTask(queue) !== undefined) return refuse('move-already-running');
  const count = others.activeTasks();
  if (count >= moveTasksActiveMax) return refuse('move-tasks-too-many', { count });

  queue.advance(tx);
  const taskId = tx.ids.uuid();
  setTask(queue, tx, taskId, {
    status: 'RUNNING',
    stamp: queue.nextStamp(tx),
    startedAt: tx.now,
    destinationArn,
    perSecond,
    moved: 0,
    toMove: queue.visibility.visible,
  });
  for (const [id] of tasksNewestFirst(queue).slice(moveTasksListedMax)) {
    queue.setTask(tx, id, null);
  }
  return { ok: true, taskId, sourceArn: queue.arn };
}

export function cancelMoveTask(
  { taskId, sourceArn }: CommandOf<'cancel-move-task'>,
  others: OtherQueues,
  tx: Transaction,
): Outcome<'cancel-move-task'> {
  if (taskId === undefined || sourceArn === undefined) return refuse('task-handle-invalid');
  const queue = others.queueOf(sourceArn);
  if (queue === undefined) return refuse('move-source-unknown');
  const task = queue.tasks.get(taskId);
  if (task === undefined) return refuse('task-unknown');
  if (task.status !== 'RUNNING') return refuse('task-not-active');
  setTask(queue, tx, taskId, { ...task, status: 'CANCELLED' });
  return { ok: true, moved: task.moved };
}

export function listMoveTasks(
  { sourceArn, limit }: CommandOf<'list-move-tasks'>,
  others: OtherQueues,
): Outcome<'list-move-tasks'> {
  const source = sourceOf(sourceArn, others);
  if (!source.ok) return source;
  const count = limit ?? 1;
  if (!Number.isInteger(count) || count < 1 || count > moveTasksListedMax) {
    return refuse('move-page-invalid');
  }
  const tasks = tasksNewestFirst(source.queue)
    .slice(0, count)
    .map(([taskId, task]): MoveTaskView => {
      const { status, startedAt, destinationArn, perSecond, moved, toMove, failureReason } = task;
      return {
        taskId,
        status,
        startedAt,
        destinationArn,
        perSecond,
        moved,
        toMove,
        failureReason,
      };
    });
  return { ok: true, tasks };
}

/** Moves what the queue's running task may move by now, up to a bound; the rest is due at once. */
export function progressMoveTask(queue: Queue, others: OtherQueues, tx: Transaction): void {
  const running = runningTask(queue);
  if (running === undefined) return;
  const [id, before] = running;
  if (nextMoveAt(before) > tx.now) return;
  let task = before;
  let moves = 0;
  while (task.status === 'RUNNING' && nextMoveAt(task) <= tx.now && moves < movesPerCommandMax) {
    task = moveOne(queue, task, others, tx);
    moves += 1;
  }
  setTask(queue, tx, id, task);
}

/** When the task is next due; infinite once it has ended. */
export function nextMoveAt({ status, startedAt, perSecond, moved }: KeptMoveTask): number {
  if (status !== 'RUNNING') return Number.POSITIVE_INFINITY;
  return perSecond === undefined ? startedAt : startedAt + Math.ceil((moved * 1000) / perSecond);
}

/** The queues that the next tick may move this queue's messages to, by ARN. */
export function destinationsOf(queue: Queue): Iterable<string> {
  const destination = runningTask(queue)?.[1].destinationArn;
  return destination === undefined ? queue.deadLetterSources : [destination];
}

function moveOne(
  queue: Queue,
  task: KeptMoveTask,
  others: OtherQueues,
  tx: Transaction,
): KeptMoveTask {
  const failed = (failureReason: string): KeptMoveTask => {
    return { ...task, status: 'FAILED', failureReason };
  };
  if (tx.now - task.startedAt >= moveTaskMs) return failed('TaskTimedOut');
  const row = queue.shelf.first();
  if (row === none || task.moved >= task.toMove) return { ...task, status: 'COMPLETED' };
  const arn = task.destinationArn ?? queue.deadLetterSource(row);
  if (arn === undefined) return failed('CouldNotDetermineMessageSource');
  const target = others.queueOf(arn);
  if (target === undefined) return failed('AWS.SimpleQueueService.NonExistentQueue');
  moveByTask(queue, row, target, tx);
  const moved = task.moved + 1;
  return { ...task, moved, status: moved >= task.toMove ? 'COMPLETED' : 'RUNNING' };
}

function sourceOf(
  arn: string | undefined,
  others: OtherQueues,
): { ok: true; queue: Queue } | Refusal {
  if (arn === undefined || arn === '') return refuse('parameter-missing', { name: 'SourceArn' });
  if (!isArn(arn)) return refuse('move-arn-invalid', { name: 'SourceArn' });
  const queue = others.queueOf(arn);
  return queue === undefined ? refuse('move-source-unknown') : { ok: true, queue };
}

function runningTask(queue: Queue): [string, KeptMoveTask] | undefined {
  return [...queue.tasks].find(([, task]) => task.status === 'RUNNING');
}

function tasksNewestFirst(queue: Queue): [string, KeptMoveTask][] {
  return [...queue.tasks].sort(([, a], [, b]) => b.stamp - a.stamp);
}

function setTask(queue: Queue, tx: Transaction, taskId: string, task: KeptMoveTask): void {
  queue.setTask(tx, taskId, task);
  const isMoving = task.status === 'RUNNING' || undefined;
  if (isMoving !== queue.kept.isMoving) queue.configure(tx, { ...queue.kept, isMoving });
  tx.events.push({
    type: 'move-task',
    at: tx.now,
    queue: queue.name,
    taskId,
    status: task.status,
    moved: task.moved,
  });
}
