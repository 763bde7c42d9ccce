/**
 * DeleteMessage (10.6, 10.7): deletes a received message. To core, a single call is a batch of one, and the refusal of its
 * entry is that of the call.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & { readonly ReceiptHandle?: string };

export function deleteMessage(input: Input, { backend }: Call): Promise<Answer | Fault> {
  const queue = queueOf(input, backend);
  const entries = [{ receiptHandle: input.ReceiptHandle }];
  const outcome = backend.run({ type: 'delete-messages', queue, isBatch: false, entries });
  return outcome.then(doneUnlessRefused);
}
