/**
 * Checks that an event gives the same bytes each time, by building its message twice, the second time on another day: for
 * that call, the global Date is a day ahead. A synchronous function cannot escape that, so anything derived from the time
 * of sending shows.
 */

import { inspect } from 'node:util';
import type { Envelope } from '../contract/envelope.ts';
import type { AnyProducer } from '../producer/define-producer.ts';
import { type Finding, finding, findingOf } from './findings.ts';

const dayMs = 86_400_000;
export function notDeterministic(producer: AnyProducer, sample: unknown): Finding[] {
  const first = bodyOf(producer, sample);
  const second = aDayLater(() => bodyOf(producer, sample));
  if (first === undefined || second === undefined) return keyFinding(producer, sample);
  const isKept = isKeptForReplays(producer);
  const members = differingMembers(first, second).filter((name) => !isKept || name !== 'event_id');
  if (members.length === 0) return [];
  return [finding('not-deterministic', { members: members.join(', ') }, second)];
}

/** Whether a replay sends the stored message, because building it again would give another event_id. */
export function isKeptForReplays({ options }: AnyProducer): boolean {
  return options.eventId === 'random';
}

/** The members in which two envelopes differ; just `the body` if the texts are not JSON. */
export function differingMembers(first: string, second: string): string[] {
  if (first === second) return [];
  try {
    const [a, b] = [JSON.parse(first), JSON.parse(second)] as [Envelope, Envelope];
    const names = new Set([...Object.keys(a), ...Object.keys(b)]) as Set<keyof Envelope>;
    const differing = [...names].filter(
      (name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]),
    );
    return differing.length === 0 ? ['the order or form of the members'] : differing;
  } catch {
    return ['the body'];
  }
}
function bodyOf(producer: AnyProducer, sample: unknown): string | undefined {
  try {
    const checked = producer.check(sample);
    return checked.ok ? checked.message.body : undefined;
  } catch {
    return undefined;
  }
}

/** The envelope check reports samples without a message; only a changing key is reported here as well. */
function keyFinding(producer: AnyProducer, sample: unknown): Finding[] {
  try {
    const checked = producer.check(sample);
    const isKey = !checked.ok && checked.code === 'key-not-deterministic';
    return isKey ? [findingOf(checked, inspect(sample))] : [];
  } catch {
    return [];
  }
}

export function aDayLater<T>(run: () => T): T {
  const today = globalThis.Date;
  globalThis.Date = new Proxy(today, {
    construct: (target, args: [], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [target.now() + dayMs] : args, newTarget),
    apply: (target) => new target(target.now() + dayMs).toString(),
    get: (target, name, receiver) =>
      name === 'now' ? () => target.now() + dayMs : Reflect.get(target, name, receiver),
  });
  try {
    return run();
  } finally {
    globalThis.Date = today;
  }
}
