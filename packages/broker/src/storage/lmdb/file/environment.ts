/**
 * The records of a data directory: LMDB's file and the journal in front of it. A commit is appended to the journal. When one
 * of the journal's files is full, a checkpoint writes its records to LMDB's file in one transaction, while the other journal
 * file takes commits. Readers see both as one.
 *
 * A commit goes directly into LMDB's file, together with everything in the journal, if it is large, if it is the first of a
 * run, if it must (`isDirect`), or if the disk is nearly full, because whatever the journal has accepted must later fit into
 * LMDB's file. The transaction records the number of the last frame that was tried. So recovery ignores a frame whose write
 * failed, whether or not it reached the disk. If a write failed although the disk has room, all further commits are direct
 * until the next start.
 *
 * On a nearly full disk the journal is not used. What it holds at that moment is checkpointed in parts, for which its reserve
 * makes room: a part needs few pages, and frees as many for the part after the next. While commits are direct, LMDB's file
 * keeps free pages that only removals may use, so whatever is stored can always be removed (`room`).
 *
 * Each record has a checksum (seal.ts), which is added and compared here. Stores of format 4 and older have none until
 * `sealRecords` has rewritten all of them.
 */

import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DamagedError } from '../../records/bytes.ts';
import { jsonIn, jsonOf } from '../../records/json-record.ts';
import {
  Journal,
  type JournalOptions,
  readJournal,
  releaseReserve,
  removeJournal,
  type Sealed,
  syncJournal,
} from '../journal/journal.ts';
import {
  type Checkpoint,
  firstKeys,
  type JournalIndex,
  merged,
  newest,
  partsOf,
} from '../journal/journal-index.ts';
import {
  damageOf,
  type LeftJournal,
  noFlaws,
  nothingLeft,
  readLeft,
} from '../journal/left-journal.ts';
import { keyText, nameKeyOf } from '../records/keys.ts';
import { opened, sealed, sealing } from '../records/seal.ts';
import {
  fileMode,
  freeBytes,
  journalFiles,
  prepareToRead,
  prepareToWrite,
} from './data-directory.ts';
import { DataError, damaged, damagedInPart, readingError } from './data-error.ts';
import { firstSealedFormat, formatIn, formatText } from './format.ts';
import { type Entry, type KeyRange, LmdbFile, type Usage, type Writes } from './lmdb-file.ts';

export interface EnvironmentOptions extends JournalOptions {
  readonly directory: string;
  /** For reading only; default false. */
  readonly isReadOnly?: boolean;
  /** Whether no other process may have it open; default: true for a writer. */
  readonly isAlone?: boolean;
  /** Called with each damaged record, which is then left out; by default damage is an error. */
  readonly onDamage?: (what: string) => void;
  /** Called with what is missing, if no client was told that it is durable. */
  readonly onNotice?: (text: string) => void;
}

export interface WriteOptions {
  /** Into LMDB's file, together with all that is only in the journal; default false. */
  readonly isDirect?: boolean;
  /** The store's format from now on; such a commit is direct. */
  readonly format?: number;
}

/** How much room there is while commits go directly into LMDB's file. */
export interface Room {
  readonly bytes: number;
  /** The part of it that is reserved for removals. */
  readonly drainingBytes: number;
}

/** Called with the key of a record whose checksum is wrong. */
export type OnDamaged = (key: Buffer) => void;

/** With less free space than this, the journal is not used. */
const journalingBytesMin = 64 * 1024 * 1024;
/** With less than this, no journal is begun: without one, the disk has more free space than with one. */
const journalBytesMin = 2 * journalingBytesMin;

/** A commit that removes a thousand messages takes about four megabytes of pages, which are free again two commits later. */
const drainingBytesMax = 16 * 1024 * 1024;
/** If there is little to remove, this part of it is enough. */
const drainingShare = 1 / 2;

/** How often the journal of a running server is read again, if something seems to be missing in it. */
const readingsMax = 5;

/** The record of the last frame that is in LMDB's file. */
const checkpointKey = nameKeyOf('store', 'journal');
const formatKey = nameKeyOf('store', 'format');
/** The record of how far an upgrade has come: the key from which on records have no checksums. */
const unsealedKey = nameKeyOf('store', 'unsealed');
const ownKeys: readonly Buffer[] = [checkpointKey, formatKey, unsealedKey];

