/**
 * The deduplication window of one FIFO queue: every send accepted within the last `DeduplicationIntervalSeconds`,
 * whatever has become of its message since (rules 11.8–11.14). 84 bytes an entry: 80 in a slab and 4 in the index.
 *
 * Ids and groups are held as digests, 128 and 96 bits of SHA-256: too many for two to fall together by chance or by
 * design, and of one size whatever their length. Their texts are kept with the entry (changes.ts) for who wants to
 * read them. The digests of body and attributes, 32 and 30 bits, only tell whether two sends differed.
 *
 * Both scopes are answered from the same entries: the group belongs to the key or not, as the queue's setting says
 * now. Changing the setting re-files the entries and forgets none.
 *
 * Entries expire in the order in which they came, so expiry takes from the front of one chain. Under the profile
 * `yandex` an entry is filed a second time by its body's hash.
 */

import type { KeptWindowEntry } from '../changes.ts';
import { sha256Bytes } from '../digest.ts';
import type { Difference } from '../events.ts';
import { HashIndex } from '../hash-index.ts';
import { none, Slab } from '../slab.ts';
import { readUuid, writeUuid } from '../uuid.ts';

export type DeduplicationScope = 'queue' | 'messageGroup';

const idWord = 0;
const groupWord = 4;
const chainWord = 7;
const newerWord = 8;
const olderWord = 9;
const messageIdWord = 10;
const sequenceWord = 14;
const acceptedAtWord = 16;
const bodyWord = 18;
/** Thirty bits of the attributes' digest, and two flags. */
const attributesWord = 19;
const words = 20;

/** The id was computed from the body. */
const isContent = 1;
/** This row files the entry by its body. */
const isByBody = 2;
const flags: number = isContent | isByBody;

/** A digest's words: the first 128 bits for an id, the first 96 for a group. */
type Digest = readonly [number, number, number, number];

/** What an entry is filed under. */
export interface WindowKey {
  readonly id: Digest;
  readonly group: Digest;
}

export function windowKey(text: string, groupId: string): WindowKey {
  return { id: digestOf(text), group: digestOf(groupId) };
}

export interface WindowMatch {
  readonly messageId: string;
  readonly sequence: number;
  readonly acceptedAt: number;
  readonly source: 'explicit' | 'content';
}

export class DeduplicationWindow {
  readonly #rows: Slab = new Slab(words);
  readonly #index: HashIndex = new HashIndex(this.#rows, chainWord, (row) => this.#hashOfRow(row));
  #scope: DeduplicationScope;
  #oldest: number = none;
  #newest: number = none;
  #entries = 0;

  constructor(scope: DeduplicationScope) {
    this.#scope = scope;
  }

  get size(): number {
    return this.#entries;
  }

