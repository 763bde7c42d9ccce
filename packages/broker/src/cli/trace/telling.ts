/**
 * Selects the records of a story while a ledger is read: its own, and other records that explain where its messages went
 * or why one was accepted again. It decides record by record, so that unrelated records do not use up the story's limit.
 * The other records are:
 *
 *   a purge, a deleted queue   if a message of the story was in the queue
 *   an emptied window          by a purge, a deletion or on request: if the story continues with another message there
 *   a hole in the ledger       if the story continues after it, or one of its messages may have left a queue during it
 */

import type { LedgerEvent, LedgerRecord } from '../../server/ledger/record.ts';

export const storyMax = 10_000;

const holes: readonly LedgerEvent[] = ['gap', 'opened'];
const emptyings: readonly LedgerEvent[] = ['purged', 'queue-deleted', 'window-forgotten'];
const asideNeedles = [...holes, ...emptyings].map((event) => Buffer.from(`"event":"${event}"`));

interface Noted {
  readonly record: LedgerRecord;
  /** Later records decide whether some are needed. */
  isNeeded: boolean;
}

export class Telling {
  /** In the order of the ledger. */
  readonly #noted: Noted[] = [];
  #needed = 0;
  /** The holes after the latest needed record. */
  #holes: Noted[] = [];
  /** The queue that each message is in. */
  readonly #queueOf: Map<string, string | undefined> = new Map();
  /** Queues and topics whose windows may hold an entry of the story; and the records that emptied the other windows. */
  readonly #windows: Set<string> = new Set();
  readonly #emptied: Map<string, Noted> = new Map();

  get hasBegun(): boolean {
    return this.#needed > 0;
  }

  get isFull(): boolean {
    return this.#needed >= storyMax;
  }

  get records(): readonly LedgerRecord[] {
    // A message that seems to be still in a queue may have left it during a hole.
    const last = new Set(this.#queueOf.size > 0 ? this.#holes : []);
    const told = this.#noted.filter((each) => each.isNeeded || last.has(each));
    return told.map(({ record }) => record);
  }

  /** Whether a block of the ledger may hold other records that matter. */
  mayHoldAside(block: Buffer): boolean {
    return this.hasBegun && asideNeedles.some((needle) => block.includes(needle));
  }

  /** A record of the story. */
  add(record: LedgerRecord): void {
    if (record.event === 'accepted' || record.event === 'published') {
      const owner = ownerOf(record);
      const emptied = this.#emptied.get(owner);
      if (emptied !== undefined) this.#need(emptied);
      this.#emptied.delete(owner);
      this.#windows.add(owner);
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
    const owner = ownerOf(record);
    const gone = record.event === 'window-forgotten' ? [] : this.#messagesIn(record.queue);
    for (const id of gone) this.#queueOf.delete(id);
    const isEmptied = this.#windows.delete(owner);
    if (gone.length === 0 && !isEmptied) return;
    const noted = this.#note(record);
    if (gone.length > 0) this.#need(noted);
    else this.#emptied.set(owner, noted);
  }

  #note(record: LedgerRecord): Noted {
    const noted = { record, isNeeded: false };
    this.#noted.push(noted);
    return noted;
  }

  /** Marks the record, and the holes before it, as needed. */
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

function ownerOf({ queue, topic }: LedgerRecord): string {
  return queue === undefined ? `topic ${topic}` : `queue ${queue}`;
}
