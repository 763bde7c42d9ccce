/**
 * ChangeMessageVisibility (10.1–10.5): sets when a received message becomes visible again. To core, a single call is a
 * batch of one, and the refusal of its entry is that of the call.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & { readonly ReceiptHandle?: string; readonly VisibilityTimeout?: number };

export async function changeMessageVisibility(
  input: Input,
  { backend }: Call,
): Promise<Answer | Fault> {
  const outcome = await backend.run({
    type: 'change-visibility',
    queue: queueOf(input, backend),
    isBatch: false,
    entries: [{ receiptHandle: input.ReceiptHandle, visibilitySeconds: input.VisibilityTimeout }],
  });
  return doneUnlessRefused(outcome);
}
