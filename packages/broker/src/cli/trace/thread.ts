/**
 * Decides what belongs to one story: it starts from the requested id and grows by the ids in its records. A record belongs
 * to the story if it is about one of its messages or events; then the other ids in the record do too: the message that a
 * publication became in a queue, the new id after a move, the original of a duplicate.
 *
 * A duplicate of one of its messages belongs to the story, but does not pull in other records about the duplicate's event.
 */

import type { LedgerRecord } from '../../server/ledger/record.ts';

/** How many ids are searched for in each block as bytes; with more, parsing every record is cheaper. */
const needlesMax = 24;

export class Thread {
  /** The requested id, which may be of any kind. */
  readonly #asked: string;
  readonly #messages: Set<string> = new Set();
  readonly #events: Set<string> = new Set();
  /** A key identifies an event within its source. */
  readonly #keys: Map<string, string> = new Map();
  /** A violation has no message id; it belongs to what was sent to the same queue with the same body. */
  readonly #bodies: Map<string, string> = new Map();
  /** Undefined if there are too many. */
  #needles: readonly Buffer[] | undefined;
  #size = 0;

  constructor(asked: string) {
    this.#asked = asked;
    this.#messages.add(asked);
    this.#events.add(asked);
    this.#update();
  }

  /** The number of ids in it. */
  get size(): number {
    return this.#size;
  }

  /** Whether a block of the ledger may hold a record of the story. */
  mayHold(block: Buffer): boolean {
    return this.#needles === undefined || this.#needles.some((needle) => block.includes(needle));
  }

  /** Whether the record belongs to the story; if it is about the story, its ids belong to it from now on. */
  take(record: LedgerRecord): boolean {
    if (this.#isAbout(record)) {
      this.#grow(record);
      return true;
    }
    return this.#hasMessage(record.original_message_id);
  }

  #isAbout(record: LedgerRecord): boolean {
    const { event, event_id: eventId, dedupe_key: key, body_sha256: hash } = record;
    return (
      this.#hasMessage(record.message_id) ||
      this.#hasMessage(record.new_message_id) ||
      this.#hasMessage(record.queue_message_id) ||
      (eventId !== undefined && this.#events.has(eventId)) ||
      (key !== undefined && (key === this.#asked || this.#keys.has(inSource(record, key)))) ||
      record.deduplication_id === this.#asked ||
      (event === 'violation' && hash !== undefined && this.#bodies.has(inQueue(record, hash)))
    );
  }

  #hasMessage(id: string | undefined): boolean {
    return id !== undefined && this.#messages.has(id);
  }

  #grow(record: LedgerRecord): void {
    const { message_id, new_message_id, queue_message_id, original_message_id } = record;
    for (const id of [message_id, new_message_id, queue_message_id, original_message_id]) {
      if (id !== undefined) this.#messages.add(id);
    }
    const { event_id: eventId, dedupe_key: key, body_sha256: hash } = record;
    if (eventId !== undefined) this.#events.add(eventId);
    if (key !== undefined) this.#keys.set(inSource(record, key), key);
    if (hash !== undefined) this.#bodies.set(inQueue(record, hash), hash);
    this.#update();
  }

  #update(): void {
    const size = this.#messages.size + this.#events.size + this.#keys.size + this.#bodies.size;
    if (size === this.#size) return;
    this.#size = size;
    const names = [this.#messages, this.#events, this.#keys.values(), this.#bodies.values()];
    // As written in the file: quoted and escaped.
    this.#needles =
      size > needlesMax
        ? undefined
        : names.flatMap((some) => [...some].map((name) => Buffer.from(JSON.stringify(name))));
  }
}

function inSource({ event_source }: LedgerRecord, key: string): string {
  return `${event_source ?? ''}\n${key}`;
}

function inQueue({ queue }: LedgerRecord, hash: string): string {
  return `${queue ?? ''}\n${hash}`;
}
