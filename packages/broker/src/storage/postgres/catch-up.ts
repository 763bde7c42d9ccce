/**
 * How a node learns what others have appended: rows are absorbed in order, and what does not follow from what is known is
 * loaded again. Then it tells which of the locked owners are here in the very state that was locked; nothing else may be
 * changed.
 */

import { type Change, catalog, type OwnerId, ownerOf } from '../../core/changes.ts';
import { Drifted } from '../../core/engine.ts';
import type { Clock } from '../clock.ts';
import { type Begun, catalogNumber, type Journal, type JournalRow } from './journal.ts';
import { UnknownFormat } from './journal-row.ts';
import type { LostCommits } from './lost-commits.ts';
import type { Replica, ReplicaOwner } from './replica.ts';
import type { UnreadableOwners } from './unreadable-owners.ts';

export interface CatchUpOptions {
  readonly replica: Replica;
  readonly journal: Journal;
  readonly unreadable: UnreadableOwners;
  readonly clock: Clock;
  readonly lost: LostCommits;
}

/** Due work of an owner that another node used last is left to it for this long. */
const othersDueMs = 1_500;
/** By less than this, another node or the database before a failover may have been ahead: time stands still meanwhile. */
const behindMsMax = 2_000;

export class CatchUp {
  readonly #options: CatchUpOptions;
  #now = 0;
  /** When it was that, by this process's own clock. */
  #nowAt = performance.now();
  #lead = 0;
  #absorbed: Change[] = [];
  #absorbedCount = 0;

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  /** The time of the last batch. */
  get now(): number {
    return this.#now;
  }

  /** How far the clock here is ahead of the database's. */
  get lead(): number {
    return this.#lead;
  }

  /** Changes of others, since this process began. */
  get absorbedCount(): number {
    return this.#absorbedCount;
  }

  /** Absorbs what is new. Returns the batch's time. */
  async take({ rows, now, locked, catalog: head }: Begun): Promise<number> {
    const { replica, journal, clock } = this.#options;
    this.#absorb(() => replica.absorb(rows), now);
    const { version, tail } = replica.catalog;
    // The same version with another tail is one that was lost and written anew; its numbers are those of other owners.
    if ((version !== head.version || tail !== head.tail) && !rows.some(isOfCatalog)) {
      throw new Drifted(catalog, `its rows do not lead to version ${head.version}`);
    }
    const { lagging } = replica;
    if (lagging.length > 0) {
      const more = await journal.rowsOf(lagging);
      this.#absorb(() => replica.absorb(more), now);
      // What is left of their rows does not lead there.
      for (const owner of replica.lagging) replica.unload(owner, now);
    }
    const known = Math.max(this.#now, ...locked.map(({ time }) => time));
    const isReal = clock.kind === 'real';
    this.#now = isReal ? this.#timeAfter(known, now) : Math.max(known, now);
    this.#nowAt = performance.now();
    this.#lead = isReal ? Math.max(0, clock.now() - this.#now) : 0;
    clock.notBefore(this.#now);
    return this.#now;
  }

  /** The database's time. If its clock was set back, time goes on from what is known, instead of standing still until then. */
  #timeAfter(known: number, now: number): number {
    if (known - now <= behindMsMax) return Math.max(known, now);
    return Math.max(known, Math.floor(this.#now + performance.now() - this.#nowAt));
  }

  /** The owners that are locked, and here in the state that was locked. */
  usable({ locked }: Begun): ReadonlySet<OwnerId> {
    const { replica } = this.#options;
    const usable = new Set<OwnerId>();
    for (const { number, version, tail, isGone } of locked) {
      if (number === catalogNumber) {
        const known = replica.catalog;
        if (known.version !== version || known.tail !== tail) {
          throw new Drifted(catalog, `version ${version} is not what was read`);
        }
        usable.add(catalog);
        continue;
      }
      const owner = replica.byNumber(number);
      if (owner?.mode !== 'loaded' || isGone) continue;
      if (owner.version === version && owner.tail === tail) usable.add(owner.name);
      else {
        this.#unload(owner, this.#now);
      }
    }
    return usable;
  }

  /** These changes were absorbed; what they make due is done first by the node that appended them. */
  note(changes: readonly Change[]): void {
    this.#absorbed.push(...changes);
    this.#absorbedCount += changes.length;
    const { clock, replica } = this.#options;
    if (clock.kind !== 'real') return;
    const now = clock.now();
    let last: OwnerId | undefined;
    for (const change of changes) {
      const owner = ownerOf(change);
      if (owner === last) continue;
      last = owner;
      const due = replica.engine.dueAt(owner);
      if (due !== undefined) replica.engine.postpone(owner, Math.max(due, now) + othersDueMs);
    }
  }

  /** What was absorbed since the last time. */
  takeAbsorbed(): readonly Change[] {
    const absorbed = this.#absorbed;
    this.#absorbed = [];
    return absorbed;
  }

  /** An owner whose rows do not follow what is known of it is loaded again; without the catalog, everything is. */
  #absorb(absorb: () => void, now: number): void {
    const { replica, unreadable } = this.#options;
    for (;;) {
      try {
        absorb();
        return;
      } catch (error) {
        const isAboutOwner = error instanceof Drifted || error instanceof UnknownFormat;
        if (!isAboutOwner || error.owner === catalog) throw error;
        if (error instanceof UnknownFormat) unreadable.note(error.owner, error);
        const owner = replica.get(error.owner);
        if (owner === undefined) throw error;
        this.#unload(owner, now);
      }
    }
  }

  /** What is known of it does not lead to what is there. */
  #unload(owner: ReplicaOwner, now: number): void {
    const { replica, lost } = this.#options;
    lost.suspect(owner);
    void lost.check();
    replica.unload(owner, now);
  }
}

function isOfCatalog({ number }: JournalRow): boolean {
  return number === catalogNumber;
}
