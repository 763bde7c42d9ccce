/**
 * Tags in AWS's terms, as CreateTopic and TagResource take them. Core judges what is missing: all of them in TagResource,
 * the key or the value of a tag in both.
 */

import type { TagInput } from '../../../core/topic/commands.ts';

export type TagWords = { readonly Key?: string; readonly Value?: string };

export function tagsOf(words: readonly TagWords[] | undefined): TagInput[] | undefined {
  return words?.map(({ Key, Value }) => ({ key: Key, value: Value }));
}
