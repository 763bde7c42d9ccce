/**
 * Tags in AWS's terms, as CreateTopic and TagResource take them. A missing key or value becomes empty, and core refuses an
 * empty key.
 */

import type { Tag } from '../../../core/topic/commands.ts';

export type TagWords = { readonly Key?: string; readonly Value?: string };

export function tagsOf(words: readonly TagWords[] = []): Tag[] {
  return words.map(({ Key = '', Value = '' }) => ({ key: Key, value: Value }));
}
