/**
 * SendMessage (§8). A duplicate succeeds with the original's id and number, and with the digests of its own words
 * (11.13); that it was one is told beside the output.
 */

import type { SendResult } from '../../../core/commands.ts';
import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { type MessageInput, sendEntries, sendOutput } from './message-words.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & MessageInput;

export async function sendMessage(input: Input, call: Call): Promise<Answer | Fault> {
  const outcome = await call.backend.run({
    type: 'send',
    queue: queueOf(input, call.backend),
    isBatch: false,
    entries: sendEntries([input], call),
  });
  if (!outcome.ok) return outcome;
  // The refusal of a single call's only entry is the call's own.
  const result = outcome.results[0] as SendResult;
  const output = sendOutput(input, result);
  return result.isDuplicate
    ? { ok: true, output, duplicateOf: [result.messageId] }
    : { ok: true, output };
}
