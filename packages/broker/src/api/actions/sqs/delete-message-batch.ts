/**
 * DeleteMessageBatch: DeleteMessage for up to ten entries. An error in an entry fails only that entry (10.9); an error in
 * the batch (8.6) fails the request.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { plainBatchOutput } from './batch-answer.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Entry = { readonly Id?: string; readonly ReceiptHandle?: string };

type Input = QueueInput & { readonly Entries?: readonly Entry[] };

export function deleteMessageBatch(input: Input, { backend }: Call): Promise<Answer | Fault> {
  const { Entries: inputs = [] } = input;
  const queue = queueOf(input, backend);
  const entries = inputs.map(({ Id, ReceiptHandle }) => ({ id: Id, receiptHandle: ReceiptHandle }));
  const outcome = backend.run({ type: 'delete-messages', queue, isBatch: true, entries });
  return outcome.then((known) => {
    return known.ok ? { ok: true, output: plainBatchOutput(inputs, known.results) } : known;
  });
}
