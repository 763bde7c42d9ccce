/**
 * Looking without touching: counts, messages in order, window entries. No AWS action asks for these; people, tests
 * and the console do. Texts (bodies, ids) are not held here; the answers name the keys under which they are kept.
 */

import type {
  CommandOf,
  ExplainedEntry,
  GroupView,
  Outcome,
  PeekedMessage,
  QueueDescription,
} from '../commands.ts';
import type { WindowMatch } from '../deduplication/window.ts';
import { none } from '../structures/slab.ts';
import { delayed, inFlight, visible } from './message-table.ts';
import type { Queue } from './queue.ts';

export function describeQueue(queue: Queue): QueueDescription {
  return {
    ok: true,
    isFifo: queue.isFifo,
    visible: queue.visibility.visible,
    inFlight: queue.visibility.inFlight,
    delayed: queue.visibility.delayed,
    groups: queue.shelf.groups,
    blockedGroups: queue.groups?.blocked ?? 0,
    windowEntries: queue.window.size,
    oldestSentAt: queue.oldestSentAt,
  };
}

/** How many groups one call looks at in search of blocked ones; the next page continues from there. */
const groupsLookedAtMax = 100_000;
/** How many sends one call counts: in a window of millions, only the newest are counted. */
const sendsCountedMax = 100_000;

/** The first messages of the queue, or of one group, in order of acceptance. */
export function peekMessages(
  queue: Queue,
  { groupId, after = 0, limit }: CommandOf<'peek-messages'>,
): Outcome<'peek-messages'> {
  const rows =
    groupId === undefined
      ? queue.table.inSequence(after)
      : (queue.groups?.ofGroup(groupId, after) ?? []);
  const messages: PeekedMessage[] = [];
  for (const row of rows) {
    if (messages.length >= limit) break;
    messages.push(peeked(queue, row));
  }
  return { ok: true, messages };
}

function peeked(queue: Queue, row: number): PeekedMessage {
  const state = queue.table.state(row);
  return {
    ...queue.view(row),
    state: state === visible ? 'visible' : state === delayed ? 'delayed' : 'in-flight',
    visibleAt: queue.visibility.visibleAt(row),
  };
}

/** The order means nothing, but is stable while groups come and go. */
export function listGroups(
  queue: Queue,
  { isBlocked, after = none, limit }: CommandOf<'list-groups'>,
): Outcome<'list-groups'> {
  const groups: GroupView[] = [];
  if (queue.groups === undefined) return { ok: true, groups, next: undefined };
  const last = Math.min(queue.groups.end, after + 1 + groupsLookedAtMax);
  for (let group = after + 1; group < last; group += 1) {
    const head = queue.groups.head(group);
    if (head === none || (isBlocked && queue.table.state(head) === visible)) continue;
    groups.push({
      groupId: queue.groups.groupId(head),
      messages: queue.groups.messages(group),
      inFlight: queue.groups.leading(head).filter((row) => queue.table.state(row) === inFlight)
        .length,
      head: peeked(queue, head),
    });
    if (groups.length >= limit) return { ok: true, groups, next: group };
  }
  return { ok: true, groups, next: last < queue.groups.end ? last - 1 : undefined };
}

export function countSends(
  queue: Queue,
  { parts }: CommandOf<'count-sends'>,
  now: number,
): Outcome<'count-sends'> {
  const { windowMs } = queue.settings;
  const accepted = new Array<number>(parts).fill(0);
  let counted = 0;
  for (const acceptedAt of queue.window.acceptedTimes()) {
    if (counted === sendsCountedMax) {
      return { ok: true, windowMs, accepted, countedFrom: acceptedAt + 1 };
    }
    counted += 1;
    const age = Math.floor(((now - acceptedAt) * parts) / windowMs);
    // An entry leaves the window at the end of its last part.
    const part = parts - 1 - Math.min(Math.max(age, 0), parts - 1);
    accepted[part] = (accepted[part] as number) + 1;
  }
  return { ok: true, windowMs, accepted, countedFrom: undefined };
}

/** The entry that a send with this id would match, or the newest entries, newest first. */
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
    const { isContentBased, profile } = queue.settings;
    const byId = queue.window.findText(deduplicationId, groupId, 'id');
    // The id of a send without one is the hash of its body, which such a queue looks up too.
    const isBodyUnique = isContentBased && profile === 'yandex';
    const row =
      byId === none && isBodyUnique
        ? queue.window.findText(deduplicationId, groupId, 'body')
        : byId;
    return { ok: true, entries: row === none ? [] : [explained(queue.window.match(row))] };
  }
  return { ok: true, entries: queue.window.newest(limit).map(explained) };
}
