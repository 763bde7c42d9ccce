/**
 * DeleteMessage (10.6, 10.7): a received message is done with. A single call is a batch of one to core, whose refusal
 * is the call's own.
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
