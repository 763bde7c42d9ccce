/**
 * Rules about order. On FIFO queues sequence numbers rise in the order of the sends, and a receive's messages of a
 * group are always the head of what the group still has: while an earlier one is in flight or was skipped, no later one is
 * delivered. On all queues a message's receive count rises.
 */

import { name } from './delivery-rules.ts';
import { deletableFrom, type Lives, type Message, type Sent } from './lives.ts';

/** A send that begins after another has ended gets a higher number; messages of one batch get theirs in its order. */
export function sequences({ sent }: Lives): string[] {
  const found: string[] = [];
  for (const group of byGroup(sent)) {
    const begun = group.sort((a, b) => a.from - b.from || a.place - b.place);
    const over = [...group].sort((a, b) => a.over - b.over);
    let highest: Numbered | undefined;
    let next = 0;
    const batches = new Map<string, Numbered>();
    for (const each of begun) {
      for (let one = over[next]; one && one.over <= each.from; one = over[++next]) {
        if (highest === undefined || one.message.sequence > highest.message.sequence) highest = one;
      }
      for (const earlier of [highest, batches.get(each.batch)]) {
        if (earlier !== undefined && each.message.sequence <= earlier.message.sequence) {
          found.push(`${name(each.message)} was sent after ${name(earlier.message)}`);
        }
      }
      batches.set(each.batch, each);
    }
  }
  return found;
}

interface Numbered {
  readonly message: Message;
  /** When its first send began. */
  readonly from: number;
  readonly place: number;
  /** When it was first answered, or the last try was over: its number was drawn before. */
  readonly over: number;
  /** The same for those that were sent together, in the same order at every try, until there was an answer. */
  readonly batch: string;
}

function byGroup(sent: readonly Sent[]): Numbered[][] {
  const groups = new Map<string, Numbered[]>();
  for (const { queue, group, body, sends, answered, delivered } of sent) {
    const message = answered[0] ?? delivered[0];
    const [first] = sends;
    if (!queue.isFifo || message === undefined || first === undefined) continue;
    const answer = sends.find(({ outcome }) => outcome === 'done') ?? sends.at(-1) ?? first;
    const tries = sends.slice(0, sends.indexOf(answer) + 1);
    const isSteady = tries.every(({ place }) => place === first.place);
    const batch = isSteady ? tries.map(({ from }) => from).join(' ') : body;
    const key = `${queue.queue} ${group}`;
    const list = groups.get(key) ?? [];
    groups.set(key, list);
    const { from, place } = first;
    list.push({ message, from, place, over: answer.to, batch });
  }
  return [...groups.values()];
}

/** Each message is reported once, by the first receive that passed it over. */
export function overtaken({ groups, receives, message }: Lives): string[] {
  const found: string[] = [];
  const places = new Map(groups.flatMap((group) => group.map((each, place) => [each, place])));
  const heads = new Map(groups.map((group) => [group, 0]));
  const groupOf = new Map(groups.flatMap((group) => group.map((each) => [each, group])));
  const claimed = new Set<Message>();
  for (const receive of receives) {
    const mayBeGone = (each: Message): boolean =>
      claimed.has(each) || deletableFrom(each) < receive.to;
    const taken = new Set<Message>();
    for (const each of receive.messages.map(message)) {
      taken.add(each);
      const group = groupOf.get(each);
      if (group === undefined) continue;
      // What may be gone at this receive may be gone at all that were answered later.
      let head = heads.get(group) as number;
      while (head < group.length && mayBeGone(group[head] as Message)) head += 1;
      heads.set(group, head);
      for (const earlier of group.slice(head, places.get(each))) {
        if (taken.has(earlier) || mayBeGone(earlier)) continue;
        claimed.add(earlier);
        found.push(`${name(each)} was delivered although ${name(earlier)} was still there`);
      }
    }
  }
  return found;
}

/** A repeated attempt gives the same receipt and is the same receive; every other receive raises the count. */
export function receiveCounts({ messages }: Lives): string[] {
  return messages.flatMap((message) =>
    message.deliveries.flatMap((later, index) =>
      message.deliveries
        .slice(0, index)
        .filter((earlier) => {
          const one = earlier.received.receiveCount;
          const other = later.received.receiveCount;
          if (earlier.received.receipt === later.received.receipt) return one !== other;
          return one === other || (earlier.receive.to <= later.receive.from && one > other);
        })
        .map((earlier) => {
          const counts = [earlier, later].map(({ received }) => received.receiveCount);
          return `${name(message)} counted its receives ${counts.join(', then ')}`;
        }),
    ),
  );
}
