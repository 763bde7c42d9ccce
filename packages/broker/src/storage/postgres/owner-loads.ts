/**
 * Loads what a node does not have: the contents of an owner when a command touches it, each once at a time, and the catalog.
 */

import { Drifted } from '../../core/engine.ts';
import { Unavailable } from '../backend.ts';
import type { Clock } from '../clock.ts';
import { DamagedError } from '../records/bytes.ts';
import { catalogNumber, type Journal } from './journal.ts';
import { UnknownFormat } from './journal-row.ts';
import type { LostCommits } from './lost-commits.ts';
import type { Replica, ReplicaOwner } from './replica.ts';
import type { UnreadableOwners } from './unreadable-owners.ts';

export interface OwnerLoadsOptions {
  readonly replica: Replica;
  readonly journal: Journal;
  readonly unreadable: UnreadableOwners;
  readonly clock: Clock;
  readonly lost: LostCommits;
  /** Queues may have gone or changed without a row that says so. */
  readonly onReloaded: () => void;
  /** The time of the last batch. */
  readonly now: () => number;
  /** Does one thing at a time with what the node knows. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
}

export class OwnerLoads {
  readonly #options: OwnerLoadsOptions;
  readonly #loads: Map<ReplicaOwner, Promise<void>> = new Map();
  #hasMissed = false;

  constructor(options: OwnerLoadsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#loads.size;
  }

  /** Whether an owner was not there when it was to be loaded: the catalog has news. */
  takeMissed(): boolean {
    const hasMissed = this.#hasMissed;
    this.#hasMissed = false;
    return hasMissed;
  }

  /** Resolves when one of them has ended; rejects if it failed. */
  async any(): Promise<void> {
    if (this.#loads.size > 0) await Promise.race(this.#loads.values());
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#loads.values());
  }

  async catalog(): Promise<void> {
    const { replica, journal, clock, lost, onReloaded } = this.#options;
    lost.suspect({
      name: 'the list of queues and topics',
      number: catalogNumber,
      ...replica.catalog,
    });
    for (const owner of replica.all()) if (owner.mode === 'loaded') lost.suspect(owner);
    const loaded = await journal.load(catalogNumber);
    if (loaded === undefined) throw new Unavailable('the tables of the database are empty');
    const records: Buffer[] = [];
    for await (const page of loaded.records) for (const record of page) records.push(record);
    this.#loads.clear();
    replica.loadCatalog(records, loaded, clock.now());
    await lost.check();
    onReloaded();
  }

  load(owner: ReplicaOwner): Promise<void> {
    const { replica } = this.#options;
    if (owner.mode === 'loaded') return Promise.resolve();
    const known = this.#loads.get(owner);
    if (known !== undefined) return known;
    replica.beginLoad(owner);
    owner.usedAt = performance.now();
    const loading = this.#load(owner).finally(() => {
      this.#loads.delete(owner);
    });
    this.#loads.set(owner, loading);
    // Whoever waits for it is told; often nobody does.
    loading.catch(() => {});
    return loading;
  }

  async #load(owner: ReplicaOwner): Promise<void> {
    const { replica, journal, unreadable, clock, now, inTurn } = this.#options;
    try {
      const loaded = await journal.load(owner.number);
      if (loaded === undefined) {
        // It is gone; the catalog says so.
        replica.unload(owner, now());
        this.#hasMissed = true;
        return;
      }
      for await (const records of loaded.records) {
        if (!replica.isLoading(owner)) return;
        replica.loadPart(owner, records, loaded, clock.now());
      }
      if (loaded.catalogVersion > replica.catalog.version) await inTurn(() => this.#catchUp());
      if (replica.isLoading(owner)) replica.endLoad(owner, loaded);
    } catch (error) {
      if (replica.get(owner.name) === owner) replica.unload(owner, now());
      if (error instanceof UnknownFormat || error instanceof DamagedError) {
        unreadable.note(owner.name, error);
        return;
      }
      if (!(error instanceof Drifted)) throw error;
      await inTurn(() => this.catalog());
    }
  }

  /** The settings of an owner that was read are the catalog's, as far as it was then. */
  async #catchUp(): Promise<void> {
    const { replica, journal } = this.#options;
    const { version } = replica.catalog;
    replica.absorb(await journal.rowsOf([{ number: catalogNumber, version }]));
  }
}
