/**
 * When a key is the same: two producers may use one key for different events, so a key counts together with its source.
 * Inboxes, the guard and the server all compare by this text, and all refuse a key that is used for a second body.
 */

import { type Refusal, refuse } from './refusals.ts';

/** A `dedupe_key` and its `event_source`; the source is empty for bodies that have none. */
export interface EventKey {
  readonly source: string;
  readonly key: string;
}

/** Source and key as one text, which tells them apart because a source has no line break. */
export function scopedKey({ source, key }: EventKey): string {
  return `${source}\n${key}`;
}

export function keyReused({ source, key }: EventKey): Refusal {
  return refuse('key-reused', { key, of: source === '' ? '' : ` of ${source}` });
}
