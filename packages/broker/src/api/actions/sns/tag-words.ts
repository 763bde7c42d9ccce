/**
 * Tags in the client's words: what CreateTopic and TagResource take and ListTagsForResource gives. Keys and values that are
 * missing are empty, and core refuses an empty key.
 */

import type { Tag } from '../../../core/topic/commands.ts';

export type TagWords = { readonly Key?: string; readonly Value?: string };

export function tagsOf(words: readonly TagWords[] = []): Tag[] {
  return words.map(({ Key = '', Value = '' }) => ({ key: Key, value: Value }));
}
