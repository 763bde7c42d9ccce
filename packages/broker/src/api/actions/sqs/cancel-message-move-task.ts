/**
 * CancelMessageMoveTask (13.7): stops a redrive and returns how many messages it has moved. For a handle that cannot be
 * decoded, core gets no task at all and refuses the command.
 */

import { refuse } from '../../../core/errors.ts';
import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { readTaskHandle } from './task-handle.ts';

type Input = { readonly TaskHandle?: string };

export async function cancelMessageMoveTask(
  { TaskHandle: handle }: Input,
  { backend }: Call,
): Promise<Answer | Fault> {
  if (handle === undefined) return refuse('parameter-missing', { name: 'TaskHandle' });
  const outcome = await backend.run({
    type: 'cancel-move-task',
    ...readTaskHandle(handle),
  });
  if (!outcome.ok) return outcome;
  return { ok: true, output: { ApproximateNumberOfMessagesMoved: outcome.moved } };
}
