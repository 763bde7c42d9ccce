/**
 * SendMessageBatch (8.6–8.8): SendMessage for up to ten entries, in order. An error in an entry fails only that entry; an
 * error in the batch fails the request.
 */

import type { SendResult } from '../../../core/commands.ts';
import type { Refusal } from '../../../core/errors.ts';
import type { Answer, Call, Result } from '../action.ts';
import { batchOutput } from './batch-answer.ts';
import { type MessageInput, sendEntry, sendOutput } from './message-words.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & { readonly Entries?: readonly MessageInput[] };

export function sendMessageBatch(input: Input, call: Call): Promise<Result> {
  const { backend, senderId, traceHeader } = call;
  const { Entries: inputs = [] } = input;
  const queue = queueOf(input, backend);
  const entries = inputs.map((each) => sendEntry(each, senderId, traceHeader));
  return backend.run({ type: 'send', queue, isBatch: true, entries }, (outcome) =>
    call.respond(outcome.ok ? answerOf(inputs, outcome.results) : outcome),
  );
}

function answerOf(
  inputs: readonly MessageInput[],
  results: readonly (SendResult | Refusal)[],
): Answer {
  const duplicateOf: string[] = [];
  for (const result of results) {
    if (result.ok && result.isDuplicate) duplicateOf.push(result.messageId);
  }
  return { ok: true, output: batchOutput(inputs, results, sendOutput), duplicateOf };
}
