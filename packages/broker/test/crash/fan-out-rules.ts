/**
 * Rules about publications: each is in all queues that subscribe or in none, and all of them have the same order.
 */

import { name } from './delivery-rules.ts';
import type { Lives, Message } from './lives.ts';

export function partial({ publications, sentAs }: Lives): string[] {
  const byBody = new Map(publications.map((each) => [each.body, each]));
  const answered = new Set(
    publications.filter(({ outcome }) => outcome === 'done').map(({ body }) => body),
  );
  return [...byBody.values()].flatMap(({ body, queues }) => {
    const missing = queues.filter((queue) => sentAs(queue, body)?.delivered.length === 0);
    const isNowhere = missing.length === queues.length && !answered.has(body);
    if (missing.length === 0 || isNowhere) return [];
    const told = answered.has(body) ? 'answered' : 'delivered';
    return [`"${body}" was ${told} and never delivered in ${missing.join(', ')}`];
  });
}

/** Where a body was delivered as two messages, another rule says so. */
export function orders({ publications, sentAs }: Lives): string[] {
  const groups = new Map<string, Map<string, readonly Message[]>>();
  for (const { group, queues, body } of publications) {
    const messages = queues.map((queue) => sentAs(queue, body)?.delivered ?? []);
    if (messages.some(({ length }) => length !== 1)) continue;
    const key = `${group} ${queues.join(' ')}`;
    const bodies = groups.get(key) ?? new Map<string, readonly Message[]>();
    groups.set(key, bodies.set(body, messages.flat()));
  }
  return [...groups.values()].flatMap((bodies) => {
    const published = [...bodies.values()].sort((a, b) =>
      sequenceOf(a, 0) < sequenceOf(b, 0) ? -1 : 1,
    );
    return published.slice(1).flatMap((later, index) => {
      const earlier = published[index] as readonly Message[];
      return later.flatMap((message, at) =>
        message.sequence > sequenceOf(earlier, at)
          ? []
          : [
              `${name(message)} comes before ${name(earlier[at] as Message)}, unlike in other queues`,
            ],
      );
    });
  });
}

function sequenceOf(messages: readonly Message[], at: number): string {
  return messages[at]?.sequence ?? '';
}