const allKeys: KeyRange = { start: Buffer.alloc(0), end: Buffer.from([0xff]) };
/** How much of a store that is upgraded becomes one transaction. */
const sealedRecordsMax = 4096;
const sealedBytesMax = 8 * 1024 * 1024;

export class Environment {
  readonly #file: LmdbFile;
  readonly #options: JournalOptions;
  /** The journal's files as an earlier run has left them, until a commit has brought their records into LMDB's file. */
  #left: LeftJournal;
  readonly #run: number = randomInt(2 ** 48 - 1);
  /** How many commits there were before the journal was opened. */
  #claimed = 0;
  #journal: Journal | undefined;
  /** The journal may have files, open or left behind. */
  #hasFiles = true;
  #isJournaling = false;
  /** A write failed although the disk has room: what the journal would accept might not find room in LMDB's file. */
  #isDistrusted = false;
  #checkpointing: Promise<void> | undefined;
  #format: number | undefined;
  /** From this key on, records have no checksums yet; undefined if all have one. */
  #unsealedFrom: Buffer | undefined;

  private constructor(file: LmdbFile, left: readonly Buffer[], options: JournalOptions) {
    this.#file = file;
    this.#options = options;
    this.#format = formatFrom(file);
    this.#unsealedFrom = this.#isOfOldFormat ? allKeys.start : this.#ownRecord(unsealedKey);
    this.#left = this.#leftIn(left);
  }

  static async open({
    directory: given,
    isReadOnly = false,
    isAlone = !isReadOnly,
    onDamage,
    onNotice = () => {},
    ...options
  }: EnvironmentOptions): Promise<Environment> {
    const directory = resolve(given);
    if (isReadOnly) prepareToRead(directory, isAlone);
    else prepareToWrite(directory);
    // While a server runs, the journal is read first. What the server checkpoints in between is then read twice, and not
    // missed.
    const before = isAlone ? undefined : readJournal(directory);
    const file = await LmdbFile.open(directory, { isReadOnly, isAlone });
    try {
      const environment = new Environment(file, before ?? readJournal(directory), options);
      if (isReadOnly) environment.#refuseHalfSealed();
      if (!isAlone) environment.#readWhatLasts();
      const what = damageOf(environment.#left.flaws, onNotice);
      if (what !== undefined && onDamage === undefined) throw damagedInPart(directory, [what]);
      if (what !== undefined) onDamage?.(what);
      if (!isReadOnly && environment.hasJournaled) syncJournal(directory);
      return environment;
    } catch (error) {
      await file.close();
      throw readingError(directory, error);
    }
  }

  /**
   * A server may write while its journal is read, so that a commit seems to be missing that is there a moment later. Everything
   * before that commit is a consistent state anyway. Only what is still missing in the last reading is damage.
   */
  #readWhatLasts(): void {
    for (let reading = 1; reading < readingsMax && this.#left.flaws.cutOff > 0; reading += 1) {
      const { last } = this.#left;
      const files = readJournal(this.directory);
      this.#file.refresh();
      const left = this.#leftIn(files);
      this.#left = left.last === last ? left : { ...left, flaws: noFlaws };
    }
  }

  #leftIn(files: readonly Buffer[]): LeftJournal {
    try {
      return readLeft(files, this.#lastCheckpoint());
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      return { ...nothingLeft, files, flaws: { ...noFlaws, unknown: error.message } };
    }
  }

