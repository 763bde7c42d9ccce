/**
 * Checks that an event gives the same bytes each time, by building its message twice in this process. The second time the
 * members of the event are in reverse order, and the global Date is more than a year ahead, by an odd number of hours and
 * minutes, so that year, month, day, hour and minute all differ. A synchronous function cannot escape that.
 *
 * What depends on the process or the machine is found by comparing two processes: built-samples.ts.
 */

import { inspect } from 'node:util';
import type { AnyProducer } from '../producer/define-producer.ts';
import type { ProducerMessage } from '../producer/send.ts';
import { differingMembers } from './byte-difference.ts';
import { type Finding, finding, findingOf } from './findings.ts';

/** 1 year, 37 days, 7 hours, 13 minutes and 11 seconds. */
const laterMs = (((365 + 37) * 24 + 7) * 3_600 + 13 * 60 + 11) * 1_000;

export function notDeterministic(producer: AnyProducer, sample: unknown): Finding[] {
  const first = messageOf(producer, sample);
  const second = later(() => messageOf(producer, withMembersReversed(sample)));
  if (first === undefined || second === undefined) return keyFinding(producer, sample);
  const isKept = isKeptForReplays(producer);
  const members = differingMembers(first.body, second.body).filter(
    (name) => !isKept || name !== 'event_id',
  );
  if (first.groupId !== second.groupId) members.push('the MessageGroupId');
  if (members.length === 0) return [];
  return [finding('not-deterministic', { members: members.join(', ') }, second.body)];
}

/** Whether a replay sends the stored message, because building it again would give another event_id. */
export function isKeptForReplays({ options }: AnyProducer): boolean {
  return options.eventId === 'random';
}

/** The message of an event that has one; the envelope check reports what is wrong with the others. */
export function messageOf(producer: AnyProducer, sample: unknown): ProducerMessage | undefined {
  try {
    const checked = producer.check(sample);
    return checked.ok ? checked.message : undefined;
  } catch {
    return undefined;
  }
}

/** The same value with the members of its plain objects in reverse order, at every depth. Arrays keep their order. */
export function withMembersReversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMembersReversed);
  if (!isPlain(value)) return value;
  const members = Object.entries(value).reverse();
  return Object.fromEntries(members.map(([name, member]) => [name, withMembersReversed(member)]));
}

export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
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

export function later<T>(run: () => T): T {
  const today = globalThis.Date;
  globalThis.Date = new Proxy(today, {
    construct: (target, args: [], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [target.now() + laterMs] : args, newTarget),
    apply: (target) => new target(target.now() + laterMs).toString(),
    get: (target, name, receiver) =>
      name === 'now' ? () => target.now() + laterMs : Reflect.get(target, name, receiver),
  });
  try {
    return run();
  } finally {
    globalThis.Date = today;
  }
}
