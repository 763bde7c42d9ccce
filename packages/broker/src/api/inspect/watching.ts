/**
 * Records activity while somebody watches: how much each queue sends and delivers, the content of recent sends, where
 * publications went. Reading the event stream has a cost, so it starts listening with the first request, and stops at the
 * first event after a while without requests. It is bounded and in memory; times are of the server's clock.
 */

import type { MessageContent } from '../../core/changes.ts';
import type { Event, TopicEvent } from '../../core/events.ts';
import type { Backend } from '../../storage/backend.ts';

/** Counts of the last five minutes; `…PerSecond` are rates over the last ten to twenty seconds. */
export interface Activity {
  readonly sentPerSecond: number;
  readonly suppressedPerSecond: number;
  readonly deliveredPerSecond: number;
  readonly deletedPerSecond: number;
  /** In parts of ten seconds, oldest first; the last one is the current one. */
  readonly sent: readonly number[];
  readonly suppressed: readonly number[];
}

export type DeliveryEvent = Extract<
  TopicEvent,
  { readonly type: 'filtered-out' | 'fanned-out' | 'posted' | 'post-failed' | 'delivery-failed' }
>;

const watchedMs = 60_000;
const parts = 30;
const partMs = 10_000;
/** Queues beyond this number are not counted, and topics beyond it have no deliveries. */
const watchedNamesMax = 10_000;
const deliveriesMax = 50;
/** The total size of the remembered contents, in characters; one of more than a sixteenth of it is not remembered. */
const contentCharsMax = 1024 * 1024;

const counted = ['sent', 'duplicate', 'delivered', 'deleted'] as const;
type Counted = (typeof counted)[number];

interface Counts {
  /** The newest part, numbered since the epoch; each part is stored at its number modulo `parts`. */
  newest: number;
  readonly of: Readonly<Record<Counted, Uint32Array>>;
}

export class Watching {
  readonly #backend: Backend;
  readonly #counts: Map<string, Counts> = new Map();
  readonly #deliveries: Map<string, DeliveryEvent[]> = new Map();
  /** Oldest first, since a Map keeps insertion order. */
  readonly #contents: Map<string, MessageContent> = new Map();
  #contentChars = 0;
  #askedAt = 0;
  #since = 0;
  #stop: (() => void) | undefined;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Call this whenever somebody watches. */
  keepUp(): void {
    this.#askedAt = performance.now();
    if (this.#stop !== undefined) return;
    this.#since = this.#backend.now();
    this.#stop = this.#backend.listen(
      (event) => this.#note(event),
      () => this.#forget(),
    );
  }

  /** When counting began, by the server's clock. */
  get since(): number {
    return this.#since;
  }

  activity(queue: string, now: number): Activity | undefined {
    const counts = this.#counts.get(queue);
    if (counts === undefined) return undefined;
    moveOn(counts, now);
    const inOrder = (name: Counted): number[] =>
      Array.from({ length: parts }, (_, part) => partOf(counts, name, part - parts + 1));
    const perSecond = (name: Counted): number =>
      (partOf(counts, name, -1) + partOf(counts, name, 0)) / ((partMs + (now % partMs)) / 1000);
    return {
      sentPerSecond: perSecond('sent'),
      suppressedPerSecond: perSecond('duplicate'),
      deliveredPerSecond: perSecond('delivered'),
      deletedPerSecond: perSecond('deleted'),
      sent: inOrder('sent'),
      suppressed: inOrder('duplicate'),
    };
  }

  /** The content of a recent send to a FIFO queue, if it was watched and is still remembered. */
  contentOf(queue: string, sequence: number): MessageContent | undefined {
    return this.#contents.get(contentKey(queue, sequence));
  }

  /** The latest deliveries, oldest first. */
  deliveries(topic: string): readonly DeliveryEvent[] {
    return this.#deliveries.get(topic) ?? [];
  }

