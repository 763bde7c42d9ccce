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
import { freeBytes, journalFiles, prepareToRead, prepareToWrite } from './data-directory.ts';
import { readingError } from './data-error.ts';
import {
  Journal,
  type JournalOptions,
  readJournal,
  removeJournal,
  type Sealed,
  syncJournal,
} from './journal.ts';
import { jsonIn, jsonOf } from './json-record.ts';
import { nameKeyOf } from './keys.ts';
import { type Entry, type KeyRange, LmdbFile, type Usage, type Writes } from './lmdb-file.ts';
import { type Folded, type Layer, layersIn, merged, newest } from './unfolded.ts';

export interface EnvironmentOptions extends JournalOptions {
  readonly directory: string;
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
  readonly #options: JournalOptions;
  /** The journal's files as an earlier run has left them, until a commit has brought their records into LMDB's file. */
  #left: readonly Buffer[];
  #leftLayers: readonly Layer[];
  readonly #run: number = randomInt(2 ** 48 - 1);
  /** How many commits there were before the journal was opened. */
  #passedOver = 0;
  #journal: Journal | undefined;
  #isJournaling = false;
  /** A write failed although the disk has room: what the journal would accept might not find room in LMDB's file. */
  #isDistrusted = false;
  #folding: Promise<void> | undefined;

  private constructor(file: LmdbFile, left: readonly Buffer[], options: JournalOptions) {
    this.#file = file;
    this.#options = options;
    this.#left = left;
    const folded = file.get(foldedKey);
    this.#leftLayers =
      folded === undefined ? [] : layersIn(left, jsonIn<Folded>(folded, 'journal'));
  }

  static async open({
    directory: given,
    isReadOnly = false,
    isAlone = !isReadOnly,
    ...options
  }: EnvironmentOptions): Promise<Environment> {
    const directory = resolve(given);
    if (isReadOnly) prepareToRead(directory, isAlone);
    else prepareToWrite(directory);
    // Beside a server the journal is read first: what it folds meanwhile is then in both, and not in neither.
    const before = isAlone ? undefined : readJournal(directory);
    const file = await LmdbFile.open(directory, { isReadOnly, isAlone });
    try {
      const environment = new Environment(file, before ?? readJournal(directory), options);
      if (!isReadOnly && environment.hasUnfolded) syncJournal(directory);
      return environment;
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
    const inFile = this.#file.range(range);
    return layers.length === 0 ? inFile : merged(inFile, layers, range);
  }

  keys(range: KeyRange, limit: number): Iterable<Buffer> {
    const layers = this.#layers();
    if (layers.length === 0) return this.#file.keys(range, limit);
    return firstKeys(merged(this.#file.range(range), layers, range), limit);
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
   * Writes a consistent copy into an existing directory that has no data; for somebody who only reads. The copy may have a
   * journal. If a server has folded something since this was opened, it is twice in the copy, which does no harm: a frame
   * counts only if it follows what LMDB's file has.
   */
  async copyTo(target: string): Promise<void> {
    for (const [index, name] of journalFiles.entries()) {
      writeFileSync(join(target, name), this.#left[index] as Buffer);
    }
    await this.#file.copyTo(target);
  }

  usage(): Usage {
    return this.#file.usage();
  }

  async close(): Promise<void> {
    await this.#folding;
    try {
      if (this.#journal !== undefined) await this.#closeJournal(this.#journal);
    } finally {
      this.#journal = undefined;
      await this.#file.close();
    }
  }

  /** A journal whose records are all in LMDB's file is not left behind. */
  async #closeJournal(journal: Journal): Promise<void> {
    const isFolded = await this.#writeAll(journal.layers, journal.passOver()).then(
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
    if (journal.isFull) {
      await this.#folding;
      if (!this.#isJournaling) return false;
    }
    const sealed = journal.isFull ? journal.seal() : undefined;
    let appended: Promise<void> | undefined;
    try {
      appended = journal.append(writes);
    } finally {
      // The disk already works for the commit.
      if (sealed !== undefined) this.#fold(sealed, journal);
    }
    try {
      await appended;
    } catch {
      this.#stopJournaling();
      return false;
    }
    return appended !== undefined;
  }

  #fold({ layer, last }: Sealed, journal: Journal): void {
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
    const last = this.#journal?.passOver() ?? this.#passOver();
    try {
      await this.#writeAll(this.#layers(), last, writes);
    } catch (error) {
      this.#stopJournaling();
      throw error;
    }
    this.#left = [];
    this.#leftLayers = [];
    this.#journal?.restart();
    this.#isJournaling = this.#mayJournal() && this.#hasJournal(last);
  }

  /** The same as the journal's, while there is none. */
  #passOver(): Folded {
    this.#passedOver += 1;
    return { run: this.#run, number: this.#passedOver };
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
  #hasJournal(last: Folded): boolean {
    try {
      this.#journal ??= new Journal(this.directory, last, this.#options);
      return true;
    } catch {
      this.#isDistrusted = true;
      return false;
    }
  }
}

function folded(last: Folded): Entry {
  return { key: foldedKey, value: jsonOf(last) };
}

/** Takes no more than it needs: `check` asks for the first key of a range again and again. */
function* firstKeys(entries: Iterable<Entry>, count: number): Generator<Buffer> {
  let left = count;
  for (const { key } of entries) {
    yield key;
    left -= 1;
    if (left === 0) return;
  }
}
