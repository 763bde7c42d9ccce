/**
 * The records of a data directory: LMDB's file, and the journal before it. A commit goes into the journal; when a file of
 * the journal is full, its records are folded: they go into LMDB's file in one transaction, while the other file takes
 * commits. Readers see both as one.
 *
 * A commit goes directly into LMDB's file, together with all that the journal has, if it is large or the first of a run, if
 * it must (`isDirect`), or if the disk is nearly full: what the journal has accepted must find room in LMDB's file later. The
 * transaction says which frame was tried last; so one whose writing failed is not found at the next start, whether or not it
 * reached the disk. When something could not be written although the disk has room, all further commits are direct, until
 * the next start; only while LMDB's file has no room, the journal still takes what makes room (`isDraining`).
 */

import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  dataFile,
  freeBytes,
  journalFiles,
  prepareToRead,
  prepareToWrite,
} from './data-directory.ts';
import { readingError } from './data-error.ts';
import { type Durability, Journal, readJournal, removeJournal } from './journal.ts';
import { jsonIn, jsonOf } from './json-record.ts';
import { nameKeyOf } from './keys.ts';
import { type Entry, type KeyRange, LmdbFile, type Usage, type Writes } from './lmdb-file.ts';
import { type Folded, type Layer, layersIn } from './unfolded.ts';

export interface EnvironmentOptions {
  readonly directory: string;
  readonly durability?: Durability | undefined;
  /** For reading only; default false. */
  readonly isReadOnly?: boolean;
  /** Whether no other process may have it open; default: true for a writer. */
  readonly isAlone?: boolean;
}

export interface WriteOptions {
  /** Into LMDB's file, together with all that is only in the journal; default false. */
  readonly isDirect?: boolean;
  /** It only removes, or marks as received: the journal takes it even if LMDB's file has no room; default false. */
  readonly isDraining?: boolean;
}

/** With less free space than this, nothing is put into the journal. */
const journalingBytesMin = 64 * 1024 * 1024;

/** The record of the last frame that is in LMDB's file. */
const foldedKey = nameKeyOf('store', 'journal');

export class Environment {
  readonly #file: LmdbFile;
  readonly #durability: Durability;
  /** The journal's files as an earlier run has left them, until a commit has brought their records into LMDB's file. */
  #left: readonly Buffer[];
  #leftLayers: readonly Layer[];
  readonly #run: number = randomInt(2 ** 48 - 1);
  #journal: Journal | undefined;
  #isJournaling = false;
  /** A write failed although the disk has room: what the journal would accept might not find room in LMDB's file. */
  #isDistrusted = false;
  #folding: Promise<void> | undefined;

  private constructor(file: LmdbFile, left: readonly Buffer[], durability: Durability) {
    this.#file = file;
    this.#durability = durability;
    this.#left = left;
    const folded = file.get(foldedKey);
    this.#leftLayers =
      folded === undefined ? [] : layersIn(left, jsonIn<Folded>(folded, 'journal'));
  }

  static async open({
    directory: given,
    durability = 'fsync',
    isReadOnly = false,
    isAlone = !isReadOnly,
  }: EnvironmentOptions): Promise<Environment> {
    const directory = resolve(given);
    if (isReadOnly) prepareToRead(directory, isAlone);
    else prepareToWrite(directory);
    // Beside a server the journal is read first: what it folds meanwhile is then in both, and not in neither.
    const before = isAlone ? undefined : readJournal(directory);
    const file = await LmdbFile.open(directory, { isReadOnly, isAlone });
    try {
      return new Environment(file, before ?? readJournal(directory), durability);
    } catch (error) {
      await file.close();
      throw readingError(directory, error);
    }
  }

  get directory(): string {
    return this.#file.directory;
  }

  /** Whether the journal has something that LMDB's file does not have. */
  get hasUnfolded(): boolean {
    return this.#layers().length > 0;
  }

  /** The value is valid until the next `get`. */
  get(key: Buffer): Buffer | undefined {
    const layers = this.#layers();
    if (layers.length === 0) return this.#file.get(key);
    const found = newest(layers, key.toString('latin1'));
    return found === undefined ? this.#file.get(key) : (found ?? undefined);
  }

  range(range: KeyRange): Iterable<Entry> {
    const layers = this.#layers();
    return layers.length === 0 ? this.#file.range(range) : merged(this.#file, layers, range);
  }