  #note(event: Event): void {
    if (performance.now() - this.#askedAt > watchedMs) {
      this.#stopListening();
      return;
    }
    switch (event.type) {
      case 'sent':
        if (event.groupId !== undefined) this.#remember(event);
        this.#count(event.queue, event.type, event.at);
        break;
      case 'duplicate':
      case 'delivered':
      case 'deleted':
        this.#count(event.queue, event.type, event.at);
        break;
      case 'filtered-out':
      case 'fanned-out':
      case 'posted':
      case 'post-failed':
      case 'delivery-failed':
        this.#noteDelivery(event);
        break;
      case 'queue-deleted':
        this.#counts.delete(event.queue);
        this.#forgetContents(event.queue);
        break;
      case 'queue-purged':
      case 'window-forgotten':
        this.#forgetContents(event.queue);
        break;
      case 'topic-deleted':
        this.#deliveries.delete(event.topic);
        break;
    }
  }

  #stopListening(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#forget();
  }

  #forget(): void {
    this.#counts.clear();
    this.#deliveries.clear();
    this.#contents.clear();
    this.#contentChars = 0;
  }

  #count(queue: string, name: Counted, at: number): void {
    let counts = this.#counts.get(queue);
    if (counts === undefined) {
      if (this.#counts.size >= watchedNamesMax) return;
      const [sent, duplicate, delivered, deleted] = counted.map(() => new Uint32Array(parts));
      const of = { sent, duplicate, delivered, deleted } as Counts['of'];
      counts = { newest: Math.floor(at / partMs), of };
      this.#counts.set(queue, counts);
    }
    moveOn(counts, at);
    const slot = counts.newest % parts;
    counts.of[name][slot] = (counts.of[name][slot] as number) + 1;
  }

  #remember({ queue, sequence, content }: Extract<Event, { readonly type: 'sent' }>): void {
    const key = contentKey(queue, sequence);
    const before = this.#contents.get(key);
    if (before !== undefined) this.#forgetContent(key, before);
    const chars = charsOf(content);
    if (chars > contentCharsMax / 16) return;
    this.#contents.set(key, content);
    this.#contentChars += chars;
    for (const [oldest, old] of this.#contents) {
      if (this.#contentChars <= contentCharsMax) break;
      this.#forgetContent(oldest, old);
    }
  }

  /** Forgets sends that are in no window anymore. A queue that is created again restarts its sequence numbers. */
  #forgetContents(queue: string): void {
    const beginning = contentKey(queue, '');
    for (const [key, content] of this.#contents) {
      if (key.startsWith(beginning)) this.#forgetContent(key, content);
    }
  }

  #forgetContent(key: string, content: MessageContent): void {
    this.#contents.delete(key);
    this.#contentChars -= charsOf(content);
  }

  #noteDelivery(event: DeliveryEvent): void {
    const latest = this.#deliveries.get(event.topic) ?? [];
    if (latest.length === 0 && this.#deliveries.size >= watchedNamesMax) return;
    this.#deliveries.set(event.topic, latest);
    latest.push(event);
    if (latest.length > deliveriesMax) latest.shift();
  }
}

/** Unambiguous, since no queue name contains a slash. */
function contentKey(queue: string, sequence: number | ''): string {
  return `${queue}/${sequence}`;
}

/** Empties the parts between the newest one and that of `now`. */
function moveOn(counts: Counts, now: number): void {
  const newest = Math.floor(now / partMs);
  const first = Math.max(counts.newest + 1, newest - parts + 1);
  for (let part = first; part <= newest; part += 1) {
    for (const name of counted) counts.of[name][part % parts] = 0;
  }
  counts.newest = Math.max(counts.newest, newest);
}

/** `back` is 0 for the current part, -1 for the one before it. */
function partOf({ newest, of }: Counts, name: Counted, back: number): number {
  return of[name][(newest + back) % parts] as number;
}

function charsOf({ body, attributes }: MessageContent): number {
  return attributes.reduce(
    (sum, { name, type, value }) => sum + name.length + type.length + value.length,
    body.length + 200,
  );
}
