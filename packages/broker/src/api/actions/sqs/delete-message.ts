/**
 * DeleteMessage (10.6, 10.7): deletes a received message. To core, a single call is a batch of one, and the refusal of its
 * entry is that of the call.
 */

import { type Call, doneUnlessRefused, type Result } from '../action.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & { readonly ReceiptHandle?: string };

export function deleteMessage(input: Input, call: Call): Promise<Result> {
  const { backend } = call;
  const queue = queueOf(input, backend);
  const entries = [{ receiptHandle: input.ReceiptHandle }];
  return backend.run({ type: 'delete-messages', queue, isBatch: false, entries }, (outcome) =>
    call.respond(doneUnlessRefused(outcome)),
  );
}
