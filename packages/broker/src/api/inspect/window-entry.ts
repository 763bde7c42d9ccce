/**
 * Finds one entry of a queue's deduplication window: by its sequence, or by a send that it suppressed. A window is indexed by
 * id and, in the profile yandex, by the hash of the body; it is searched by sequence only among the newest entries.
 */

import { sha256Hex } from '../../core/digest/digests.ts';
import type { Backend, Explained } from '../../storage/backend.ts';

/** How many of the newest entries are searched for something that the window does not index. */
export const searchedEntriesMax = 1_000;

/** Looks the entry up by its id, if known, or else searches the newest. */
export async function entryOf(
  backend: Backend,
  queue: string,
  sequence: number,
  { id, group }: { readonly id: string | undefined; readonly group: string | undefined },
): Promise<Explained | undefined> {
  const isIt = (entry: Explained): boolean => entry.sequence === sequence;
  if (id !== undefined) {
    const asked = { deduplicationId: id, groupId: group, limit: 1 };
    const found = await backend.explain({ type: 'explain', queue, ...asked });
    const entry = found.ok ? found.entries.find(isIt) : undefined;
    if (entry !== undefined) return entry;
  }
  const newest = await backend.explain({ type: 'explain', queue, limit: searchedEntriesMax });
  return newest.ok ? newest.entries.find(isIt) : undefined;
}

/**
 * The entry that suppressed the latest send with this id because of its body (profile yandex): the id itself is not in the
 * window. Only remembered sends are known.
 */
export async function entryWithBodyOf(
  backend: Backend,
  queue: string,
  id: string,
  groupId: string | undefined,
): Promise<Explained | undefined> {
  const send = (await backend.suppressed(queue)).findLast(
    ({ matchedBy, deduplicationId, groupId: group }) =>
      matchedBy === 'body' && deduplicationId === id && (groupId ?? group) === group,
  );
  if (send === undefined) return undefined;
  const { content, original, groupId: group } = send;
  const isWhole = content !== undefined && content.body.length === content.bodyLength;
  const hash = isWhole ? sha256Hex(content.body) : undefined;
  return entryOf(backend, queue, original.sequence, { id: hash, group });
}
