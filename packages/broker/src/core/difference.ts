/**
 * How two sends with one deduplication id differed in what the id does not show, and when that is a collision. The one place
 * for both, since everybody who tells of a suppressed send says so: explain, events, ledger, spans, console.
 */

import type { DeduplicationSource } from './changes.ts';

export interface Difference {
  readonly body: boolean;
  readonly attributes: boolean;
  readonly group: boolean;
}

const parts = ['body', 'attributes', 'group'] as const;

export function differencesIn(differed: Difference): (keyof Difference)[] {
  return parts.filter((part) => differed[part]);
}

/** A content hash sees neither attributes nor group: most likely it met another event, which is lost. */
export function isCollision({
  source,
  differed,
}: {
  readonly source: DeduplicationSource;
  readonly differed: Difference;
}): boolean {
  return source === 'content' && (differed.attributes || differed.group);
}
