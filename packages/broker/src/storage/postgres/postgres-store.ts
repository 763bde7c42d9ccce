/**
 * What is read for answers: contents and texts, from the cache, from records, or from the journal rows that are not records
 * yet. A single statement looks at both, so that nothing is missed that a checkpoint moves meanwhile.
 */

import {
  type KeptPost,
  type KeptWindowEntry,
  type MessageContent,
  type OwnerId,
  type Publication,
  topicOwner,
} from '../../core/changes.ts';
import type { NowOrLater } from '../now-or-later.ts';
import { andThen } from '../now-or-later.ts';
import { isOf } from '../record-families.ts';
import { ByteReader } from '../records/bytes.ts';
import type { StoreReader } from '../store.ts';
import { readChanges } from './change-codec.ts';
import type { Connection } from './connection.ts';
import type { ContentCache } from './content-cache.ts';
import { type ContentKind, contentsIn, messageIn, postIn, publicationIn } from './content-codec.ts';
import type { JournalRow } from './journal.ts';
import { readRow } from './journal-row.ts';
import { contentByte, familyByte, keyOf } from './record-keys.ts';
import { quoted } from './schema.ts';

export interface PostgresStoreOptions {
  readonly schema: string;
  readonly reading: Connection;
  readonly cache: ContentCache;
  /** The number of a queue or topic; undefined if there is none. */
  readonly numberOf: (owner: OwnerId) => number | undefined;
  /** The latest format of journal rows that this node reads. */
  readonly reads: number;
}

interface Wanted {
  readonly kind: ContentKind;
  readonly id: number;
}

/** Contents of one owner that are about to be read. */
interface Reading {
  readonly wanted: Wanted[];
  readonly found: Promise<ReadonlyMap<string, Buffer>>;
}

export class PostgresStore implements StoreReader {
  readonly #options: PostgresStoreOptions;
  readonly #asked: Map<number, Reading> = new Map();
  readonly #schema: string;

  constructor(options: PostgresStoreOptions) {
    this.#options = options;
    this.#schema = quoted(options.schema);
  }

  content(queue: string, sequence: number): NowOrLater<MessageContent | undefined> {
    return andThen(this.bytes(queue, 'message', sequence), (bytes) => bytes && messageIn(bytes));
  }

  archived(topic: string, sequence: number): NowOrLater<Publication | undefined> {
    const owner = topicOwner(topic);
    return andThen(
      this.bytes(owner, 'archived', sequence),
      (bytes) => bytes && publicationIn(bytes),
    );
  }

  post(topic: string, id: number): NowOrLater<KeptPost | undefined> {
    return andThen(this.bytes(topicOwner(topic), 'post', id), (bytes) => bytes && postIn(bytes));
  }

  async windowEntries(
    owner: OwnerId,
    sequences: readonly number[],
  ): Promise<readonly (KeptWindowEntry | undefined)[]> {
    const { reading, numberOf, reads } = this.#options;
    const number = numberOf(owner);
    const found = new Map<number, KeptWindowEntry>();
    if (number === undefined || sequences.length === 0) return sequences.map(() => undefined);
    const [rows] = await reading.read({
      text: `SELECT value, NULL AS changes FROM ${this.#schema}.record WHERE number = $1 AND key = ANY($2::bytea[])
        UNION ALL
        SELECT NULL, changes FROM ${this.#schema}.journal WHERE number = $1`,
      values: [number, sequences.map((id) => keyOf(familyByte('window'), id))],
    });
    for (const { value, changes } of rows?.rows ?? []) {
      const read =
        value === null
          ? readRow({ changes } as JournalRow, owner, reads).changes
          : readChanges(new ByteReader(value as Buffer), owner);
      for (const change of read) {
        if (isOf('window', change) && change.value !== null) found.set(change.id, change.value);
      }
    }
    return sequences.map((sequence) => found.get(sequence));
  }

  /** As they are kept; undefined if they are not there. */
  bytes(owner: OwnerId, kind: ContentKind, id: number): NowOrLater<Buffer | undefined> {
    const { cache, numberOf } = this.#options;
    const number = numberOf(owner);
    if (number === undefined) return undefined;
    return cache.get(number, kind, id) ?? this.#read(number, kind, id);
  }

  /** What is asked for in one turn of the event loop, such as the messages of a receive, is read by one statement. */
  #read(number: number, kind: ContentKind, id: number): Promise<Buffer | undefined> {
    let reading = this.#asked.get(number);
    if (reading === undefined) {
      const wanted: Wanted[] = [];
      const found = Promise.resolve().then(() => {
        this.#asked.delete(number);
        return this.#readAll(number, wanted);
      });
      reading = { wanted, found };
      this.#asked.set(number, reading);
    }
    reading.wanted.push({ kind, id });
    return reading.found.then((contents) => contents.get(`${kind} ${id}`));
  }

  async #readAll(number: number, wanted: readonly Wanted[]): Promise<ReadonlyMap<string, Buffer>> {
    const ids = wanted.map(({ id }) => id);
    const keys = new Map(
      wanted.map(({ kind, id }) => [keyOf(contentByte(kind), id).toString('latin1'), { kind, id }]),
    );
    const [rows] = await this.#options.reading.read({
      text: `SELECT key, value, NULL AS contents FROM ${this.#schema}.record WHERE number = $1 AND key = ANY($2::bytea[])
        UNION ALL
        SELECT NULL, NULL, contents FROM ${this.#schema}.journal
        WHERE number = $1 AND EXISTS (SELECT 1 FROM unnest($3::bigint[]) id WHERE id BETWEEN first_id AND last_id)`,
      values: [number, [...keys.keys()].map((key) => Buffer.from(key, 'latin1')), ids],
    });
    const found = new Map<string, Buffer>();
    for (const { key, value, contents } of rows?.rows ?? []) {
      if (contents !== null) {
        for (const { kind, id, bytes } of contentsIn(contents as Buffer)) {
          found.set(`${kind} ${id}`, bytes);
        }
        continue;
      }
      const asked = keys.get((key as Buffer).toString('latin1')) as Wanted;
      found.set(`${asked.kind} ${asked.id}`, value as Buffer);
    }
    return found;
  }
}
