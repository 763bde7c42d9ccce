/**
 * PublishBatch (SNS §7): Publish for up to ten entries, in order. An error in one entry fails the whole request before
 * anything is published. Entries that go to many subscriptions are published in several turns, so that other requests get
 * theirs; only then can an entry fail alone, for example because the topic was deleted in between.
 */

import type { Refusal } from '../../../core/errors.ts';
import type { PublishResult } from '../../../core/topic/commands.ts';
import { nextTurn } from '../../next-turn.ts';
import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { batchOutput } from '../sqs/batch-answer.ts';
import { type PublicationInput, publishEntry, publishOutput } from './publication-words.ts';

type Input = {
  readonly TopicArn?: string;
  readonly PublishBatchRequestEntries?: readonly PublicationInput[];
};

export async function publishBatch(input: Input, call: Call): Promise<Answer | Fault> {
  const { PublishBatchRequestEntries: inputs = [] } = input;
  const entries = inputs.map((entry) => publishEntry(entry, call));
  const { TopicArn: topicArn } = input;
  const { backend, baseUrl } = call;
  const results: (PublishResult | Refusal)[] = [];
  do {
    if (results.length > 0) await nextTurn();
    const left = entries.slice(results.length);
    const about = { topicArn, isBatch: true, entries: left, baseUrl };
    const outcome = await backend.run({ type: 'publish', ...about });
    if (outcome.ok) results.push(...outcome.results);
    else if (results.length === 0) return outcome;
    else results.push(...left.map(() => outcome));
  } while (results.length < entries.length);
  const output = batchOutput(inputs, results, ({ Id }, result) => ({
    Id,
    ...publishOutput(result),
  }));
  const duplicateOf = results.flatMap((result) =>
    result.ok && result.isDuplicate ? [result.messageId] : [],
  );
  return { ok: true, output, duplicateOf };
}
