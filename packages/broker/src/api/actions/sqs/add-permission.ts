/**
 * AddPermission (5.13): adds a statement to the queue's Policy attribute that lets other accounts use the queue. The
 * policy is stored and shown; core makes all checks.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & {
  readonly Label?: string;
  readonly AWSAccountIds?: readonly string[];
  readonly Actions?: readonly string[];
};

export async function addPermission(input: Input, { backend }: Call): Promise<Answer | Fault> {
  const outcome = await backend.run({
    type: 'add-permission',
    queue: queueOf(input, backend),
    label: input.Label,
    accounts: input.AWSAccountIds ?? [],
    actions: input.Actions ?? [],
  });
  return doneUnlessRefused(outcome);
}