  /** Which frame LMDB's file has last; undefined if there was never a journal. */
  #lastCheckpoint(): Checkpoint | undefined {
    const bytes = this.#ownRecord(checkpointKey);
    return bytes && jsonIn<Checkpoint>(bytes, 'journal');
  }

  get directory(): string {
    return this.#file.directory;
  }

  /** Whether the journal has something that LMDB's file does not have. */
  get hasJournaled(): boolean {
    return this.#layers().length > 0;
  }

  /** Undefined if the store does not say: it is empty, or damaged. */
  get format(): number | undefined {
    return this.#format;
  }

  /** Whether the store has a format without checksums, which older versions can still use. */
  get #isOfOldFormat(): boolean {
    return (this.#format ?? firstSealedFormat) < firstSealedFormat;
  }

  /** A copy of one of `ownKeys` in LMDB's file. They have checksums from the beginning of an upgrade on. */
  #ownRecord(key: Buffer): Buffer | undefined {
    const bytes = this.#file.get(key);
    return (
      bytes && Buffer.from(this.#isOfOldFormat ? bytes.subarray(0, bytes.length) : open(key, bytes))
    );
  }

  /** Whether all records have checksums. */
  get isSealed(): boolean {
    return this.#unsealedFrom === undefined;
  }

  /** The value is valid until the next `get`. Throws DamagedError if it does not match its checksum. */
  get(key: Buffer): Buffer | undefined {
    const layers = this.#layers();
    const found = layers.length === 0 ? undefined : newest(layers, key.toString('latin1'));
    const bytes = found === undefined ? this.#file.get(key) : found;
    return bytes ? this.#open(key, bytes) : undefined;
  }

  /** Reads every record; returns those whose checksum is wrong, as text. */
  damagedRecords(): string[] {
    const damaged: string[] = [];
    if (!this.isSealed) return damaged;
    for (const { key, value } of this.#sealedRange(allKeys)) {
      const isPlain = formatKey.equals(key);
      if (!isPlain && opened(key, value) === undefined) damaged.push(keyText(key));
    }
    return damaged;
  }

  /** Whether there is such a record, damaged or not. */
  has(key: Buffer): boolean {
    const found = newest(this.#layers(), key.toString('latin1'));
    return (found === undefined ? this.#file.get(key) : found) != null;
  }

  /** Records that do not match their checksum are left out; by default, the first one throws DamagedError. */
  range(range: KeyRange, onDamaged: OnDamaged = refuse): Iterable<Entry> {
    const entries = this.#sealedRange(range);
    return this.isSealed ? openedEntries(entries, onDamaged) : entries;
  }

  #sealedRange(range: KeyRange): Iterable<Entry> {
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
  async write(writes: Writes, { isDirect, format }: WriteOptions = {}): Promise<void> {
    const journal = this.#isJournaling ? this.#journal : undefined;
    const mayAppend = isDirect !== true && format === undefined;
    if (mayAppend && journal && (await this.#append(writes, journal))) return;
    await this.#writeDirectly((put) => {
      writes(this.isSealed ? sealing(put) : put);
      if (format !== undefined) put(formatKey, Buffer.from(formatText(format)));
    });
    this.#format = format ?? this.#format;
  }

  /**
   * Gives every record a checksum, in transactions of a bounded size. The first one sets the format, so that older versions
   * refuse the store from then on; each notes how far it has come, so that a start after a crash continues there.
   */
  async sealRecords(format: number, onProgress: (records: number) => void): Promise<void> {
    let records = 0;
    let from = this.#unsealedFrom;
    // The older version's journal is checkpointed unchanged, while the file still has the old format. On a nearly full disk
    // this takes several transactions.
    await this.checkpoint();
    this.#format = format;
    if (from !== undefined) await this.#noteUnsealed(from, []);
    while (from !== undefined) {
      const entries = this.#nextUnsealed(from);
      const last = entries.at(-1)?.key;
      from = last && Buffer.concat([last, Buffer.alloc(1)]);
      await this.#noteUnsealed(from, entries);
      records += entries.length;
      onProgress(records);
    }
  }

  /** The next records without checksums, in order. */
  #nextUnsealed(from: Buffer): Entry[] {
    const entries: Entry[] = [];
    let bytes = 0;
    for (const { key, value } of this.#file.range({ start: from, end: allKeys.end })) {
      if (ownKeys.some((own) => own.equals(key))) continue;
      entries.push({ key: Buffer.from(key), value: Buffer.from(value) });
      bytes += value.length;
      if (entries.length === sealedRecordsMax || bytes >= sealedBytesMax) break;
    }
    return entries;
  }

  async #noteUnsealed(from: Buffer | undefined, entries: readonly Entry[]): Promise<void> {
    await this.#writeDirectly((put) => {
      for (const { key, value } of entries) put(key, sealed(key, value));
      put(formatKey, Buffer.from(formatText(this.#format ?? 0)));
      put(unsealedKey, from === undefined ? null : sealed(unsealedKey, from));
    });
    this.#unsealedFrom = from;
  }

  /** Only a writer completes an upgrade. */
  #refuseHalfSealed(): void {
    if (this.isSealed || this.#isOfOldFormat) return;
    throw new DataError(
      `The upgrade of the data in ${this.directory} is not complete. Start oncemq serve on it once to complete it.`,
    );
  }

  #open(key: Buffer, bytes: Buffer): Buffer {
    return this.isSealed ? open(key, bytes) : bytes;
  }

  /**
   * Measures the room, and allocates the part that is reserved for removals. Undefined while the journal takes commits, which
   * has its room already. Must not be called during a write.
   */
  room(): Room | undefined {
    if (this.#isJournaling) return undefined;
    const free = freeBytes(this.directory);
    const { usedBytes, unusedBytes } = this.#file.pages();
    const drainingBytes = Math.min(drainingBytesMax, usedBytes * drainingShare);
    // In large pieces, because everything that is allocated this way is written twice.
    const missing = Math.min(drainingBytes - unusedBytes, free);
    if (missing > drainingBytes / 16 && free < journalBytesMin) this.#file.extend(missing);
    return { bytes: unusedBytes + free, drainingBytes };
  }

  /**
   * Writes everything that is only in the journal to LMDB's file, so that the removals among it free pages. LMDB reuses freed
   * pages not in the next transaction but in the one after it, hence the empty one.
   */
  async checkpoint(): Promise<void> {
    if (!this.hasJournaled) return;
    await this.#writeDirectly(() => {});
    await this.#writeDirectly(() => {});
  }

  /** Whether the disk has this much room, as far as is known. */
  hasRoom(bytes: number): boolean {
    return freeBytes(this.directory) >= bytes;
  }

  /**
   * Writes a consistent copy into an existing directory without data. Only for an environment that was opened for reading. The
   * copy may have a journal. What a server has checkpointed since then is in the copy twice, which does no harm: a frame counts
   * only if it follows what LMDB's file has.
   */
  async copyTo(target: string): Promise<void> {
    for (const [index, name] of journalFiles.entries()) {
      writeFileSync(join(target, name), this.#left.files[index] as Buffer, { mode: fileMode });
    }
    await this.#file.copyTo(target);
  }

  usage(): Usage {
    return this.#file.usage();
  }

  async close(): Promise<void> {
    await this.#checkpointing;
    try {
      if (this.#journal !== undefined) await this.#closeJournal(this.#journal);
    } finally {
      this.#journal = undefined;
      await this.#file.close();
    }
  }

  /** Does not leave a journal behind whose records are all in LMDB's file. */
  async #closeJournal(journal: Journal): Promise<void> {
    const last = await this.#writeAll(() => {}).catch(() => undefined);
    await (last === undefined ? journal.close() : this.#dropJournal(last));
  }

  /** What LMDB's file does not have, the oldest first. */
  #layers(): readonly JournalIndex[] {
    const layers = this.#journal?.layers ?? this.#left.layers;
    return layers.some(({ isEmpty }) => !isEmpty) ? layers : [];
  }

  /** Returns false if the commit is too large for the journal, or the journal is full or cannot be written. */
  async #append(writes: Writes, journal: Journal): Promise<boolean> {
    if (journal.isFull) {
      await this.#checkpointing;
      if (!this.#isJournaling || !this.#mayJournal()) return false;
    }
    const sealed = journal.isFull ? journal.seal() : undefined;
    let appended: Promise<void> | undefined;
    try {
      appended = journal.append(writes);
    } finally {
      // The commit is already on its way to the disk.
      if (sealed !== undefined) this.#checkpoint(sealed, journal);
    }
    try {
      await appended;
    } catch {
      this.#stopJournaling();
      return false;
    }
    return appended !== undefined;
  }

  #checkpoint({ layer, last }: Sealed, journal: Journal): void {
    this.#checkpointing = this.#file
      .write((put) => layer.each(put), this.#checkpointed(last))
      .then(
        () => {
          journal.release();
          this.#isJournaling = this.#mayJournal();
        },
        // It stays in the journal; the next commit is direct, and reports the reason if that fails too.
        () => this.#stopJournaling(),
      )
      .finally(() => {
        this.#checkpointing = undefined;
      });
  }

  async #writeDirectly(writes: Writes): Promise<void> {
    await this.#checkpointing;
    let last: Checkpoint;
    try {
      last = await this.#writeAll(writes);
    } catch (error) {
      this.#stopJournaling();
      throw error;
    }
    this.#isJournaling = this.isSealed && this.#mayJournal() && this.#hasJournal(last);
    if (!this.#isJournaling) await this.#dropJournal(last);
  }

  /**
   * Only the last part records the frames as checkpointed. A start before that finds them in the journal and writes the same
   * records again. So nothing may be appended to the journal until the last part is written, because a layer forgets records
   * that were written and removed within it.
   */
  async #checkpointInParts(): Promise<void> {
    this.#isJournaling = false;
    releaseReserve(this.directory);
    const before = this.#checkpointed(this.#lastCheckpoint() as Checkpoint);
    for (const part of partsOf(this.#layers())) {
      await this.#file.write((put) => {
        for (const { key, value } of part) put(key, value);
      }, before);
    }
    await this.#file.write(() => {}, this.#checkpointed(this.#claimNumber()));
    this.#forgetJournaled();
  }

  /** Gives the journal's space back to the disk. All its records are in LMDB's file. */
  async #dropJournal({ number }: Checkpoint): Promise<void> {
    if (!this.#hasFiles) return;
    await this.#journal?.close();
    this.#journal = undefined;
    this.#claimed = number;
    removeJournal(this.directory);
    this.#hasFiles = false;
  }

  /** The number of a commit that goes directly into LMDB's file. */
  #claimNumber(): Checkpoint {
    if (this.#journal !== undefined) return this.#journal.claimNumber();
    this.#claimed += 1;
    return { run: this.#run, number: this.#claimed };
  }

  #stopJournaling(): void {
    this.#isJournaling = false;
    this.#isDistrusted ||= this.hasRoom(journalingBytesMin);
  }

  #mayJournal(): boolean {
    if (this.#isDistrusted) return false;
    return this.hasRoom(this.#journal === undefined ? journalBytesMin : journalingBytesMin);
  }

  /** All that is only in the journal and these writes, in one transaction if the disk has room. Returns its number. */
  async #writeAll(writes: Writes): Promise<Checkpoint> {
    const isTight = this.#isDistrusted || !this.hasRoom(journalingBytesMin);
    if (isTight && this.hasJournaled) await this.#checkpointInParts();
    const layers = this.#layers();
    const last = this.#claimNumber();
    await this.#file.write((put) => {
      for (const [index, layer] of layers.entries()) layer.each(put, layers[index + 1]);
      writes(put);
    }, this.#checkpointed(last));
    this.#forgetJournaled();
    return last;
  }

  #forgetJournaled(): void {
    this.#left = nothingLeft;
    this.#journal?.restart();
  }

  #checkpointed(last: Checkpoint): Entry {
    const value = jsonOf({ durability: this.#options.durability, ...last });
    return {
      key: checkpointKey,
      value: this.#isOfOldFormat ? value : sealed(checkpointKey, value),
    };
  }

  /** Opens the journal if it is not open. If it cannot be opened, all commits are direct. */
  #hasJournal(last: Checkpoint): boolean {
    try {
      this.#hasFiles = true;
      this.#journal ??= new Journal(this.directory, last, this.#options);
      return true;
    } catch {
      this.#isDistrusted = true;
      return false;
    }
  }
}

function open(key: Buffer, bytes: Buffer): Buffer {
  return opened(key, bytes) ?? refuse(key);
}

function refuse(key: Buffer): never {
  throw new DamagedError(`${keyText(key)} does not match its checksum`);
}

function* openedEntries(entries: Iterable<Entry>, onDamaged: OnDamaged): Generator<Entry> {
  for (const { key, value: bytes } of entries) {
    const value = opened(key, bytes);
    if (value === undefined) onDamaged(key);
    else yield { key, value };
  }
}

function formatFrom(file: LmdbFile): number | undefined {
  const bytes = file.get(formatKey);
  if (bytes === undefined) return undefined;
  const format = formatIn(bytes.toString('latin1', 0, bytes.length));
  if (format !== undefined) return format;
  throw damaged(file.directory, 'its format number is not valid');
}
