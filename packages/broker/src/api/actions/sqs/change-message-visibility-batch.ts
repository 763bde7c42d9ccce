/**
 * ChangeMessageVisibilityBatch: ChangeMessageVisibility for up to ten entries. An error in an entry fails only that entry;
 * an error in the batch (8.6) fails the request.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { plainBatchOutput } from './batch-answer.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Entry = {
  readonly Id?: string;
  readonly ReceiptHandle?: string;
  readonly VisibilityTimeout?: number;
};

type Input = QueueInput & { readonly Entries?: readonly Entry[] };

export async function changeMessageVisibilityBatch(
  input: Input,
  { backend }: Call,
): Promise<Answer | Fault> {
  const { Entries: entries = [] } = input;
  const outcome = await backend.run({
    type: 'change-visibility',
    queue: queueOf(input, backend),
    isBatch: true,
    entries: entries.map(({ Id, ReceiptHandle, VisibilityTimeout }) => {
      return { id: Id, receiptHandle: ReceiptHandle, visibilitySeconds: VisibilityTimeout };
    }),
  });
  if (!outcome.ok) return outcome;
  return { ok: true, output: plainBatchOutput(entries, outcome.results) };
}
