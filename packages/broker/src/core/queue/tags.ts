/**
 * Tags of a queue (rule 5.12): kept and given back, without any effect on the queue. Keys are the client's own words,
 * `__proto__` included, so tags are only ever copied whole and never assigned one by one.
 */

import type { CommandOf, Outcome } from '../commands.ts';
import { type Refusal, refuse } from '../errors.ts';
import { tagKeyLengthMax, tagsMax, tagValueLengthMax } from '../limits.ts';
import type { Transaction } from '../transaction.ts';
import type { Queue } from './queue.ts';

export type Tags = Readonly<Record<string, string>>;

const tagForm = /^[\p{L}\p{N}\p{Z}_.:/=+\-@]*$/u;

export function checkTags(queue: string, tags: Tags): Refusal | undefined {
  const entries = Object.entries(tags);
  if (entries.length > tagsMax) return refuse('tags-too-many', { queue });
  for (const [key, value] of entries) {
    if (key === '' || key.length > tagKeyLengthMax || !tagForm.test(key)) {
      return refuse('tag-invalid', { name: 'TagKey', value: key });
    }
    if (value.length > tagValueLengthMax || !tagForm.test(value)) {
      return refuse('tag-invalid', { name: 'TagValue', value });
    }
  }
  return undefined;
}

export function tagQueue(
  queue: Queue,
  { tags }: CommandOf<'tag-queue'>,
  tx: Transaction,
): Outcome<'tag-queue'> {
  const all = { ...queue.kept.tags, ...tags };
  const refusal = checkTags(queue.name, tags) ?? checkTags(queue.name, all);
  if (refusal !== undefined) return refusal;
  queue.configure(tx, { ...queue.kept, tags: all });
  return { ok: true };
}

export function untagQueue(
  queue: Queue,
  { keys }: CommandOf<'untag-queue'>,
  tx: Transaction,
): Outcome<'untag-queue'> {
  const remaining = Object.entries(queue.kept.tags).filter(([key]) => !keys.includes(key));
  queue.configure(tx, { ...queue.kept, tags: Object.fromEntries(remaining) });
  return { ok: true };
}
