/**
 * What a publish request will cost, found out before it changes anything: which subscriptions filter its publications out,
 * and how much is to be written for the others. A request beyond the bounds is refused whole; otherwise it would hold up
 * every other request, since a publication and its deliveries are one transaction (docs/decisions/0005).
 */

import type { Publication } from '../changes.ts';
import { utf8Length } from '../digest/digests.ts';
import { type Refusal, refuse } from '../errors.ts';
import {
  deliveryBytes,
  envelopeAttributeWeight,
  fanOutBytesMax,
  judgedBytesWeight,
} from '../limits.ts';
import { messageFor } from './envelope.ts';
import { matches } from './filter-policy/filter-policy.ts';
import { FilterWork } from './filter-policy/filter-work.ts';
import { PublicationValues } from './filter-policy/publication-values.ts';
import { queueProtocol } from './notification.ts';
import type { Subscription } from './subscription.ts';
import type { Topic } from './topic.ts';

type Texts = Pick<Publication, 'message' | 'messageFor' | 'attributes'>;

const nobody: ReadonlySet<Subscription> = new Set();

export interface PlannedFanOut {
  /** The live subscriptions that filter the publication out. */
  readonly filteredOut: ReadonlySet<Subscription>;
  /** What it costs to write it for the others, by `fanOutBytesMax`, and to judge it. */
  readonly bytes: number;
}

/** `isJudged`: queues have contracts. */
export function planFanOut(
  topic: Topic,
  publications: readonly Texts[],
  isJudged: boolean,
): readonly PlannedFanOut[] | Refusal {
  const live = topic.subscriptions.inOrder().filter(({ isLive }) => isLive);
  const hasFilters = topic.subscriptions.filtering > 0;
  const work = new FilterWork();
  const plan: PlannedFanOut[] = [];
  for (const publication of publications) {
    const out = hasFilters ? filteredOut(live, publication, work) : nobody;
    if (work.isExceeded) return refuse('publication-too-complex');
    const bytes = bytesWritten(live, out, publication);
    if (bytes > fanOutBytesMax) {
      return refuse('publication-too-wide', { count: live.length - out.size });
    }
    const judging = isJudged ? judgedBytes(publication, live.length - out.size) : 0;
    plan.push({ filteredOut: out, bytes: bytes + judging });
  }
  return plan;
}

/** Counts only for how much one turn does: a single publication is never refused because it is judged. */
export function judgedBytes(publication: Texts, deliveries: number): number {
  const { length } = messageFor(publication, queueProtocol);
  return judgedBytesWeight * length + deliveries * deliveryBytes;
}

/** How many of the first publications one transaction may hold; at least one. */
export function fittingInOneTurn(plan: readonly PlannedFanOut[]): number {
  let left = fanOutBytesMax;
  const beyond = plan.findIndex(({ bytes }) => {
    left -= bytes;
    return left < 0;
  });
  return beyond < 0 ? plan.length : Math.max(beyond, 1);
}

/** How a text counts: as it is, or as it is written in an envelope. */
interface Measure {
  plain(text: string): number;
  escaped(text: string): number;
}

/** At most, without reading the text: an escape has six characters, and twelve is four times the bytes of a character. */
const atMost: Measure = { plain: (text) => 12 * text.length, escaped: (text) => 12 * text.length };

const exact: Measure = {
  plain: countedBytes,
  escaped: (text) => countedBytes(JSON.stringify(text)),
};

/** A text with other characters than those of ASCII takes nearly four times the time for each byte. */
function countedBytes(text: string): number {
  const bytes = utf8Length(text);
  return bytes === text.length ? bytes : 4 * bytes;
}

/** The most that it can be if that is little enough; what it is otherwise. */
function bytesWritten(
  live: readonly Subscription[],
  out: ReadonlySet<Subscription>,
  publication: Texts,
): number {
  const most = bytesBy(atMost, live, out, publication);
  return most <= fanOutBytesMax ? most : bytesBy(exact, live, out, publication);
}

function bytesBy(
  measure: Measure,
  live: readonly Subscription[],
  out: ReadonlySet<Subscription>,
  publication: Texts,
): number {
  let plainAttributes = 0;
  let attributes = 0;
  for (const { name, type, value } of publication.attributes) {
    const isText = typeof value === 'string';
    plainAttributes += name.length + type.length + (isText ? measure.plain(value) : value.length);
    // Binary values are written in base64.
    const written = isText ? measure.escaped(value) : 2 * value.length;
    attributes += envelopeAttributeWeight * (name.length + type.length + written);
  }
  const known = new Map<string, number>();
  let bytes = 0;
  for (const subscription of live) {
    if (out.has(subscription)) continue;
    const { kept, isRaw } = subscription;
    const form = `${isRaw} ${kept.protocol}`;
    let length = known.get(form);
    if (length === undefined) {
      const message = messageFor(publication, kept.protocol);
      length = isRaw
        ? measure.plain(message) + plainAttributes
        : measure.escaped(message) + attributes;
      known.set(form, length);
    }
    bytes += deliveryBytes + length;
  }
  return bytes;
}

/** Means nothing if the work is exceeded. */
export function filteredOut(
  subscriptions: readonly Subscription[],
  publication: Texts,
  work: FilterWork,
): ReadonlySet<Subscription> {
  const values = new Map<string, PublicationValues>();
  const out = new Set<Subscription>();
  for (const subscription of subscriptions) {
    const { filter, kept } = subscription;
    if (filter === undefined) continue;
    if (work.isExceeded) break;
    const message = messageFor(publication, kept.protocol);
    let known = values.get(message);
    if (known === undefined) {
      known = new PublicationValues(message, publication.attributes, work);
      values.set(message, known);
    }
    if (!matches(filter, known)) out.add(subscription);
  }
  return out;
}
