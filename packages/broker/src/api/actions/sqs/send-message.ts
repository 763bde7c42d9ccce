/**
 * SendMessage (§8). A duplicate succeeds with the id and sequence number of the original, and with the digests of its own
 * content (11.13); `duplicateOf` marks it as a duplicate.
 */

import type { SendResult } from '../../../core/commands.ts';
import type { Answer, Call, Result } from '../action.ts';
import { type MessageInput, sendEntry, sendOutput } from './message-words.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & MessageInput;

export function sendMessage(input: Input, call: Call): Promise<Result> {
  const { backend } = call;
  const queue = queueOf(input, backend);
  const entries = [sendEntry(input, call.senderId, call.traceHeader)];
  return backend.run({ type: 'send', queue, isBatch: false, entries }, (outcome) =>
    // If the only entry is refused, so is the call.
    call.respond(outcome.ok ? answerOf(input, outcome.results[0] as SendResult) : outcome),
  );
}

function answerOf(input: Input, result: SendResult): Answer {
  const output = sendOutput(input, result);
  const duplicateOf = result.isDuplicate ? [result.messageId] : undefined;
  return { ok: true, output, duplicateOf };
}
