/**
 * DeleteMessageBatch: DeleteMessage over up to ten entries. What is wrong with one entry fails that entry alone (10.9);
 * what is wrong with the batch (8.6) fails the request.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { plainBatchOutput } from './batch-answer.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Entry = { readonly Id?: string; readonly ReceiptHandle?: string };

type Input = QueueInput & { readonly Entries?: readonly Entry[] };

export async function deleteMessageBatch(input: Input, { backend }: Call): Promise<Answer | Fault> {
  const { Entries: entries = [] } = input;
  const outcome = await backend.run({
    type: 'delete-messages',
    queue: queueOf(input, backend),
    isBatch: true,
    entries: entries.map(({ Id, ReceiptHandle }) => ({ id: Id, receiptHandle: ReceiptHandle })),
  });
  if (!outcome.ok) return outcome;
  return { ok: true, output: plainBatchOutput(entries, outcome.results) };
}
