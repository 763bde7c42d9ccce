/**
 * The deduplication window of one FIFO queue or topic: every send accepted within the last `DeduplicationIntervalSeconds`,
 * whatever has become of its message since (rules 11.8–11.14). 74 to 84 bytes an entry: 64 in a slab, the rest in the index.
 *
 * Ids and groups are held as digests of a fixed size (window-digests.ts). The texts are kept with the entry (changes.ts) for
 * whoever needs to read them.
 *
 * Both scopes use the same entries: the queue's current setting decides whether the group is part of the key. Changing
 * the setting re-files the entries and forgets none.
 *
 * Entries expire in the order in which they came, so expiry takes from the front of one chain. Under the profile
 * `yandex` an entry is filed a second time by its body's hash.
 */

import type { DeduplicationSource, KeptWindowEntry, WindowDigests, WindowKey } from '../changes.ts';
import { HashIndex } from '../structures/hash-index.ts';
import { HashOrder } from '../structures/hash-order.ts';
import { none, Slab } from '../structures/slab.ts';
import type { Difference } from './difference.ts';
import type { WindowDigester } from './window-digests.ts';

export type DeduplicationScope = 'queue' | 'messageGroup';

const idWord = 0;
const groupWord = 4;
const newerWord = 7;
const olderWord = 8;
/** The next younger row of the same hash; the youngest points to the oldest, which makes it a ring. */
const ringWord = 9;
const sequenceWord = 10;
const acceptedAtWord = 12;
const bodyWord = 14;
/** Thirty bits of the attributes' digest, and two flags. */
const attributesWord = 15;
const words = 16;

/** From this many entries on, a load puts them into the index in order. */
const arrivingMin = 100_000;

/** The id was computed from the body. */
const isContent = 1;
/** This row files the entry by its body. */
const isByBody = 2;
const flags: number = isContent | isByBody;

/** An entry that a send matched, or that is inspected. */
export interface WindowMatch {
  readonly sequence: number;
  readonly acceptedAt: number;
  readonly source: DeduplicationSource;
}

export class DeduplicationWindow {
  readonly #rows: Slab = new Slab(words);
  readonly #index: HashIndex = new HashIndex();
  readonly digester: WindowDigester;
  #scope: DeduplicationScope;
  #oldest: number = none;
  #newest: number = none;
  #entries = 0;
  /** Entries that are being loaded, and are not in the index before it is used. */
  #arriving: HashOrder | undefined;

  constructor(scope: DeduplicationScope, digester: WindowDigester) {
    this.#scope = scope;
    this.digester = digester;
  }

  get size(): number {
    return this.#entries;
  }