  keys(range: KeyRange, limit: number): Iterable<Buffer> {
    const layers = this.#layers();
    return layers.length === 0
      ? this.#file.keys(range, limit)
      : firstKeys(merged(this.#file, layers, range), limit);
  }

  /** Writes all or none; resolves once they are as durable as configured. There must not be two at a time. */
  async write(writes: Writes, { isDirect, isDraining }: WriteOptions = {}): Promise<void> {
    const journal = this.#isJournaling || isDraining === true ? this.#journal : undefined;
    if (isDirect !== true && journal && (await this.#append(writes, journal))) return;
    await this.#writeDirectly(writes);
  }

  /**
   * Brings all that is only in the journal into LMDB's file, so that what it removes there makes room. LMDB uses that room
   * not in the next transaction but in the one after it; so there is an empty one in between.
   */
  async fold(): Promise<void> {
    if (!this.hasUnfolded) return;
    await this.#writeDirectly(() => {});
    await this.#writeDirectly(() => {});
  }

  /** Whether the disk has this much room, as far as is known. */
  hasRoom(bytes: number): boolean {
    return freeBytes(this.directory) >= bytes;
  }

  /**
   * Writes a consistent copy into an existing directory that has no data, for somebody who only reads. Returns the names of
   * its files, the one that makes it data last. What a server has folded since this was opened is in both files then, which
   * does no harm: a frame is read only if it follows what LMDB's file has.
   */
  async copyTo(target: string): Promise<readonly string[]> {
    const names = journalFiles.filter((name, index) => {
      const bytes = this.#left[index] as Buffer;
      if (bytes.length > 0) writeFileSync(join(target, name), bytes);
      return bytes.length > 0;
    });
    await this.#file.copyTo(target);
    return [...names, dataFile];
  }

  usage(): Usage {
    return this.#file.usage();
  }

  async close(): Promise<void> {
    await this.#folding;
    const journal = this.#journal;
    this.#journal = undefined;
    if (journal !== undefined) await this.#closeJournal(journal);
    await this.#file.close();
  }

  /** A journal whose records are all in LMDB's file is not left behind. */
  async #closeJournal(journal: Journal): Promise<void> {
    const isFolded = await this.#writeAll(journal.layers, journal.last).then(
      () => true,
      () => false,
    );
    await journal.close();
    if (isFolded) removeJournal(this.directory);
  }

  /** What LMDB's file does not have, the oldest first. */
  #layers(): readonly Layer[] {
    const layers = this.#journal?.layers ?? this.#leftLayers;
    return layers.some(({ isEmpty }) => !isEmpty) ? layers : [];
  }

  /** Returns false if the commit is too large for the journal, or the journal is full or cannot be written. */
  async #append(writes: Writes, journal: Journal): Promise<boolean> {
    let appended = journal.append(writes);
    if (appended === undefined) {
      await this.#folding;
      if (!this.#isJournaling) return false;
      this.#fold(journal);
      appended = journal.append(writes);
    }
    try {
      await appended;
    } catch {
      this.#stopJournaling();
      return false;
    }
    return appended !== undefined;
  }

  #fold(journal: Journal): void {
    const { layer, last } = journal.seal();
    this.#folding = this.#file
      .write((put) => layer.each(put), folded(last))
      .then(
        () => {
          journal.release();
          this.#isJournaling = this.#mayJournal();
        },
        // It stays in the journal; the next commit is direct, and reports the reason if that fails too.
        () => this.#stopJournaling(),
      )
      .finally(() => {
        this.#folding = undefined;
      });
  }

  async #writeDirectly(writes: Writes): Promise<void> {
    await this.#folding;
    const last = this.#journal?.last ?? { run: this.#run, number: 0 };
    try {
      await this.#writeAll(this.#layers(), last, writes);
    } catch (error) {
      this.#stopJournaling();
      throw error;
    }
    this.#left = [];
    this.#leftLayers = [];
    this.#journal?.restart();
    this.#isJournaling = this.#mayJournal() && this.#hasJournal();
  }

  #stopJournaling(): void {
    this.#isJournaling = false;
    this.#isDistrusted ||= this.hasRoom(journalingBytesMin);
  }

  #mayJournal(): boolean {
    return !this.#isDistrusted && this.hasRoom(journalingBytesMin);
  }

  /** All layers and these writes, in one transaction. */
  #writeAll(layers: readonly Layer[], last: Folded, writes: Writes = () => {}): Promise<void> {
    return this.#file.write((put) => {
      for (const [index, layer] of layers.entries()) layer.each(put, layers[index + 1]);
      writes(put);
    }, folded(last));
  }

  /** Opens the journal if it is not open. A journal that cannot be opened is done without. */
  #hasJournal(): boolean {
    try {
      this.#journal ??= new Journal(this.directory, this.#durability, this.#run);
      return true;
    } catch {
      return false;
    }
  }
}

function folded(last: Folded): Entry {
  return { key: foldedKey, value: jsonOf(last) };
}

function newest(layers: readonly Layer[], key: string): Buffer | null | undefined {
  for (let at = layers.length - 1; at >= 0; at -= 1) {
    const value = layers[at]?.get(key);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** What is in the file and in the layers, in order; values of the layers are copies. */
function* merged(file: LmdbFile, layers: readonly Layer[], range: KeyRange): Generator<Entry> {
  const [start, end] = [range.start.toString('latin1'), range.end.toString('latin1')];
  const inLayers = new Set(layers.flatMap((layer) => [...layer.keysIn(start, end)]));
  const keys = [...inLayers].sort();
  let next = 0;
  function* before(limit: string): Generator<Entry> {
    for (; next < keys.length && (keys[next] as string) < limit; next += 1) {
      const key = keys[next] as string;
      const value = newest(layers, key);
      if (value) yield { key: Buffer.from(key, 'latin1'), value: Buffer.from(value) };
    }
  }
  for (const entry of file.range(range)) {
    const key = entry.key.toString('latin1');
    yield* before(key);
    if (!inLayers.has(key)) yield entry;
  }
  yield* before(end);
}

function* firstKeys(entries: Iterable<Entry>, count: number): Generator<Buffer> {
  let left = count;
  for (const { key } of entries) {
    if (left === 0) return;
    yield key;
    left -= 1;
  }
}
