/**
 * SendMessage (§8). A duplicate succeeds with the original's id and number, and with the digests of its own words
 * (11.13); that it was one is told beside the output.
 */

import type { SendResult } from '../../../core/commands.ts';
import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { type MessageInput, sendEntry, sendOutput } from './message-words.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & MessageInput;

export function sendMessage(input: Input, call: Call): Promise<Answer | Fault> {
  const { backend } = call;
  const queue = queueOf(input, backend);
  const entries = [sendEntry(input, call.senderId, call.traceHeader)];
  return backend.run({ type: 'send', queue, isBatch: false, entries }).then((outcome) => {
    // The refusal of a single call's only entry is the call's own.
    return outcome.ok ? answerOf(input, outcome.results[0] as SendResult) : outcome;
  });
}

function answerOf(input: Input, result: SendResult): Answer {
  const output = sendOutput(input, result);
  const duplicateOf = result.isDuplicate ? [result.messageId] : undefined;
  return { ok: true, output, duplicateOf };
}
