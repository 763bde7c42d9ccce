/**
 * A queue's deduplication window over time: when sends were accepted and suppressed, the newest of them, and for one of
 * them the original next to its suppressed duplicates. An original that is no longer in the queue is shown from memory, or,
 * if it was not remembered, by what the window itself knows about it.
 */

import { differencesIn, isCollision } from '../../core/deduplication/difference.ts';
import type { ContractViolationEvent } from '../../core/events.ts';
import type { Backend, Explained, RememberedSend } from '../../storage/backend.ts';
import { failed, type InspectResponse } from '../inspect-response.ts';
import { limitOf, numberOf, ok, refused, wrongLimit } from './answers.ts';
import { type ShownContent, shownContent } from './contents.ts';
import type { InspectContext, InspectOptions, InspectRequest } from './inspect.ts';
import { entryOf } from './window-entry.ts';
import { type Found, searchWindow } from './window-search.ts';

/** With the default window of five minutes, each part is a second. */
const parts = 300;
const comparedMax = 50;

export async function showWindow(
  options: InspectContext,
  { query }: InspectRequest,
  name: string,
): Promise<InspectResponse> {
  const { backend, watching } = options;
  const limit = limitOf(query);
  if (limit === undefined) return wrongLimit();
  watching.keepUp();
  const counted = await backend.run({ type: 'count-sends', queue: name, parts });
  if (!counted.ok) return refused(counted);
  if (!name.endsWith('.fifo')) return noWindow(name);
  const now = backend.now();
  const { windowMs, accepted, countedFrom } = counted;
  const isRecent = ({ at }: { readonly at: number }): boolean => at > now - windowMs;
  const remembered = await backend.suppressed(name);
  const suppressed = remembered.filter(isRecent);
  const isAllRecent = suppressed.length === remembered.length;
  // An earlier process accepted some of the sends; what it remembered was lost with it.
  const isOlder = accepted.some(
    (count, part) => count > 0 && now - ((parts - 1 - part) * windowMs) / parts < backend.startedAt,
  );
  const violations = violationsOf(options, name).filter(isRecent);
  const search = query.get('search') ?? '';
  const found: Found | undefined =
    search === '' ? undefined : await searchWindow(options, name, search, suppressed);
  const entries = found?.entries ?? (await newestEntries(backend, name, limit));
  const isSought = ({ body, reason }: ContractViolationEvent): boolean =>
    search === '' || body.includes(search) || reason.includes(search);
  const partOf = ({ at }: { readonly at: number }): number =>
    parts - 1 - Math.floor(((now - at) * parts) / windowMs);
  const rows = [
    ...entries.slice(0, limit).map(acceptedRow),
    ...sendsToList(found?.suppressed ?? suppressed, limit, partOf).map(suppressedRow),
    ...violations.filter(isSought).slice(-limit).map(violationRow),
  ];
  return ok({
    now,
    windowSeconds: windowMs / 1000,
    accepted,
    acceptedCountedFrom: countedFrom ?? null,
    suppressedCountedFrom: isAllRecent
      ? (forgottenUntil(remembered) ?? (isOlder ? backend.startedAt : null))
      : null,
    suppressed: countsIn(suppressed.map(partOf)),
    collisions: countsIn(suppressed.filter(isCollision).map(partOf)),
    violations: countsIn(violations.map(partOf)),
    rows: rows.sort((a, b) => b.at - a.at || b.order - a.order),
    searched:
      found === undefined
        ? null
        : { entries: found.looked, isAll: found.isAll, hasOlderIds: found.hasOlderIds },
  });
}

/** One accepted send with its suppressed duplicates. */
export async function showSend(
  { backend, watching }: InspectContext,
  { path, query }: InspectRequest,
  name: string,
): Promise<InspectResponse> {
  const sequence = numberOf(path.slice(path.lastIndexOf('/') + 1));
  if (typeof sequence !== 'number')
    return failed(400, 'InvalidRequest', 'The sequence must be a number.');
  const isThere = await backend.run({ type: 'describe-queue', queue: name });
  if (!isThere.ok) return refused(isThere);
  if (!name.endsWith('.fifo')) return noWindow(name);
  const all = await backend.suppressed(name);
  const suppressed = all.filter(({ original }) => original.sequence === sequence);
  const entry = await entryOf(backend, name, sequence, {
    id: query.get('id') || suppressed.at(-1)?.deduplicationId,
    group: query.get('group') || suppressed.at(-1)?.groupId,
  });
  const known = suppressed.at(-1);
  if (entry === undefined && known === undefined) {
    const text = `No send with the sequence ${sequence} is in the deduplication window of ${name} or still remembered.`;
    return failed(404, 'NotInWindow', text);
  }
  const [kept] = await backend.contents(name, [sequence]);
  const remembered =
    suppressed.findLast(({ originalContent }) => originalContent !== undefined)?.originalContent ??
    watching.contentOf(name, sequence);
  const content = kept ?? remembered;
  return ok({
    now: backend.now(),
    id: entry?.deduplicationId ?? known?.deduplicationId,
    source: entry?.source ?? known?.original.source,
    scope: known?.scope ?? null,
    expiresAt: entry?.expiresAt ?? known?.expiresAt,
    isOpen: entry !== undefined,
    original: {
      messageId: entry?.messageId ?? known?.original.messageId,
      sequence,
      sentAt: entry?.acceptedAt ?? known?.original.acceptedAt,
      groupId: entry?.groupId ?? null,
      bodyMd5: entry?.bodyMd5 ?? null,
      attributesMd5: entry?.attributesMd5 ?? null,
      isInQueue: kept !== undefined,
      content: content === undefined ? null : shownContent(content),
    },
    suppressedCount: suppressed.length,
    suppressed: suppressed.slice(-comparedMax).toReversed().map(shownSuppressed),
  });
}

