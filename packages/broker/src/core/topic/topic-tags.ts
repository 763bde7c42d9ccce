/**
 * Tags of a topic (4.1): kept and given back, without any effect. Keys are the client's own words, so tags are only ever
 * copied whole and never assigned one by one.
 */

import { type Refusal, refuse } from '../errors.ts';
import { topicTagsMax } from '../limits.ts';
import { checkTags } from '../queue/tags.ts';
import type { Transaction } from '../transaction.ts';
import type { TagInput } from './commands.ts';
import type { Topic } from './topic.ts';

type Tags = Readonly<Record<string, string>>;

/** The tags as they are kept; or why they cannot be. */
export function readTags(tags: readonly TagInput[]): { ok: true; tags: Tags } | Refusal {
  const pairs: [string, string][] = [];
  for (const [at, { key, value }] of tags.entries()) {
    if (key === undefined || value === undefined) {
      const member = key === undefined ? 'key' : 'value';
      return refuse('topic-member-missing', { path: `tags.${at + 1}.member.${member}` });
    }
    pairs.push([key, value]);
  }
  const read = Object.fromEntries(pairs);
  if (Object.keys(read).length < tags.length) return refuse('topic-tags-repeated');
  if (tags.length > topicTagsMax) return refuse('topic-tags-too-many');
  // One form for the tags of queues and topics; only the texts differ.
  const isGood = checkTags('', read) === undefined;
  return isGood ? { ok: true, tags: read } : refuse('topic-tag-invalid');
}

export function tagTopic(
  topic: Topic,
  tags: readonly TagInput[] | undefined,
  tx: Transaction,
): { ok: true } | Refusal {
  if (tags === undefined) return refuse('topic-parameter-missing', { name: 'Tags' });
  const read = readTags(tags);
  if (!read.ok) return read;
  const all = { ...topic.kept.tags, ...read.tags };
  if (Object.keys(all).length > topicTagsMax) return refuse('topic-tags-too-many');
  topic.configure(tx, { ...topic.kept, tags: all });
  return { ok: true };
}

export function untagTopic(
  topic: Topic,
  keys: readonly string[] | undefined,
  tx: Transaction,
): { ok: true } | Refusal {
  if (keys === undefined) return refuse('topic-parameter-missing', { name: 'TagKeys' });
  const remaining = Object.entries(topic.kept.tags).filter(([key]) => !keys.includes(key));
  topic.configure(tx, { ...topic.kept, tags: Object.fromEntries(remaining) });
  return { ok: true };
}
