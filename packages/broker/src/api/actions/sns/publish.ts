/**
 * Publish (SNS §6): publishes to the topic that TopicArn or TargetArn names. A duplicate succeeds with the original's ids
 * (10.8); `duplicateOf` marks it as one, as with SendMessage.
 */

import { refuse } from '../../../core/errors.ts';
import type { PublishResult } from '../../../core/topic/commands.ts';
import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { type PublicationInput, publishEntry, publishOutput } from './publication-words.ts';

type Input = PublicationInput & {
  readonly TopicArn?: string;
  readonly TargetArn?: string;
  readonly PhoneNumber?: string;
};

/** A mobile device, which SNS calls a platform endpoint. OnceMQ has none, so there is never one behind such an ARN. */
const endpointArn = /^arn:[^:]*:sns:[^:]*:[^:]*:endpoint\//;

export async function publish(input: Input, call: Call): Promise<Answer | Fault> {
  const { TopicArn, TargetArn, PhoneNumber } = input;
  const topicArn = TopicArn ?? TargetArn;
  if (topicArn === undefined) {
    return PhoneNumber === undefined
      ? refuse('topic-parameter-missing', { name: 'TopicArn or TargetArn' })
      : refuse('phone-not-there');
  }
  if (TopicArn === undefined && endpointArn.test(topicArn)) return refuse('endpoint-not-there');
  const outcome = await call.backend.run({
    type: 'publish',
    topicArn,
    isBatch: false,
    entries: [publishEntry(input, call)],
    baseUrl: call.baseUrl,
  });
  if (!outcome.ok) return outcome;
  const result = outcome.results[0] as PublishResult;
  const output = publishOutput(result);
  return result.isDuplicate
    ? { ok: true, output, duplicateOf: [result.messageId] }
    : { ok: true, output };
}
