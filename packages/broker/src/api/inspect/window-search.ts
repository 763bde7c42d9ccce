/**
 * Searching a deduplication window: by id (of deduplication or message), by sequence number, by group, by a key or any
 * words in the body, by the body's MD5 or SHA-256. All is looked for among the newest entries, as many as can be read in
 * one go, and the answer says whether that was all. A deduplication id is found wherever in the window it is, unless the
 * queue deduplicates within each group: there an id alone names no entry.
 */

import type { MessageContent } from '../../core/changes.ts';
import { md5Hex, sha256Hex } from '../../core/digest.ts';
import { sequenceNumber } from '../../core/sequence-number.ts';
import type { Backend, Explained, RememberedSend } from '../../storage/backend.ts';
import { isScopedByGroup } from './queues.ts';
import type { Watching } from './watching.ts';

export interface Found {
  readonly entries: readonly Explained[];
  readonly suppressed: readonly RememberedSend[];
  /** How many entries were looked at, and whether these were all. */
  readonly looked: number;
  readonly isAll: boolean;
  /** Whether a deduplication id is found also behind these. */
  readonly hasOlderIds: boolean;
}

export const searchedEntriesMax = 1_000;
/** Of bodies, in characters. */
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
  // The whole of it only: all sequence numbers begin alike.
  return isOneOf(ids, text) || sequenceNumber(entry.sequence) === text;
}

/** Lists show the beginnings of ids, so a beginning is enough, if it is not just anything. */
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
