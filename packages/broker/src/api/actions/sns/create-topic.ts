/**
 * CreateTopic (SNS 3.1–3.4): creates a topic, or finds the one that already has this name, these attributes and these
 * tags. Core checks all of them.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { type TagWords, tagsOf } from './tag-words.ts';

type Input = {
  readonly Name?: string;
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly Tags?: readonly TagWords[];
  readonly DataProtectionPolicy?: string;
};

export async function createTopic(input: Input, { backend }: Call): Promise<Answer | Fault> {
  const outcome = await backend.run({
    type: 'create-topic',
    name: input.Name,
    attributes: input.Attributes,
    tags: tagsOf(input.Tags),
    dataProtectionPolicy: input.DataProtectionPolicy,
  });
  return outcome.ok ? { ok: true, output: { TopicArn: outcome.topicArn } } : outcome;
}
