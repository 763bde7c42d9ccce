/**
 * What is told of a story while a ledger is read: its own records, and of those aside what explains where its messages went
 * or why one was accepted again. That is decided record by record, so that what has nothing to do with the story takes no
 * room in it.
 *
 *   a purge, the end of a queue   if a message of the story was in the queue
 *   an emptied window             by a purge, the end of a queue or as asked: if the story goes on with another message there
 *   a hole in the ledger          if the story goes on behind it, or one of its messages may have left a queue in it
 */

import type { LedgerEvent, LedgerRecord } from '../../server/ledger/record.ts';

export const storyMax = 10_000;

const holes: readonly LedgerEvent[] = ['gap', 'opened'];
const emptyings: readonly LedgerEvent[] = ['purged', 'queue-deleted', 'window-forgotten'];
const asideNeedles = [...holes, ...emptyings].map((event) => Buffer.from(`"event":"${event}"`));

interface Noted {
  readonly record: LedgerRecord;
  /** Some are only needed by what may follow. */
  isNeeded: boolean;
}

export class Telling {
  /** In the order of the ledger. */
  readonly #noted: Noted[] = [];
  #needed = 0;
  /** Behind the latest that is needed. */
  #holes: Noted[] = [];
  /** Where each message is. */
  readonly #queueOf: Map<string, string | undefined> = new Map();
  /** Queues and topics in whose windows the story may have an entry; and what emptied the windows of others. */
  readonly #windows: Set<string> = new Set();
  readonly #emptied: Map<string, Noted> = new Map();

  get hasBegun(): boolean {
    return this.#needed > 0;
  }

  get isFull(): boolean {
    return this.#needed >= storyMax;
  }

  get records(): readonly LedgerRecord[] {
    // Whoever is still in a queue may have left it in a hole.
    const last = new Set(this.#queueOf.size > 0 ? this.#holes : []);
    const told = this.#noted.filter((each) => each.isNeeded || last.has(each));
    return told.map(({ record }) => record);
  }

  /** Whether a block of the ledger may hold something that is aside and matters. */
  mayHoldAside(block: Buffer): boolean {
    return this.hasBegun && asideNeedles.some((needle) => block.includes(needle));
  }

  /** A record of the story. */
  add(record: LedgerRecord): void {
    if (record.event === 'accepted' || record.event === 'published') {
      const place = placeOf(record);
      const emptied = this.#emptied.get(place);
      if (emptied !== undefined) this.#need(emptied);
      this.#emptied.delete(place);
      this.#windows.add(place);
    }
    this.#follow(record);
    this.#need(this.#note(record));
  }

  /** Any other record. */
  addAside(record: LedgerRecord): void {
    if (!this.hasBegun) return;
    const { event, clean } = record;
    if (emptyings.includes(event)) this.#addEmptying(record);
    else if (event === 'gap' || (event === 'opened' && clean === false)) {
      if (this.#holes.length < storyMax) this.#holes.push(this.#note(record));
    }
  }

  #addEmptying(record: LedgerRecord): void {
    const place = placeOf(record);
    const gone = record.event === 'window-forgotten' ? [] : this.#messagesIn(record.queue);
    for (const id of gone) this.#queueOf.delete(id);
    const isEmptied = this.#windows.delete(place);
    if (gone.length === 0 && !isEmptied) return;
    const noted = this.#note(record);
    if (gone.length > 0) this.#need(noted);
    else this.#emptied.set(place, noted);
  }

  #note(record: LedgerRecord): Noted {
    const noted = { record, isNeeded: false };
    this.#noted.push(noted);
    return noted;
  }

  /** It, and the holes before it. */
  #need(noted: Noted): void {
    for (const each of [...this.#holes, noted]) each.isNeeded = true;
    this.#needed += this.#holes.length + 1;
    this.#holes = [];
  }

  #messagesIn(queue: string | undefined): string[] {
    return [...this.#queueOf].flatMap(([id, where]) => (where === queue ? [id] : []));
  }

  #follow({ event, message_id: id = '', new_message_id, queue, target }: LedgerRecord): void {
    if (event === 'accepted') this.#queueOf.set(id, queue);
    else if (event === 'dead-lettered') this.#queueOf.set(id, target);
    else if (event === 'moved') {
      this.#queueOf.delete(id);
      this.#queueOf.set(new_message_id ?? '', target);
    } else if (event === 'deleted' || event === 'expired') this.#queueOf.delete(id);
  }
}

function placeOf({ queue, topic }: LedgerRecord): string {
  return queue === undefined ? `topic ${topic}` : `queue ${queue}`;
}
