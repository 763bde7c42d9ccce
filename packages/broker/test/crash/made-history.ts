/**
 * Histories made by hand, for the tests of the checker. A request takes 10 ms and begins when it is told to; it succeeds
 * unless it is told otherwise. All times are milliseconds.
 */

import type {
  ChangeEntry,
  DeleteEntry,
  PublishEntry,
  QueueEntry,
  ReceivedEntry,
  ReceiveEntry,
  Result,
  SendEntry,
} from './history.ts';

const requestMs = 10;
const timeoutMs = 2_000;
export const windowMs: number = 300_000;

export const queues: QueueEntry[] = [
  { type: 'queue', queue: 'orders.fifo', isFifo: true, windowMs },
  { type: 'queue', queue: 'left.fifo', isFifo: true, windowMs },
  { type: 'queue', queue: 'right.fifo', isFifo: true, windowMs },
  { type: 'queue', queue: 'plain', isFifo: false, windowMs: 0 },
];

export const done: Result = { outcome: 'done' };
export const unanswered: Result = { outcome: 'unanswered' };
export const refused: Result = { outcome: 'refused', code: 'SomeError' };

/** A message of the FIFO queue; its body gives the group and the place in the group, as in `a1`. */
export function message(body: string, changes: Partial<ReceivedEntry> = {}): ReceivedEntry {
  const sequence = body.slice(1).padStart(20, '0');
  const known = { messageId: `id-${body}`, sequence, group: body[0] as string, body };
  const receiveCount = changes.receiveCount ?? 1;
  return { ...known, receipt: `${known.messageId}#${receiveCount}`, receiveCount, ...changes };
}

export function plain(body: string, changes: Partial<ReceivedEntry> = {}): ReceivedEntry {
  const { sequence: _, group: __, ...rest } = message(body, changes);
  return rest;
}

function at(from: number): { from: number; to: number } {
  return { from, to: from + requestMs };
}

function queueOf({ sequence }: ReceivedEntry): string {
  return sequence === undefined ? 'plain' : 'orders.fifo';
}

export function send(
  from: number,
  sent: ReceivedEntry,
  result: Result = done,
  place = 0,
): SendEntry {
  const { receipt: _, receiveCount: __, messageId, sequence, ...rest } = sent;
  const start = { type: 'send' as const, ...at(from), ...rest, queue: queueOf(sent), place };
  const ids = { messageId, ...(sequence === undefined ? {} : { sequence }) };
  return { ...start, ...(result.outcome === 'done' ? ids : {}), ...result } as SendEntry;
}

export function receive(
  from: number,
  messages: readonly ReceivedEntry[],
  changes: Partial<ReceiveEntry> | Result = {},
): ReceiveEntry {
  const queue = messages[0] === undefined ? 'orders.fifo' : queueOf(messages[0]);
  const start = { type: 'receive' as const, ...at(from), queue, visibilityMs: timeoutMs };
  return { ...start, outcome: 'done', messages, ...changes } as ReceiveEntry;
}

export function remove(from: number, received: ReceivedEntry, result: Result = done): DeleteEntry {
  const { messageId, receipt } = received;
  return { type: 'delete', ...at(from), messageId, receipt, ...result };
}

export function change(
  from: number,
  received: ReceivedEntry,
  visibilityMs: number,
  result: Result = done,
): ChangeEntry {
  const { messageId, receipt } = received;
  return { type: 'change', ...at(from), messageId, receipt, visibilityMs, ...result };
}

/** To a topic with the queues `left.fifo` and `right.fifo`. */
export function publish(from: number, body: string, result: Result = done): PublishEntry {
  const queues = ['left.fifo', 'right.fifo'];
  return { type: 'publish', ...at(from), queues, group: body[0] as string, body, ...result };
}

/** Both queues are received from, and what was received is deleted. */
export function taken(
  from: number,
  left: readonly ReceivedEntry[],
  right: readonly ReceivedEntry[],
): (ReceiveEntry | DeleteEntry)[] {
  const lots = [
    { queue: 'left.fifo', lot: left },
    { queue: 'right.fifo', lot: right },
  ];
  return lots.flatMap(({ queue, lot }) => {
    const messages = lot.map((each) => {
      const messageId = `${queue} ${each.messageId}`;
      return { ...each, messageId, receipt: `${queue} ${each.receipt}` };
    });
    return [
      receive(from, messages, { queue } as Partial<ReceiveEntry>),
      ...messages.map((each) => remove(from + 2 * requestMs, each)),
    ];
  });
}
