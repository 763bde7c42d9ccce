/**
 * Rules about messages in flight: while its timeout runs, a message is delivered to nobody else, its receipt is valid,
 * and the attempt that got it gets it again; even if the server died meanwhile.
 *
 * Only the server knows when a timeout ends. It cannot end earlier than its length after the request that set it began;
 * everything here is judged by that earliest end.
 */

import { name } from './delivery-rules.ts';
import type { ChangeEntry, Timed } from './history.ts';
import { type Delivery, deletableFrom, type Lives } from './lives.ts';

/** The server uses the wall clock, in whole milliseconds; the wall clock may be slewed a little. */
const slackMs = 50;

export function inFlight({ messages }: Lives): string[] {
  return messages.flatMap((message) => {
    const deliveries = [...message.deliveries].sort(
      (a, b) => a.received.receiveCount - b.received.receiveCount || a.receive.to - b.receive.to,
    );
    return deliveries.flatMap((later, index) => {
      const earlier = deliveries[index - 1];
      if (earlier === undefined || isRepeated(earlier, later)) return [];
      // A count that fell is reported by the rule about counts.
      if (earlier.receive.from > later.receive.to) return [];
      const early = hiddenUntil(message.changes, earlier, later.receive) - later.receive.to;
      return early > 0
        ? [`${name(message)} was delivered again ${early.toFixed(0)} ms before its timeout`]
        : [];
    });
  });
}

/** Standard queues accept every receipt of a message that they ever gave out, even if the message is gone. */
export function receipts({ messages }: Lives): string[] {
  return messages.flatMap((message) => {
    const isGood = (entry: Timed & { receipt: string }): boolean => {
      const held = message.deliveries.findLast(
        ({ received, receive }) => received.receipt === entry.receipt && receive.to <= entry.from,
      );
      const changes = message.changes.filter(({ receipt }) => receipt === entry.receipt);
      return held !== undefined && entry.to < hiddenUntil(changes, held, entry);
    };
    const isThere = (change: ChangeEntry): boolean => change.to < deletableFrom(message);
    const isStandard = !message.queue.isFifo;
    const wrong = [
      ...message.deletes.filter((entry) => isStandard || isGood(entry)),
      ...message.changes.filter((entry) => isThere(entry) && (isStandard || isGood(entry))),
    ];
    return wrong.flatMap((entry) =>
      entry.outcome === 'refused'
        ? [`a ${entry.type} of ${name(message)} with a good receipt got ${entry.code}`]
        : [],
    );
  });
}

/** An attempt repeated while nothing has happened to its messages gives the same ones with the same receipts. */
export function attempts({ receives, message }: Lives): string[] {
  const found: string[] = [];
  const last = new Map<string, (typeof receives)[number]>();
  for (const receive of receives) {
    if (receive.attemptId === undefined || receive.outcome !== 'done') continue;
    const key = `${receive.queue} ${receive.attemptId}`;
    const earlier = last.get(key);
    last.set(key, receive);
    if (earlier === undefined || earlier.messages.length === 0) continue;
    const isUntouched = earlier.messages.every((received) => {
      const each = message(received);
      const isChanged = each.changes.some(({ from, to }) => from < receive.to && to > earlier.from);
      const until = hiddenUntil(each.changes, { receive: earlier, received }, receive);
      return !isChanged && deletableFrom(each) >= receive.to && receive.to < until;
    });
    const [before, after] = [earlier, receive].map(({ messages }) =>
      messages.map(({ receipt }) => receipt).join(' '),
    );
    if (isUntouched && before !== after) {
      found.push(`the attempt ${key} gave other messages when it was repeated`);
    }
  }
  return found;
}

function isRepeated(earlier: Delivery, later: Delivery): boolean {
  return (
    earlier.received.receipt === later.received.receipt &&
    earlier.receive.attemptId !== undefined &&
    earlier.receive.attemptId === later.receive.attemptId
  );
}

/**
 * The earliest end of the timeout that a delivery set, as a later request sees it: of the changes made since, the last
 * one that was surely in force, or any that may have been.
 */
function hiddenUntil(
  changes: readonly ChangeEntry[],
  { receive }: Delivery,
  request: Timed,
): number {
  const since = changes
    .filter(({ outcome, from }) => outcome !== 'refused' && from < request.to)
    .filter(({ to }) => to > receive.from)
    .sort((a, b) => a.from - b.from);
  const sure = since.findLast(({ outcome, to }) => outcome === 'done' && to <= request.from);
  const latest = sure ?? receive;
  const possible = [latest, ...since.filter(({ to }) => to > latest.from)];
  return Math.min(...possible.map(({ from, visibilityMs }) => from + visibilityMs)) - slackMs;
}
