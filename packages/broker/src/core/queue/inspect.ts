/**
 * Looking without touching: counts, messages in order, window entries. No AWS action asks for these; people, tests
 * and the console do. Texts (bodies, ids) are not held here; the answers name the keys under which they are kept.
 */

import type { CommandOf, ExplainedEntry, Outcome, PeekedMessage } from '../commands.ts';
import { keyOf, type WindowMatch } from '../deduplication-window.ts';
import { none } from '../slab.ts';
import { delayed, visible } from './message-table.ts';
import type { Queue } from './queue.ts';

export function describeQueue(queue: Queue): Outcome<'describe-queue'> {
  return {
    ok: true,
    isFifo: queue.isFifo,
    visible: queue.visible,
    inFlight: queue.inFlight,
    delayed: queue.delayed,
    groups: queue.shelf.groups,
    groupsBlocked: queue.groups?.blocked ?? 0,
    windowEntries: queue.window.size,
    oldestSentAt: queue.oldestSentAt,
  };
}

/** The first messages of the queue, or of one group, in order of acceptance. */
export function peekMessages(
  queue: Queue,
  { groupId, limit }: CommandOf<'peek-messages'>,
): Outcome<'peek-messages'> {
  const rows =
    groupId === undefined ? queue.table.inSequence() : (queue.groups?.ofGroup(groupId) ?? []);
  const messages: PeekedMessage[] = [];
  for (const row of rows) {
    if (messages.length >= limit) break;
    const state = queue.table.state(row);
    messages.push({
      ...queue.view(row),
      state: state === visible ? 'visible' : state === delayed ? 'delayed' : 'in-flight',
      visibleAt: queue.visibleAt(row),
    });
  }
  return { ok: true, messages };
}

/** The entry that a send with this id would meet, or the newest entries, newest first. */
export function explain(
  queue: Queue,
  { deduplicationId, groupId = '', limit }: CommandOf<'explain'>,
): Outcome<'explain'> {
  const explained = (match: WindowMatch): ExplainedEntry => ({
    ...match,
    messageId: queue.idOf(match.sequence),
    expiresAt: match.acceptedAt + queue.settings.windowMs,
  });
  if (deduplicationId !== undefined) {
    const row = queue.window.find(keyOf(deduplicationId, groupId), 'id');
    return { ok: true, entries: row === none ? [] : [explained(queue.window.match(row))] };
  }
  return { ok: true, entries: queue.window.newest(limit).map(explained) };
}