  setScope(scope: DeduplicationScope): void {
    if (scope === this.#scope) return;
    this.#scope = scope;
    this.#index.clear();
    for (let row = this.#oldest; row !== none; row = this.#rows.int(row, newerWord)) {
      this.#index.insert(this.#hashOfRow(row), row);
    }
  }

  /** `key` is the entry's own, for who has it already. */
  add(
    sequence: number,
    entry: KeptWindowEntry,
    key: WindowKey = windowKey(entry.deduplicationId, entry.groupId),
  ): void {
    this.#entries += 1;
    this.#file(sequence, entry, key, 0);
    if (entry.bodyHash !== undefined) {
      this.#file(sequence, entry, { id: digestOf(entry.bodyHash), group: key.group }, isByBody);
    }
  }

  /** The row that makes a send with this id (or this body hash) a duplicate: the earliest accepted; or `none`. */
  find(key: WindowKey, by: 'id' | 'body'): number {
    const id = key.id;
    const group = this.#scope === 'messageGroup' ? key.group : undefined;
    const flag = by === 'body' ? isByBody : 0;
    let found: number = none;
    let row = this.#index.first(group === undefined ? id[0] : id[0] ^ group[0]);
    while (row !== none) {
      if (
        this.#holds(row, idWord, id, 4) &&
        (this.#rows.int(row, attributesWord) & isByBody) === flag &&
        (group === undefined || this.#holds(row, groupWord, group, 3)) &&
        (found === none || this.#sequence(row) < this.#sequence(found))
      ) {
        found = row;
      }
      row = this.#index.next(row);
    }
    return found;
  }

  match(row: number): WindowMatch {
    return {
      messageId: readUuid(this.#rows, row, messageIdWord),
      sequence: this.#sequence(row),
      acceptedAt: this.#rows.double(row, acceptedAtWord),
      source: (this.#rows.int(row, attributesWord) & isContent) === 0 ? 'explicit' : 'content',
    };
  }

  /** How another send with this entry's id differs from the one that was accepted. */
  difference(
    row: number,
    send: { bodyMd5: string; attributesMd5: string; key: WindowKey },
  ): Difference {
    return {
      body: this.#rows.int(row, bodyWord) !== md5Word(send.bodyMd5),
      attributes:
        (this.#rows.int(row, attributesWord) & ~flags) !== (md5Word(send.attributesMd5) & ~flags),
      group: !this.#holds(row, groupWord, send.key.group, 3),
    };
  }

  /** When the oldest entry was accepted: the next to expire. */
  oldestAcceptedAt(): number | undefined {
    return this.#oldest === none ? undefined : this.#rows.double(this.#oldest, acceptedAtWord);
  }

  /** Takes the oldest entry out and says which it was. The window is not empty. */
  removeOldest(): number {
    const sequence = this.#sequence(this.#oldest);
    this.#entries -= 1;
    while (this.#oldest !== none && this.#sequence(this.#oldest) === sequence) {
      const row = this.#oldest;
      this.#oldest = this.#rows.int(row, newerWord);
      this.#index.remove(this.#hashOfRow(row), row);
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

  clear(): void {
    this.#rows.clear();
    this.#index.clear();
    this.#oldest = none;
    this.#newest = none;
    this.#entries = 0;
  }

  #file(sequence: number, entry: KeptWindowEntry, key: WindowKey, flag: number): void {
    const row = this.#rows.allocate();
    for (let word = 0; word < 4; word += 1) {
      this.#rows.setInt(row, idWord + word, key.id[word] as number);
    }
    for (let word = 0; word < 3; word += 1) {
      this.#rows.setInt(row, groupWord + word, key.group[word] as number);
    }
    this.#rows.setInt(row, newerWord, none);
    this.#rows.setInt(row, olderWord, this.#newest);
    writeUuid(this.#rows, row, messageIdWord, entry.messageId);
    this.#rows.setDouble(row, sequenceWord, sequence);
    this.#rows.setDouble(row, acceptedAtWord, entry.acceptedAt);
    this.#rows.setInt(row, bodyWord, md5Word(entry.bodyMd5));
    const source = entry.source === 'content' ? isContent : 0;
    const attributes = (md5Word(entry.attributesMd5) & ~flags) | source | flag;
    this.#rows.setInt(row, attributesWord, attributes);
    this.#index.insert(this.#hashOfRow(row), row);
    if (this.#newest === none) this.#oldest = row;
    else this.#rows.setInt(this.#newest, newerWord, row);
    this.#newest = row;
  }

  #hashOfRow(row: number): number {
    const id = this.#rows.int(row, idWord);
    return this.#scope === 'queue' ? id : id ^ this.#rows.int(row, groupWord);
  }

  #holds(row: number, word: number, digest: Digest, length: number): boolean {
    for (let at = 0; at < length; at += 1) {
      if (this.#rows.int(row, word + at) !== digest[at]) return false;
    }
    return true;
  }

  #sequence(row: number): number {
    return this.#rows.double(row, sequenceWord);
  }
}

function digestOf(text: string): Digest {
  const bytes = sha256Bytes(text);
  return [wordAt(bytes, 0), wordAt(bytes, 4), wordAt(bytes, 8), wordAt(bytes, 12)];
}

function wordAt(bytes: string, at: number): number {
  return (
    bytes.charCodeAt(at) |
    (bytes.charCodeAt(at + 1) << 8) |
    (bytes.charCodeAt(at + 2) << 16) |
    (bytes.charCodeAt(at + 3) << 24)
  );
}

/** Thirty-two bits of a hex digest; 0 for none. */
function md5Word(hex: string): number {
  return hex === '' ? 0 : Number.parseInt(hex.slice(0, 8), 16) | 0;
}
