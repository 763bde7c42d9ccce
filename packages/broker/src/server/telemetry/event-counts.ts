/**
 * Counts what happens to messages and publications. It reads the event stream, so it counts nothing before it is kept, and
 * nothing that was lost. Counting is always on and cheap: an event costs one map lookup and one addition. The counts of a
 * queue or topic begin when it is created, or when the server starts.
 */

import { Buffer } from 'node:buffer';
import type { DeduplicationSource } from '../../core/changes.ts';
import { differencesIn } from '../../core/deduplication/difference.ts';
import type {
  DuplicateEvent,
  DuplicatePublicationEvent,
  Event,
  Suppressed,
} from '../../core/events.ts';
import { BoundedSeries } from './bounded-series.ts';
import { Histogram } from './histogram.ts';

/** What the window of a queue or topic suppressed. */
export class WindowCounts {
  readonly hits: BySource = { explicit: 0, content: 0 };
  readonly collisions: BySource = { explicit: 0, content: 0 };

  note({ source, differed }: Suppressed): void {
    this.hits[source] += 1;
    // Broader than `collision` elsewhere: it includes differences under an explicit id. `source` distinguishes the two.
    if (differencesIn(differed).length > 0) this.collisions[source] += 1;
  }
}

export class QueueCounts {
  readonly since: number = Date.now();
  sent = 0;
  delivered = 0;
  deleted = 0;
  expired = 0;
  deadLettered = 0;
  moved = 0;
  purged = 0;
  readonly window: WindowCounts = new WindowCounts();
  /** By the code of the rule. */
  readonly violations: Map<string, number> = new Map();
  /** Only of FIFO queues, and only once something was sent. */
  readonly bodyLengths: Map<DeduplicationSource, Histogram> = new Map();

  measureBody(source: DeduplicationSource, body: string): void {
    let lengths = this.bodyLengths.get(source);
    if (lengths === undefined) {
      lengths = new Histogram('sqs_fifo.body_hash.length_bytes');
      this.bodyLengths.set(source, lengths);
    }
    lengths.record(Buffer.byteLength(body));
  }
}

export class TopicCounts {
  readonly since: number = Date.now();
  readonly window: WindowCounts = new WindowCounts();
  readonly publications: { published: number; duplicate: number } = { published: 0, duplicate: 0 };
  readonly deliveries: { queued: number; posted: number; filtered: number; failed: number } = {
    queued: 0,
    posted: 0,
    filtered: 0,
    failed: 0,
  };
  /** By the code of the rule. */
  readonly violations: Map<string, number> = new Map();
}

export type BySource = Record<DeduplicationSource, number>;

export class EventCounts {
  readonly queues: BoundedSeries<QueueCounts> = new BoundedSeries(() => new QueueCounts());
  readonly topics: BoundedSeries<TopicCounts> = new BoundedSeries(() => new TopicCounts());

  note(event: Event): void {
    switch (event.type) {
      case 'sent': {
        const queue = this.queues.of(event.queue);
        queue.sent += 1;
        // Only a send to a FIFO queue has a deduplication id, and so a source.
        if (event.source !== undefined) queue.measureBody(event.source, event.content.body);
        break;
      }
      case 'delivered':
        this.queues.of(event.queue).delivered += 1;
        break;
      case 'deleted':
        this.queues.of(event.queue).deleted += 1;
        break;
      case 'duplicate':
        this.#noteDuplicate(event);
        break;
      case 'expired':
        this.queues.of(event.queue).expired += 1;
        break;
      case 'dead-lettered':
        this.queues.of(event.queue).deadLettered += 1;
        break;
      case 'moved':
        this.queues.of(event.queue).moved += 1;
        break;
      case 'queue-purged':
        this.queues.of(event.queue).purged += event.messages;
        break;
      case 'contract-violation':
        addTo(this.queues.of(event.queue).violations, event.rule);
        break;
      case 'publication-violation':
        addTo(this.topics.of(event.topic).violations, event.rule);
        break;
      case 'queue-created':
        this.queues.of(event.queue);
        break;
      case 'queue-deleted':
        this.queues.remove(event.queue);
        break;
      case 'topic-created':
        this.topics.of(event.topic);
        break;
      case 'published':
        this.topics.of(event.topic).publications.published += 1;
        break;
      case 'duplicate-publication':
        this.#noteDuplicatePublication(event);
        break;
      case 'fanned-out':
        this.topics.of(event.topic).deliveries.queued += 1;
        break;
      case 'posted':
        this.topics.of(event.topic).deliveries.posted += 1;
        break;
      case 'filtered-out':
        this.topics.of(event.topic).deliveries.filtered += 1;
        break;
      case 'delivery-failed':
        this.topics.of(event.topic).deliveries.failed += 1;
        break;
      case 'topic-deleted':
        this.topics.remove(event.topic);
        break;
      default:
    }
  }

  #noteDuplicate(event: DuplicateEvent): void {
    const queue = this.queues.of(event.queue);
    queue.window.note(event);
    queue.measureBody(event.source, event.content.body);
  }

  #noteDuplicatePublication(event: DuplicatePublicationEvent): void {
    const { publications, window } = this.topics.of(event.topic);
    publications.duplicate += 1;
    window.note(event);
  }
}

function addTo(violations: Map<string, number>, rule: string): void {
  violations.set(rule, (violations.get(rule) ?? 0) + 1);
}
