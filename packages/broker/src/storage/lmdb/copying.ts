/**
 * A data directory as the source or the target of a copy (storage/copying). The copy is made in a subdirectory, and its file
 * is put into place once it is complete and verified, so a server never starts on a part of it.
 */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Change, type OwnerId, ownerOf } from '../../core/changes.ts';
import { CopyError, type CopySource, type CopyTarget } from '../copying/copy.ts';
import { makeDirectory } from '../make-directory.ts';
import { rowKinds } from '../record-families.ts';
import { ByteWriter } from '../records/bytes.ts';
import type { Store, StoreUser } from '../store.ts';
import { Batch } from './commit/batch.ts';
import { putInPlace } from './file/backup-target.ts';
import { dataFile } from './file/data-directory.ts';
import { damagedInPart, readingError } from './file/data-error.ts';
import { Environment } from './file/environment.ts';
import { currentFormat, knownFormat } from './file/format.ts';
import { openDataStore } from './open.ts';
import { LoadedWindowEntry } from './records/block.ts';
import { Damage, refuseDamage } from './records/damage.ts';
import { keyOf, rangeOf } from './records/keys.ts';
import { latestTimeIn, loadCatalog } from './records/loading.ts';
import { readHead } from './records/owner-records.ts';
import { RecordMapper } from './records/record-mapper.ts';

/** A copy is made as of the last commit: nothing expires on the way. */
const nothingExpires: Pick<StoreUser, 'windowExpiredUntil' | 'reserve'> = {
  windowExpiredUntil: () => Number.NEGATIVE_INFINITY,
  reserve: () => {},
};

/** Of the stopped server's directory; that of a running one is refused. */
export async function openDataSource(directory: string): Promise<CopySource> {
  const environment = await Environment.open({ directory, isReadOnly: true, isAlone: true });
  try {
    const format = knownFormat(environment) ?? currentFormat;
    if (format < currentFormat) {
      throw new CopyError(
        `The data in ${environment.directory} is of format ${format}: start a server of this version on it once, which upgrades it, and stop it.`,
      );
    }
    return new DataSource(environment);
  } catch (error) {
    await environment.close();
    throw error;
  }
}

class DataSource implements CopySource {
  readonly name: string;
  readonly time: number;
  readonly state: string;
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.name = environment.directory;
    this.time = latestTimeIn(environment);
    this.state = `${this.time} ${environment.usage().records}`;
    this.#environment = environment;
  }

  async count(): Promise<number> {
    const environment = this.#environment;
    const { owners, names } = loadCatalog(environment, new Damage());
    let count = names.length;
    for (const records of owners) {
      const head = environment.get(keyOf('head', records.contents, 0));
      const { messages, windowEntries } = head ? readHead(head) : { messages: 0, windowEntries: 0 };
      count += 2 + messages + windowEntries;
      for (const kind of rowKinds) {
        for (const number of records.numbers) {
          const keys = environment.keys(rangeOf(kind, number), Number.MAX_SAFE_INTEGER);
          for (const _ of keys) count += 1;
        }
      }
    }
    return count;
  }

  async *pieces(): AsyncGenerator<readonly Change[]> {
    const { directory } = this.#environment;
    const mapper = new RecordMapper(this.#environment, nothingExpires);
    const damage = new Damage();
    // Takes what a start would tidy up; nothing is written here.
    const unwritten = new Batch(new ByteWriter(), new ByteWriter());
    try {
      for (const changes of mapper.load(unwritten, damage)) {
        yield changes.map(withTexts).map((change) => withContent(change, mapper, directory));
      }
    } catch (error) {
      throw readingError(directory, error);
    }
    refuseDamage(directory, damage);
  }

  /** The lock of the directory keeps others away. */
  async refuseChanges(): Promise<void> {}

  close(): Promise<void> {
    return this.#environment.close();
  }
}

/** A window entry that does not depend on the record that it was read from: the next read may overwrite that. */
function withTexts(change: Change): Change {
  const isEntry = change.kind === 'window' || change.kind === 'topic-window';
  return isEntry && change.value instanceof LoadedWindowEntry
    ? { ...change, value: change.value.whole() }
    : change;
}

function withContent(change: Change, mapper: RecordMapper, directory: string): Change {
  if (change.kind !== 'message' || change.value === null) return change;
  const content = mapper.content(change.queue, change.id);
  if (content === undefined) {
    throw damagedInPart(directory, [
      `${change.queue}: the content of message ${change.id} is gone`,
    ]);
  }
  return { ...change, value: { ...change.value, content } };
}

/** Beside the data of the copy: what it is a copy of. */
const noteFile = 'copy.json';

export class DataTarget implements CopyTarget {
  readonly #directory: string;
  readonly #unfinished: string;
  #store: Store | undefined;
  /** A queue's counter is written with each part of it, and with it how much there is. */
  readonly #counters: Map<OwnerId, Change> = new Map();

  constructor(directory: string) {
    this.#directory = resolve(directory);
    this.#unfinished = join(this.#directory, 'unfinished-copy');
  }

  async begin({ name, state, time }: CopySource): Promise<number> {
    this.#refuseData();
    if (!existsSync(this.#unfinished)) makeDirectory(this.#unfinished);
    const note = join(this.#unfinished, noteFile);
    const what = JSON.stringify({ from: name, state });
    if (!existsSync(note)) writeFileSync(note, what);
    else if (readFileSync(note, 'utf8') !== what) {
      throw new CopyError(
        `${this.#unfinished} has a part of another copy, or the source has changed since. Remove that directory to begin again.`,
      );
    }
    const { storeFor } = await openDataStore({ directory: this.#unfinished });
    this.#store = storeFor({
      ...nothingExpires,
      now: () => time,
      takeBack: () => {},
      suspend: () => {},
      resume: () => {},
      committed: () => {},
    });
    let there = 0;
    for await (const changes of this.#store.load()) {
      there += changes.length;
      this.#noteCounters(changes);
    }
    return there;
  }

  async write(changes: readonly Change[]): Promise<void> {
    const store = this.#store as Store;
    this.#noteCounters(changes);
    const counters = [...new Set(changes.map(ownerOf))].flatMap(
      (owner) => this.#counters.get(owner) ?? [],
    );
    store.apply([...changes, ...counters]);
    await store.kept();
  }

  async written(): Promise<CopySource> {
    await this.close();
    return openDataSource(this.#unfinished);
  }

  async finish(): Promise<void> {
    this.#refuseData();
    await putInPlace(this.#unfinished, this.#directory);
    rmSync(this.#unfinished, { recursive: true });
  }

  async close(): Promise<void> {
    await this.#store?.close();
    this.#store = undefined;
  }

  #noteCounters(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.kind === 'counter' || change.kind === 'topic-counter') {
        this.#counters.set(ownerOf(change), change);
      }
    }
  }

  #refuseData(): void {
    if (!existsSync(join(this.#directory, dataFile))) return;
    throw new CopyError(
      `${this.#directory} already contains data. Choose another directory, or remove it.`,
    );
  }
}
