/**
 * A history sorted by subject: for each body that was sent, its sends and the ids it was answered and delivered with; for
 * each message that the server made of it, what happened to it. The rules look things up here and keep nothing of their
 * own.
 *
 * A publication is one more way to send: to every queue that subscribes, where its message has an id that no answer tells.
 */

import type {
  ChangeEntry,
  DeleteEntry,
  Entry,
  KillEntry,
  LeftEntry,
  PublishEntry,
  QueueEntry,
  ReceivedEntry,
  ReceiveEntry,
  SendEntry,
} from './history.ts';

/** One body in one queue, which on a FIFO queue is one message within its window. */
export interface Sent {
  readonly queue: QueueEntry;
  readonly group: string | undefined;
  readonly body: string;
  /** In order of time. */
  readonly sends: SendEntry[];
  readonly answered: Message[];
  readonly delivered: Message[];
}

export interface Delivery {
  readonly receive: ReceiveEntry;
  readonly received: ReceivedEntry;
}

/** A message that the server has named, in an answer to its send or by delivering it. */
export interface Message {
  readonly queue: QueueEntry;
  readonly id: string;
  readonly body: string;
  readonly group: string | undefined;
  readonly sequence: string;
  /** In order of their answers; a repeated attempt is one more, with the receipt of the first. */
  readonly deliveries: Delivery[];
  readonly deletes: DeleteEntry[];
  readonly changes: ChangeEntry[];
}

export interface Lives {
  readonly sent: readonly Sent[];
  readonly messages: readonly Message[];
  /** The messages of each FIFO group, by their sequence numbers. */
  readonly groups: readonly (readonly Message[])[];
  readonly sends: readonly SendEntry[];
  readonly publications: readonly PublishEntry[];
  /** In order of their answers. */
  readonly receives: readonly ReceiveEntry[];
  readonly kills: readonly KillEntry[];
  readonly left: readonly LeftEntry[];
  sentAs(queue: string, body: string): Sent | undefined;
  message(received: ReceivedEntry): Message;
}

export function livesOf(history: readonly Entry[]): Lives {
  const queues = new Map(ofType(history, 'queue').map((entry) => [entry.queue, entry]));
  const sends = ofType(history, 'send').sort((a, b) => a.from - b.from || a.place - b.place);
  const publications = ofType(history, 'publish').sort((a, b) => a.from - b.from);
  const receives = ofType(history, 'receive').sort((a, b) => a.to - b.to);
  const sent = new Map<string, Sent>();
  const messages = new Map<string, Message>();

  const sentAs = (queue: string, body: string): Sent | undefined => sent.get(`${queue} ${body}`);
  const messageOf = (queue: string, named: Named): Message => {
    const { messageId: id, sequence = '', body, group } = named;
    const key = keyOf(named);
    const message = messages.get(key) ?? {
      queue: queues.get(queue) as QueueEntry,
      id,
      body,
      group,
      sequence,
      deliveries: [],
      deletes: [],
      changes: [],
    };
    messages.set(key, message);
    return message;
  };

  for (const send of [...sends, ...publications.flatMap(sendsOf)]) {
    const { body, group, queue: name } = send;
    const queue = queues.get(name) as QueueEntry;
    const known = sentAs(name, body) ?? {
      queue,
      group,
      body,
      sends: [],
      answered: [],
      delivered: [],
    };
    sent.set(`${name} ${body}`, known);
    known.sends.push(send);
    if (send.outcome === 'done') addOnce(known.answered, messageOf(name, send));
  }
  for (const receive of receives) {
    for (const received of receive.messages) {
      const message = messageOf(receive.queue, received);
      message.deliveries.push({ receive, received });
      const known = sentAs(receive.queue, received.body);
      if (known !== undefined) addOnce(known.delivered, message);
    }
  }
  // Deleting or changing takes a receipt, so the message was delivered.
  const byReceipt = new Map<string, Message>();
  for (const message of messages.values()) {
    for (const { received } of message.deliveries) byReceipt.set(received.receipt, message);
  }
  for (const entry of ofType(history, 'delete')) byReceipt.get(entry.receipt)?.deletes.push(entry);
  for (const entry of ofType(history, 'change')) byReceipt.get(entry.receipt)?.changes.push(entry);

  return {
    sent: [...sent.values()],
    messages: [...messages.values()],
    groups: groupsOf([...messages.values()]),
    sends,
    publications,
    receives,
    kills: ofType(history, 'kill').sort((a, b) => a.at - b.at),
    left: ofType(history, 'left'),
    sentAs,
    message: (received) => messages.get(keyOf(received)) as Message,
  };
}

/** When the first delete was answered: from then on the message is gone. */
export function deletedAt({ deletes }: Message): number {
  const done = deletes.filter(({ outcome }) => outcome === 'done');
  return Math.min(...done.map(({ to }) => to));
}

/** The earliest time at which the message may have been deleted; `Infinity` if it cannot have been. */
export function deletableFrom({ deletes }: Message): number {
  const perhaps = deletes.filter(({ outcome }) => outcome !== 'refused');
  return Math.min(...perhaps.map(({ from }) => from));
}

function sendsOf({ queues, group, body, from, to }: PublishEntry): SendEntry[] {
  const outcome = 'unanswered' as const;
  return queues.map((queue) => ({ type: 'send', from, to, queue, group, body, place: 0, outcome }));
}

type Named = Pick<ReceivedEntry, 'messageId' | 'sequence' | 'body' | 'group'>;

/** A message whose number or body changed is another one: a server that forgot it may reuse its id. */
function keyOf({ messageId, sequence = '', body }: Named): string {
  return `${messageId} ${sequence} ${body}`;
}

function groupsOf(messages: readonly Message[]): Message[][] {
  const groups = new Map<string, Message[]>();
  for (const message of messages) {
    if (!message.queue.isFifo) continue;
    const key = `${message.queue.queue} ${message.group}`;
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(message);
  }
  for (const group of groups.values()) group.sort((a, b) => (a.sequence < b.sequence ? -1 : 1));
  return [...groups.values()];
}

function addOnce(messages: Message[], message: Message): void {
  if (!messages.includes(message)) messages.push(message);
}

function ofType<T extends Entry['type']>(
  history: readonly Entry[],
  type: T,
): Extract<Entry, { type: T }>[] {
  return history.filter((entry): entry is Extract<Entry, { type: T }> => entry.type === type);
}
