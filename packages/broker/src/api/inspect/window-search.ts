/**
 * Searches a deduplication window: by deduplication or message id, by sequence number, by group, by a key or any text in
 * the body, by the body's MD5 or SHA-256. It searches a bounded number of the newest entries, and the answer says whether
 * those were all. A deduplication id is found anywhere in the window, unless the queue deduplicates within each group:
 * there an id alone does not identify an entry.
 */

import type { MessageContent } from '../../core/changes.ts';
import { md5Hex, sha256Hex } from '../../core/digest/digests.ts';
import { sequenceNumber } from '../../core/sequence-number.ts';
import type { Backend, Explained, RememberedSend } from '../../storage/backend.ts';
import { isScopedByGroup } from './queues.ts';
import type { Watching } from './watching.ts';
import { searchedEntriesMax } from './window-entry.ts';

export interface Found {
  readonly entries: readonly Explained[];
  readonly suppressed: readonly RememberedSend[];
  /** How many entries were searched, and whether these were all. */
  readonly looked: number;
  readonly isAll: boolean;
  /** Whether a deduplication id is also found among older entries. */
  readonly hasOlderIds: boolean;
}

/** The total length of the bodies searched. */
const searchedCharsMax = 16 * 1024 * 1024;
const readAtOnce = 20;
const beginningCharsMin = 6;

export async function searchWindow(
  { backend, watching }: { readonly backend: Backend; readonly watching: Watching },
  queue: string,
  text: string,
  suppressed: readonly RememberedSend[],
): Promise<Found> {
  const newest = await backend.explain({ type: 'explain', queue, limit: searchedEntriesMax });
  const exact = await backend.explain({ type: 'explain', queue, deduplicationId: text, limit: 1 });
  const entries = newest.ok ? newest.entries : [];
  const found = new Map<number, Explained>();
  for (const entry of exact.ok ? exact.entries : []) found.set(entry.sequence, entry);
  let chars = 0;
  let looked = 0;
  while (looked < entries.length && chars < searchedCharsMax) {
    const some = entries.slice(looked, looked + readAtOnce);
    const sequences = some.map(({ sequence }) => sequence);
    const contents = await backend.contents(queue, sequences);
    for (const [index, entry] of some.entries()) {
      const content = contents[index] ?? watching.contentOf(queue, entry.sequence);
      chars += content?.body.length ?? 0;
      if (hasText(entry, text) || isIn(content, text)) found.set(entry.sequence, entry);
    }
    looked += some.length;
  }
  const counted = await backend.run({ type: 'describe-queue', queue });
  return {
    entries: [...found.values()],
    suppressed: suppressed.filter(
      (send) =>
        isOneOf([send.deduplicationId, send.groupId, send.original.messageId], text) ||
        found.has(send.original.sequence) ||
        isIn(send.content, text),
    ),
    looked,
    isAll: counted.ok && looked >= counted.windowEntries,
    hasOlderIds: !(await isScopedByGroup(backend, queue)),
  };
}

function hasText(entry: Explained, text: string): boolean {
  const { deduplicationId, messageId, groupId, bodyMd5 } = entry;
  const ids = [deduplicationId, messageId, groupId, bodyMd5, String(entry.sequence)];
  // Compared as a whole, since all sequence numbers start with the same digits.
  return isOneOf(ids, text) || sequenceNumber(entry.sequence) === text;
}

/** Lists show only the start of ids, so a prefix matches too, if it is long enough to be specific. */
function isOneOf(values: readonly string[], text: string): boolean {
  const isBeginning = text.length >= beginningCharsMin;
  return values.some((value) => value === text || (isBeginning && value.startsWith(text)));
}

function isIn(content: Pick<MessageContent, 'body'> | undefined, text: string): boolean {
  if (content === undefined) return false;
  if (content.body.includes(text)) return true;
  if (/^[0-9a-f]{64}$/.test(text)) return sha256Hex(content.body) === text;
  return /^[0-9a-f]{32}$/.test(text) && md5Hex(content.body) === text;
}
