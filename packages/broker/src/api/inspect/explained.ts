/**
 * What a deduplication window holds and what it suppressed: the explain call, the same for queues and topics. It explains
 * one id or, without an id, the newest entries.
 */

import { differencesIn, isCollision } from '../../core/deduplication/difference.ts';
import type { Refusal } from '../../core/errors.ts';
import { sequenceNumber } from '../../core/sequence-number.ts';
import type { Backend, Explained } from '../../storage/backend.ts';
import { failed, type InspectResponse } from '../inspect-response.ts';
import { limitOf, ok, refused, wrongLimit } from './answers.ts';

/** `name` is that of the queue or topic; `read` queries it. */
export interface Window {
  readonly name: string;
  read(asked: {
    readonly deduplicationId: string | undefined;
    readonly groupId: string | undefined;
    readonly limit: number;
  }): Promise<{ readonly ok: true; readonly entries: readonly Explained[] } | Refusal>;
  isScopedByGroup(): Promise<boolean>;
  /** The entry that suppressed a send with this id for another reason than its id, if there can be one. */
  readOther?(id: string, groupId: string | undefined): Promise<Explained | undefined>;
}

export async function explained(
  backend: Backend,
  query: URLSearchParams,
  { name, read, isScopedByGroup, readOther }: Window,
): Promise<InspectResponse> {
  const limit = limitOf(query);
  if (limit === undefined) return wrongLimit();
  const deduplicationId = query.get('id') || undefined;
  const groupId = query.get('group') || undefined;
  const found = await read({ deduplicationId, groupId, limit });
  if (!found.ok) return refused(found);
  const now = backend.now();
  // The lookup of an id already considered the group, if it matters.
  const isAsked = (entry: Explained): boolean =>
    deduplicationId !== undefined || groupId === undefined || entry.groupId === groupId;
  const other =
    deduplicationId !== undefined && found.entries.length === 0
      ? await readOther?.(deduplicationId, groupId)
      : undefined;
  const all = other === undefined ? found.entries : [other];
  const entries = all.filter(isAsked).map((entry) => ({
    id: entry.deduplicationId,
    source: entry.source,
    groupId: entry.groupId,
    original: {
      messageId: entry.messageId,
      sequence: entry.sequence,
      sequenceNumber: sequenceNumber(entry.sequence),
      sentAt: entry.acceptedAt,
    },
    ageSeconds: (now - entry.acceptedAt) / 1000,
    expiresAt: entry.expiresAt,
    expiresInSeconds: (entry.expiresAt - now) / 1000,
    suppressed: entry.suppressed.map((event) => ({
      at: event.at,
      id: event.deduplicationId,
      source: event.source,
      matchedBy: event.matchedBy,
      groupId: event.groupId,
      differed: differencesIn(event.differed),
      collision: isCollision(event),
    })),
  }));
  if (deduplicationId === undefined) return ok({ entries });
  const [entry] = entries;
  if (entry === undefined) {
    if (groupId === undefined && (await isScopedByGroup())) {
      const text = `${name} deduplicates within each message group, so the group is needed too: group=ID in the URL, --group ID for the command.`;
      return failed(400, 'GroupMissing', text);
    }
    const text = `No send with the id ${deduplicationId} is in the deduplication window of ${name}.`;
    return failed(404, 'NotInWindow', text);
  }
  return ok({ entry });
}
