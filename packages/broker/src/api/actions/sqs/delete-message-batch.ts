/**
 * DeleteMessageBatch: DeleteMessage for up to ten entries. An error in an entry fails only that entry (10.9); an error in
 * the batch (8.6) fails the request.
 */

import type { Call, Result } from '../action.ts';
import { plainBatchOutput } from './batch-answer.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Entry = { readonly Id?: string; readonly ReceiptHandle?: string };

type Input = QueueInput & { readonly Entries?: readonly Entry[] };

export function deleteMessageBatch(input: Input, call: Call): Promise<Result> {
  const { backend } = call;
  const { Entries: inputs = [] } = input;
  const queue = queueOf(input, backend);
  const entries = inputs.map(({ Id, ReceiptHandle }) => ({ id: Id, receiptHandle: ReceiptHandle }));
  return backend.run({ type: 'delete-messages', queue, isBatch: true, entries }, (outcome) =>
    call.respond(
      outcome.ok ? { ok: true, output: plainBatchOutput(inputs, outcome.results) } : outcome,
    ),
  );
}
