/**
 * The deduplication window of one FIFO queue or topic: every send accepted within the last `DeduplicationIntervalSeconds`,
 * whatever has become of its message since (rules 11.8–11.14). 84 bytes an entry: 80 in a slab and 4 in the index.
 *
 * Ids and groups are held as digests, of one size whatever their length: ids as 128 bits of SHA-256, groups as 96 bits
 * of a plain hash, too many for two to fall together. The group's need not withstand design: who can send to a queue
 * gains nothing by another name for a group that he could name itself. Their texts are kept with the entry (changes.ts) for who wants to
 * read them. The digests of body and attributes, 32 and 30 bits, only tell whether two sends differed.
 *
 * Both scopes are answered from the same entries: the group belongs to the key or not, as the queue's setting says
 * now. Changing the setting re-files the entries and forgets none.
 *
 * Entries expire in the order in which they came, so expiry takes from the front of one chain. Under the profile
 * `yandex` an entry is filed a second time by its body's hash.
 */

import type { KeptWindowEntry } from './changes.ts';
import { sha256Bytes } from './digest.ts';
import type { Difference } from './events.ts';
import { HashIndex } from './hash-index.ts';
import { none, Slab } from './slab.ts';
import { readUuid, writeUuid } from './uuid.ts';

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

/** What an entry is filed under. */
export interface WindowKey {
  readonly id0: number;
  readonly id1: number;
  readonly id2: number;
  readonly id3: number;
  readonly group: GroupDigest;
}

interface GroupDigest {
  readonly group0: number;
  readonly group1: number;
  readonly group2: number;
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

  /** The key of a deduplication id, or of a body's hash, in a group. */
  keyOf(text: string, groupId: string): WindowKey {
    const bytes = sha256Bytes(text);
    return {
      id0: wordAt(bytes, 0),
      id1: wordAt(bytes, 4),
      id2: wordAt(bytes, 8),
      id3: wordAt(bytes, 12),
      group: groupDigest(groupId),
    };
  }

  /** `key` is that of the entry's id, for who has it already. */
  add(
    sequence: number,
    entry: KeptWindowEntry,
    key: WindowKey = this.keyOf(entry.deduplicationId, entry.groupId),
  ): void {
    this.#entries += 1;
    this.#file(sequence, entry, key, 0);
    if (entry.bodyHash !== undefined) {
      this.#file(sequence, entry, this.keyOf(entry.bodyHash, entry.groupId), isByBody);
    }
  }

  /** The row that makes a send with this key a duplicate: the earliest accepted; or `none`. */
  find(key: WindowKey, by: 'id' | 'body'): number {
    const isGrouped = this.#scope === 'messageGroup';
    const flag = by === 'body' ? isByBody : 0;
    let found: number = none;
    let row = this.#index.first(isGrouped ? key.id0 ^ key.group.group0 : key.id0);
    while (row !== none) {
      if (
        this.#hasId(row, key) &&
        (this.#rows.int(row, attributesWord) & isByBody) === flag &&
        (!isGrouped || this.#hasGroup(row, key.group)) &&
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
      group: !this.#hasGroup(row, send.key.group),
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
    const page = this.#rows.page(row);
    const base = this.#rows.base(row);
    page[base + idWord] = key.id0;
    page[base + idWord + 1] = key.id1;
    page[base + idWord + 2] = key.id2;
    page[base + idWord + 3] = key.id3;
    page[base + groupWord] = key.group.group0;
    page[base + groupWord + 1] = key.group.group1;
    page[base + groupWord + 2] = key.group.group2;
    page[base + newerWord] = none;
    page[base + olderWord] = this.#newest;
    writeUuid(page, base + messageIdWord, entry.messageId);
    page[base + bodyWord] = md5Word(entry.bodyMd5);
    const source = entry.source === 'content' ? isContent : 0;
    page[base + attributesWord] = (md5Word(entry.attributesMd5) & ~flags) | source | flag;
    this.#rows.setDouble(row, sequenceWord, sequence);
    this.#rows.setDouble(row, acceptedAtWord, entry.acceptedAt);
    this.#index.insert(this.#hashOfRow(row), row);
    if (this.#newest === none) this.#oldest = row;
    else this.#rows.setInt(this.#newest, newerWord, row);
    this.#newest = row;
  }

  #hashOfRow(row: number): number {
    const id = this.#rows.int(row, idWord);
    return this.#scope === 'queue' ? id : id ^ this.#rows.int(row, groupWord);
  }

  #hasId(row: number, key: WindowKey): boolean {
    return (
      this.#rows.int(row, idWord) === key.id0 &&
      this.#rows.int(row, idWord + 1) === key.id1 &&
      this.#rows.int(row, idWord + 2) === key.id2 &&
      this.#rows.int(row, idWord + 3) === key.id3
    );
  }

  #hasGroup(row: number, { group0, group1, group2 }: GroupDigest): boolean {
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

/** Three independent 32-bit hashes in one pass, each multiplied and folded as in MurmurHash3's last step. */
function groupDigest(groupId: string): GroupDigest {
  let a = 0x9e3779b1;
  let b = 0x85ebca77;
  let c = 0xc2b2ae3d;
  for (let at = 0; at < groupId.length; at += 1) {
    const code = groupId.charCodeAt(at);
    a = Math.imul(a ^ code, 0x27d4eb2f) + (b >>> 15);
    b = Math.imul(b ^ code, 0x165667b1) + (c >>> 13);
    c = Math.imul(c ^ code, 0x5bd1e995) + (a >>> 11);
  }
  return { group0: fold(a ^ groupId.length), group1: fold(b), group2: fold(c) };
}

function fold(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const again = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return again ^ (again >>> 16);
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
