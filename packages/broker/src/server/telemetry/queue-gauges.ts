/**
 * What the queues hold now, looked up whenever metrics are collected. Queues without a series of their own are added up.
 *
 * Queues are described a hundred at a time, yielding to the event loop in between, so that many queues do not delay other
 * work. The hundred are described concurrently, because on disk each description waits for the commit in progress. A node over
 * PostgreSQL does not load them for that.
 */

import { describing } from '../../api/inspect/describing.ts';
import { nextTurn } from '../../api/next-turn.ts';
import type { QueueDescription } from '../../core/commands.ts';
import type { Backend } from '../../storage/backend.ts';
import type { Counts } from './counts.ts';
import type { Measured, NumberName, Point } from './measured.ts';
import { queueNames } from './names.ts';

const queuesAtOnce = 100;

interface Held {
  isFifo: boolean;
  visible: number;
  inFlight: number;
  delayed: number;
  oldestAgeSeconds: number;
  groups: number;
  blockedGroups: number;
  windowEntries: number;
}

export async function queueGauges(counts: Counts, backend: Backend): Promise<Measured[]> {
  const { queues } = counts.events;
  const names = await queueNames(backend);
  queues.makeRoom(names);
  const held = new Map<string, Held>();
  for (let from = 0; from < names.length; from += queuesAtOnce) {
    const some = names.slice(from, from + queuesAtOnce);
    const describe = await describing(backend, some);
    // Undefined if the queue was deleted meanwhile, or if the changes it depends on could not be kept.
    const found = await Promise.all(some.map((name) => describe(name).catch(() => undefined)));
    const now = backend.now();
    for (const [at, name] of some.entries()) {
      const description = found[at];
      if (description?.ok) add(held, queues.shownName(name), description, now);
    }
    await nextTurn();
  }
  return gaugesOf([...held], names.length, counts.since);
}

function add(held: Map<string, Held>, name: string, found: QueueDescription, now: number): void {
  const { isFifo, oldestSentAt = now } = found;
  const before = held.get(name) ?? empty;
  const ageSeconds = (now - oldestSentAt) / 1000;
  held.set(name, {
    isFifo: before.isFifo || isFifo,
    visible: before.visible + found.visible,
    inFlight: before.inFlight + found.inFlight,
    delayed: before.delayed + found.delayed,
    oldestAgeSeconds: Math.max(before.oldestAgeSeconds, ageSeconds),
    groups: before.groups + found.groups,
    blockedGroups: before.blockedGroups + found.blockedGroups,
    windowEntries: before.windowEntries + found.windowEntries,
  });
}

const empty: Held = {
  isFifo: false,
  visible: 0,
  inFlight: 0,
  delayed: 0,
  oldestAgeSeconds: 0,
  groups: 0,
  blockedGroups: 0,
  windowEntries: 0,
};

function gaugesOf(held: readonly [string, Held][], count: number, since: number): Measured[] {
  const fifo = held.filter(([, { isFifo }]) => isFifo);
  const gauge = (
    name: NumberName,
    queues: readonly [string, Held][],
    read: (held: Held) => number,
  ): Measured => ({
    name,
    points: queues.map(([queue, each]): Point<number> => {
      return { attributes: { queue }, value: read(each), since };
    }),
  });
  return [
    gauge('oncemq.queue.visible', held, ({ visible }) => visible),
    gauge('oncemq.queue.in_flight', held, ({ inFlight }) => inFlight),
    gauge('oncemq.queue.delayed', held, ({ delayed }) => delayed),
    gauge('oncemq.queue.oldest_age', held, ({ oldestAgeSeconds }) => oldestAgeSeconds),
    gauge('oncemq.queue.groups', fifo, ({ groups }) => groups),
    gauge('oncemq.queue.groups_blocked', fifo, ({ blockedGroups }) => blockedGroups),
    gauge('oncemq.queue.window_entries', fifo, ({ windowEntries }) => windowEntries),
    { name: 'oncemq.queues', points: [{ attributes: {}, value: count, since }] },
  ];
}
