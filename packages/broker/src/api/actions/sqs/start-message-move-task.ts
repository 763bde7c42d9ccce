/**
 * StartMessageMoveTask (13.1): redrives a dead-letter queue, to where its messages came from or to one destination.
 * Core checks everything in Amazon's order; only the task handle is encoded here.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { writeTaskHandle } from './task-handle.ts';

type Input = {
  readonly SourceArn?: string;
  readonly DestinationArn?: string;
  readonly MaxNumberOfMessagesPerSecond?: number;
};

export async function startMessageMoveTask(
  input: Input,
  { backend }: Call,
): Promise<Answer | Fault> {
  const outcome = await backend.run({
    type: 'start-move-task',
    sourceArn: input.SourceArn,
    destinationArn: input.DestinationArn,
    perSecond: input.MaxNumberOfMessagesPerSecond,
  });
  if (!outcome.ok) return outcome;
  return { ok: true, output: { TaskHandle: writeTaskHandle(outcome) } };
}