/**
 * The suppressed sends to list even if the queue is busy: the newest, the newest collisions, and the last of each part of
 * the window, so that every mark on the timeline has a row.
 */
function sendsToList(
  suppressed: readonly RememberedSend[],
  limit: number,
  partOf: (send: RememberedSend) => number,
): RememberedSend[] {
  const lastOfParts = new Map(suppressed.map((send) => [partOf(send), send]));
  return [
    ...new Set([
      ...suppressed.slice(-limit),
      ...suppressed.filter(isCollision).slice(-limit),
      ...lastOfParts.values(),
    ]),
  ];
}

function noWindow(name: string): InspectResponse {
  return failed(409, 'NoWindow', `${name} is a standard queue and has no deduplication window.`);
}

async function newestEntries(
  backend: Backend,
  queue: string,
  limit: number,
): Promise<readonly Explained[]> {
  const found = await backend.explain({ type: 'explain', queue, limit });
  return found.ok ? found.entries : [];
}

function violationsOf(
  { violations }: InspectOptions,
  name: string,
): readonly ContractViolationEvent[] {
  return (violations?.(name) ?? []).filter((event) => event.type === 'contract-violation');
}

/** When the oldest remembered send was suppressed, if earlier ones are no longer remembered. */
function forgottenUntil([oldest]: readonly RememberedSend[]): number | undefined {
  return oldest !== undefined && oldest.number > 0 ? oldest.at : undefined;
}

function countsIn(positions: readonly number[]): number[] {
  const counts = new Array<number>(parts).fill(0);
  for (const position of positions) {
    const inside = Math.min(Math.max(position, 0), parts - 1);
    counts[inside] = (counts[inside] as number) + 1;
  }
  return counts;
}

interface Row {
  readonly at: number;
  /** Orders rows of the same millisecond. */
  readonly order: number;
  readonly [field: string]: unknown;
}

/** Greater than every sequence; numbers added to it remain exact. */
const behindAll = 2 ** 51;

function acceptedRow(entry: Explained): Row {
  return {
    kind: 'accepted',
    at: entry.acceptedAt,
    order: entry.sequence,
    sequence: entry.sequence,
    id: entry.deduplicationId,
    source: entry.source,
    groupId: entry.groupId,
    messageId: entry.messageId,
    expiresAt: entry.expiresAt,
    suppressed: entry.suppressed.length,
  };
}

function suppressedRow(send: RememberedSend): Row {
  return {
    kind: 'suppressed',
    at: send.at,
    // After everything that was accepted in the same millisecond.
    order: behindAll + send.number,
    number: send.number,
    sequence: send.original.sequence,
    id: send.deduplicationId,
    source: send.source,
    matchedBy: send.matchedBy,
    groupId: send.groupId,
    messageId: send.original.messageId,
    originalAt: send.original.acceptedAt,
    differed: differencesIn(send.differed),
    collision: isCollision(send),
  };
}

function violationRow(
  { at, mode, rule, reason, groupId }: ContractViolationEvent,
  index: number,
): Row {
  return {
    kind: 'violation',
    at,
    order: behindAll + index,
    mode,
    rule,
    reason,
    groupId: groupId ?? null,
  };
}

function shownSuppressed(send: RememberedSend): object {
  const content: ShownContent | null =
    send.content === undefined ? null : shownContent(send.content);
  return {
    number: send.number,
    at: send.at,
    id: send.deduplicationId,
    source: send.source,
    matchedBy: send.matchedBy,
    groupId: send.groupId,
    differed: differencesIn(send.differed),
    collision: isCollision(send),
    content,
  };
}
