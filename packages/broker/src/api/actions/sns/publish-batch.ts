/**
 * PublishBatch (SNS §7): Publish for up to ten entries, in order. An error in one entry fails the whole request, so no
 * entry is ever reported as failed.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { type PublicationInput, publishEntry, publishOutput } from './publication-words.ts';

type Input = {
  readonly TopicArn?: string;
  readonly PublishBatchRequestEntries?: readonly PublicationInput[];
};

export async function publishBatch(input: Input, call: Call): Promise<Answer | Fault> {
  const { PublishBatchRequestEntries: entries = [] } = input;
  const outcome = await call.backend.run({
    type: 'publish',
    topicArn: input.TopicArn,
    isBatch: true,
    entries: entries.map((entry) => publishEntry(entry, call)),
    baseUrl: call.baseUrl,
  });
  if (!outcome.ok) return outcome;
  const { results } = outcome;
  const successful = results.map((result, at) => ({
    Id: entries[at]?.Id,
    ...publishOutput(result),
  }));
  const duplicateOf = results
    .filter(({ isDuplicate }) => isDuplicate)
    .map(({ messageId }) => messageId);
  return { ok: true, output: { Successful: successful, Failed: [] }, duplicateOf };
}
