/**
 * Which events a reader of the stream wants, and with bodies or without: the query of `GET /_oncemq/events`. Unknown names
 * are refused: a filter that is not understood would silently show everything, or nothing.
 */

import { nearestName } from '@oncemq/toolkit/nearest-name';
import type { Event } from '../../core/events.ts';

export interface EventFilter {
  readonly hasBodies: boolean;
  accepts(event: Event): boolean;
}

const parameters = ['queue', 'topic', 'type', 'group', 'bodies'];

/** The maximum number of names in one filter; more are refused. */
const valuesMax = 100;

/** A table, so that the compiler checks that it is complete. */
const types: Readonly<Record<Event['type'], true>> = {
  'queue-created': true,
  'queue-deleted': true,
  'queue-changed': true,
  'queue-purged': true,
  'window-forgotten': true,
  sent: true,
  duplicate: true,
  collision: true,
  'contract-violation': true,
  delivered: true,
  'attempt-replayed': true,
  'visibility-changed': true,
  deleted: true,
  expired: true,
  'dead-lettered': true,
  moved: true,
  'move-task': true,
  'topic-created': true,
  'topic-deleted': true,
  'topic-changed': true,
  'topic-window-forgotten': true,
  subscribed: true,
  'subscription-confirmed': true,
  unsubscribed: true,
  published: true,
  'duplicate-publication': true,
  'publication-violation': true,
  'filtered-out': true,
  'fanned-out': true,
  posted: true,
  'post-failed': true,
  'delivery-failed': true,
  replay: true,
};

/** The filter, or what is wrong with the query. */
export function eventFilter(query: URLSearchParams): EventFilter | string {
  for (const name of query.keys()) {
    if (!parameters.includes(name)) return unknown(`no parameter ${name}`, name, parameters);
  }
  const values = (name: string): ReadonlySet<string> =>
    new Set(query.getAll(name).filter((value) => value !== ''));
  const [queues, topics, wanted, groups] = ['queue', 'topic', 'type', 'group'].map(values) as [
    ReadonlySet<string>,
    ReadonlySet<string>,
    ReadonlySet<string>,
    ReadonlySet<string>,
  ];
  for (const set of [queues, topics, wanted, groups]) {
    if (set.size > valuesMax) return `At most ${valuesMax} values can be given for one parameter.`;
  }
  for (const type of wanted) {
    if (!Object.hasOwn(types, type))
      return unknown(`no event type ${type}`, type, Object.keys(types));
  }
  const bodies = query.get('bodies') ?? 'false';
  if (bodies !== 'true' && bodies !== 'false') return 'bodies must be true or false.';
  const isEverywhere = queues.size === 0 && topics.size === 0;
  return {
    hasBodies: bodies === 'true',
    accepts: (event) =>
      (wanted.size === 0 || wanted.has(event.type)) &&
      (isEverywhere || isAt(event, queues, topics)) &&
      (groups.size === 0 || isOf(event, groups)),
  };
}

/** An event about a moved message also belongs to the queue that it moves to. */
function isAt(event: Event, queues: ReadonlySet<string>, topics: ReadonlySet<string>): boolean {
  if ('queue' in event && queues.has(event.queue)) return true;
  if ('topic' in event && topics.has(event.topic)) return true;
  if (event.type === 'dead-lettered') return queues.has(event.target);
  return event.type === 'moved' && queues.has(event.destination);
}

function isOf(event: Event, groups: ReadonlySet<string>): boolean {
  return 'groupId' in event && event.groupId !== undefined && groups.has(event.groupId);
}

function unknown(what: string, word: string, known: readonly string[]): string {
  const near = nearestName(word, known);
  const hint = near === undefined ? `Choose from ${known.join(', ')}.` : `Did you mean ${near}?`;
  return `There is ${what}. ${hint}`;
}
