/**
 * How two sends with the same deduplication id differ in what the id does not show, and when that is a collision. Both are
 * decided here alone, since every report of a suppressed send tells them: explain, events, ledger, spans, console.
 */

import type { DeduplicationSource } from '../changes.ts';

export interface Difference {
  readonly body: boolean;
  readonly attributes: boolean;
  readonly group: boolean;
}

const parts = ['body', 'attributes', 'group'] as const;

export function differencesIn(differed: Difference): (keyof Difference)[] {
  return parts.filter((part) => differed[part]);
}

/** A content hash covers neither attributes nor group: if they differ, it most likely suppressed a different event. */
export function isCollision({
  source,
  differed,
}: {
  readonly source: DeduplicationSource;
  readonly differed: Difference;
}): boolean {
  return source === 'content' && (differed.attributes || differed.group);
}
