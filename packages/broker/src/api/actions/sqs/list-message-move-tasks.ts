/**
 * ListMessageMoveTasks (13.6): the latest redrives of a dead-letter queue, newest first. A task shows its handle only
 * while it runs, since it can be canceled only then.
 */

import type { MoveTaskView } from '../../../core/commands.ts';
import type { Fault } from '../../protocol/error-codes.ts';
import type { ValueMap } from '../../shapes/shape.ts';
import type { Answer, Call } from '../action.ts';
import { writeTaskHandle } from './task-handle.ts';

type Input = { readonly SourceArn?: string; readonly MaxResults?: number };

export async function listMessageMoveTasks(
  { SourceArn: sourceArn, MaxResults: limit }: Input,
  { backend }: Call,
): Promise<Answer | Fault> {
  const outcome = await backend.run({
    type: 'list-move-tasks',
    sourceArn,
    limit,
  });
  if (!outcome.ok) return outcome;
  const results = outcome.tasks.map((task) => resultOf(task, sourceArn ?? ''));
  return { ok: true, output: { Results: results } };
}

function resultOf(task: MoveTaskView, sourceArn: string): ValueMap {
  const { taskId, status } = task;
  return {
    TaskHandle: status === 'RUNNING' ? writeTaskHandle({ taskId, sourceArn }) : undefined,
    Status: status,
    SourceArn: sourceArn,
    DestinationArn: task.destinationArn,
    MaxNumberOfMessagesPerSecond: task.perSecond,
    ApproximateNumberOfMessagesMoved: task.moved,
    ApproximateNumberOfMessagesToMove: task.toMove,
    FailureReason: task.failureReason,
    StartedTimestamp: task.startedAt,
  };
}
