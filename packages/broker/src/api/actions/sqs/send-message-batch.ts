/**
 * SendMessageBatch (8.6–8.8): SendMessage over up to ten entries, in order. What is wrong with one entry fails that
 * entry alone; what is wrong with the batch fails the request.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { batchOutput } from './batch-answer.ts';
import { type MessageInput, sendEntries, sendOutput } from './message-words.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & { readonly Entries?: readonly MessageInput[] };

export async function sendMessageBatch(input: Input, call: Call): Promise<Answer | Fault> {
  const { Entries: entries = [] } = input;
  const outcome = await call.backend.run({
    type: 'send',
    queue: queueOf(input, call.backend),
    isBatch: true,
    entries: sendEntries(entries, call),
  });
  if (!outcome.ok) return outcome;
  const duplicateOf: string[] = [];
  for (const result of outcome.results) {
    if (result.ok && result.isDuplicate) duplicateOf.push(result.messageId);
  }
  return { ok: true, output: batchOutput(entries, outcome.results, sendOutput), duplicateOf };
}