  setScope(scope: DeduplicationScope): void {
    if (scope === this.#scope) return;
    this.#settle();
    this.#scope = scope;
    this.#index.clear();
    for (let row = this.#oldest; row !== none; row = this.#rows.int(row, newerWord)) {
      this.#rows.setInt(row, ringWord, row);
      this.#enter(this.#hashOfRow(row), row);
    }
  }

  /** Makes room for this many entries, which follow at once. */
  reserve(entries: number): void {
    this.#index.reserve(entries);
    if (entries >= arrivingMin) this.#arriving = new HashOrder();
  }

  /** `digests` are those of the entry, if the caller already has them. */
  add(
    sequence: number,
    entry: KeptWindowEntry,
    digests: WindowDigests = this.digester.of(entry),
  ): void {
    this.#entries += 1;
    this.#file(sequence, entry, digests, 0);
    if (entry.bodyHash !== undefined) {
      const { id0, id1, id2, id3 } = this.digester.keyOf(entry.bodyHash, entry.groupId);
      this.#file(sequence, entry, { ...digests, id0, id1, id2, id3 }, isByBody);
    }
  }

  /** The row that makes a send with this key a duplicate: the earliest accepted one; or `none`. */
  find(key: WindowKey, by: 'id' | 'body'): number {
    this.#settle();
    const isGrouped = this.#scope === 'messageGroup';
    const hash = isGrouped ? key.id0 ^ key.group0 : key.id0;
    const slot = this.#index.first(hash);
    if (slot === none) return none;
    const youngest = this.#index.row(slot);
    let row = youngest;
    do {
      row = this.#rows.int(row, ringWord);
      if (
        this.#hasId(row, key) &&
        // A search by body also matches an id that equals the body's hash, computed or given.
        (by === 'body' || (this.#rows.int(row, attributesWord) & isByBody) === 0) &&
        (!isGrouped || this.#hasGroup(row, key))
      ) {
        return row;
      }
    } while (row !== youngest);
    return none;
  }

  /** The same for an id, or the hash of a body, whose digest is not known. */
  findText(text: string, groupId: string, by: 'id' | 'body'): number {
    return this.find(this.digester.keyOf(text, groupId), by);
  }

  match(row: number): WindowMatch {
    return {
      sequence: this.#sequence(row),
      acceptedAt: this.#rows.double(row, acceptedAtWord),
      source: (this.#rows.int(row, attributesWord) & isContent) === 0 ? 'explicit' : 'content',
    };
  }

  /** How another send with this entry's id differs from the one that was accepted. */
  difference(row: number, send: WindowDigests): Difference {
    return {
      body: this.#rows.int(row, bodyWord) !== send.body,
      attributes: (this.#rows.int(row, attributesWord) & ~flags) !== (send.attributes & ~flags),
      group: !this.#hasGroup(row, send),
    };
  }

  /** When the oldest entry was accepted: the next to expire. */
  oldestAcceptedAt(): number | undefined {
    return this.#oldest === none ? undefined : this.#rows.double(this.#oldest, acceptedAtWord);
  }

  /** Removes the oldest entry and returns its sequence. The window must not be empty. */
  removeOldest(): number {
    this.#settle();
    const sequence = this.#sequence(this.#oldest);
    this.#entries -= 1;
    while (this.#oldest !== none && this.#sequence(this.#oldest) === sequence) {
      const row = this.#oldest;
      this.#oldest = this.#rows.int(row, newerWord);
      this.#leave(row);
      this.#rows.release(row);
    }
    if (this.#oldest === none) this.#newest = none;
    else this.#rows.setInt(this.#oldest, olderWord, none);
    return sequence;
  }

  /** The newest entries, newest first. */
  newest(limit: number): WindowMatch[] {
    const matches: WindowMatch[] = [];
    for (let row = this.#newest; row !== none && matches.length < limit; ) {
      if ((this.#rows.int(row, attributesWord) & isByBody) === 0) matches.push(this.match(row));
      row = this.#rows.int(row, olderWord);
    }
    return matches;
  }

  /** When the entries were accepted, the newest first. */
  *acceptedTimes(): Generator<number> {
    for (let row = this.#newest; row !== none; row = this.#rows.int(row, olderWord)) {
      if ((this.#rows.int(row, attributesWord) & isByBody) !== 0) continue;
      yield this.#rows.double(row, acceptedAtWord);
    }
  }

  clear(): void {
    this.#arriving = undefined;
    this.#rows.clear();
    this.#index.clear();
    this.#oldest = none;
    this.#newest = none;
    this.#entries = 0;
  }

  #file(sequence: number, entry: KeptWindowEntry, digests: WindowDigests, flag: number): void {
    const row = this.#rows.allocate();
    const page = this.#rows.page(row);
    const base = this.#rows.base(row);
    page[base + idWord] = digests.id0;
    page[base + idWord + 1] = digests.id1;
    page[base + idWord + 2] = digests.id2;
    page[base + idWord + 3] = digests.id3;
    page[base + groupWord] = digests.group0;
    page[base + groupWord + 1] = digests.group1;
    page[base + groupWord + 2] = digests.group2;
    page[base + newerWord] = none;
    page[base + olderWord] = this.#newest;
    page[base + ringWord] = row;
    page[base + bodyWord] = digests.body;
    const source = entry.source === 'content' ? isContent : 0;
    page[base + attributesWord] = (digests.attributes & ~flags) | source | flag;
    const doubles = this.#rows.doubles(row);
    doubles[(base + sequenceWord) >> 1] = sequence;
    doubles[(base + acceptedAtWord) >> 1] = entry.acceptedAt;
    if (this.#arriving === undefined) this.#enter(this.#hashOfRow(row), row);
    else this.#arrive(this.#arriving, row);
    if (this.#newest === none) this.#oldest = row;
    else this.#rows.setInt(this.#newest, newerWord, row);
    this.#newest = row;
  }

  #arrive(arriving: HashOrder, row: number): void {
    arriving.add(this.#hashOfRow(row), row);
    if (arriving.isFull) arriving.drain((hash, each) => this.#enter(hash, each));
  }

  /** Before the index is used. */
  #settle(): void {
    const arriving = this.#arriving;
    if (arriving === undefined) return;
    this.#arriving = undefined;
    arriving.drain((hash, row) => this.#enter(hash, row));
  }

  /**
   * The index holds one row per hash, the youngest. Nearly always it is the only one, and a ring of its own; but groups that
   * number their messages share ids, and form a ring of thousands once the scope is changed to the queue.
   */
  #enter(hash: number, row: number): void {
    const slot = this.#index.first(hash);
    if (slot === none) {
      this.#index.insert(hash, row);
      return;
    }
    const youngest = this.#index.row(slot);
    this.#rows.setInt(row, ringWord, this.#rows.int(youngest, ringWord));
    this.#rows.setInt(youngest, ringWord, row);
    this.#index.setRow(slot, row);
  }

  /** The row is the oldest of all, and so of its hash. */
  #leave(row: number): void {
    const hash = this.#hashOfRow(row);
    const youngest = this.#index.row(this.#index.first(hash));
    if (youngest === row) this.#index.remove(hash, row);
    else this.#rows.setInt(youngest, ringWord, this.#rows.int(row, ringWord));
  }

  #hashOfRow(row: number): number {
    const id = this.#rows.int(row, idWord);
    return this.#scope === 'queue' ? id : id ^ this.#rows.int(row, groupWord);
  }

  #hasId(row: number, { id0, id1, id2, id3 }: WindowKey): boolean {
    return (
      this.#rows.int(row, idWord) === id0 &&
      this.#rows.int(row, idWord + 1) === id1 &&
      this.#rows.int(row, idWord + 2) === id2 &&
      this.#rows.int(row, idWord + 3) === id3
    );
  }

  #hasGroup(row: number, { group0, group1, group2 }: WindowKey): boolean {
    return (
      this.#rows.int(row, groupWord) === group0 &&
      this.#rows.int(row, groupWord + 1) === group1 &&
      this.#rows.int(row, groupWord + 2) === group2
    );
  }

  #sequence(row: number): number {
    return this.#rows.double(row, sequenceWord);
  }
}
