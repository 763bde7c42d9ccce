/**
 * Which of the waiting commands a batch carries, and applying them. What a command touches is looked up twice: before the
 * batch, to know what to lock, and again once the node has caught up, since others may have changed what it leads to. A
 * command that touches what is not locked waits for the next batch, and so do those behind it that touch the same.
 */

import { catalog, type OwnerId } from '../../core/changes.ts';
import type { Command, CommandOf } from '../../core/commands.ts';
import { CommandFailed, type Ids } from '../../core/engine.ts';
import { Unavailable } from '../backend.ts';
import type { Clock } from '../clock.ts';
import { catalogNumber } from './journal.ts';
import type { Replica, ReplicaOwner } from './replica.ts';
import type { UnreadableOwners } from './unreadable-owners.ts';
import type { Done, Waiting, WaitingCommands } from './waiting-commands.ts';

export interface BatchCommandsOptions {
  readonly replica: Replica;
  readonly waiting: WaitingCommands;
  readonly unreadable: UnreadableOwners;
  readonly clock: Clock;
  readonly ids: Ids;
  /** How far the clock here is ahead of the database's. */
  readonly lead: () => number;
  /** Loads an owner that is not here; whoever waits for it looks again later. */
  readonly load: (owner: ReplicaOwner) => void;
}

/** The commands of a batch, and the owners to lock for them. */
export interface Chosen {
  readonly candidates: readonly Candidate[];
  readonly owners: readonly ReplicaOwner[];
}

/** A waiting command; of a tick, the part that this batch tries. */
export interface Candidate {
  readonly waiting: Waiting;
  readonly command: Command;
}

const batchCommandsMax = 2_000;
/** How many due owners one tick has, and when what was locked by others is tried again. */
const tickOwnersMax = 100;
const skippedDueMs = 50;

export class BatchCommands {
  readonly #options: BatchCommandsOptions;

  constructor(options: BatchCommandsOptions) {
    this.#options = options;
  }

  /** Commands for the next batch, in order; the first alone if the batch is to wait for whatever that touches. */
  choose(isFirstAlone: boolean): Chosen {
    const { replica, waiting: all, unreadable, load } = this.#options;
    const candidates: Candidate[] = [];
    const owners = new Set<ReplicaOwner>();
    const blocked = new Set<OwnerId>();
    for (const waiting of all) {
      if (candidates.length >= batchCommandsMax) break;
      const command = this.#partOf(waiting);
      const touched = replica.engine.touches(command, waiting.now);
      const problem = unreadable.problemOf(touched);
      if (problem !== undefined) {
        all.reject([waiting], new Unavailable(problem.message, { cause: problem }));
        continue;
      }
      const known = touched.flatMap((name) => replica.get(name) ?? []);
      const missing = known.filter(({ mode }) => mode !== 'loaded');
      for (const owner of missing) load(owner);
      if (missing.length > 0 || touched.some((name) => blocked.has(name))) {
        for (const name of touched) blocked.add(name);
        continue;
      }
      candidates.push({ waiting, command });
      for (const owner of known) owners.add(owner);
      if (touched.includes(catalog)) owners.add(catalogOwner);
      if (isFirstAlone) break;
    }
    return { candidates, owners: [...owners] };
  }

  /** Applies what touches nothing but locked owners, and new ones. */
  apply(candidates: readonly Candidate[], locked: ReadonlySet<OwnerId>, now: number): Done[] {
    const { replica, ids } = this.#options;
    const done: Done[] = [];
    const blocked = new Set<OwnerId>();
    const isFree = (name: OwnerId): boolean => {
      if (blocked.has(name) || replica.hasRemoved(name)) return false;
      const owner = replica.get(name);
      if (name !== catalog && owner === undefined) return true;
      return locked.has(name) || replica.hasCreated(name);
    };
    for (const { waiting, command: chosen } of candidates) {
      const command = this.#limited(chosen, now, isFree);
      const touched = replica.engine.touches(command, now);
      if (!touched.every(isFree)) {
        for (const name of touched) blocked.add(name);
        continue;
      }
      const usedAt = performance.now();
      for (const name of touched) {
        const owner = replica.get(name);
        if (owner !== undefined) owner.usedAt = usedAt;
      }
      try {
        done.push({ waiting, applied: replica.apply(command, { now, ids }) });
      } catch (error) {
        throw error instanceof CommandFailed ? new FailedInBatch(waiting, error) : error;
      }
    }
    return done;
  }

  /** A tick takes so many owners at a time. */
  #partOf({ command, now }: Waiting): Command {
    if (command.type !== 'tick') return command;
    const { replica, lead } = this.#options;
    const due = replica.engine.dueBy(now - lead()).slice(0, tickOwnersMax);
    return { type: 'tick', owners: new Set(due) };
  }

  /** A tick does what it can at the owners that are locked; the others stay due. */
  #limited(command: Command, now: number, isFree: (owner: OwnerId) => boolean): Command {
    if (command.type !== 'tick') return command;
    const { replica, clock } = this.#options;
    const { engine } = replica;
    // A clock that is moved by hand is not to pass over what is locked for a moment of real time.
    const isReal = clock.kind === 'real';
    const owners = new Set<OwnerId>();
    for (const owner of command.owners ?? []) {
      const tick: CommandOf<'tick'> = { type: 'tick', owners: new Set([owner]) };
      if (engine.touches(tick, now).every(isFree)) owners.add(owner);
      else if (owner !== catalog && isReal) engine.postpone(owner, now + skippedDueMs);
    }
    return { type: 'tick', owners };
  }
}

/** A command failed in the engine: it alone is told; the others of the batch are tried again. */
export class FailedInBatch extends Error {
  readonly waiting: Waiting;
  readonly failure: CommandFailed;

  constructor(waiting: Waiting, failure: CommandFailed) {
    super(failure.message, { cause: failure });
    this.waiting = waiting;
    this.failure = failure;
  }
}

/** Stands for the catalog where owners are locked. */
const catalogOwner: ReplicaOwner = {
  name: catalog,
  number: catalogNumber,
  // Its rows are asked for by the version that is known.
  version: Number.MAX_SAFE_INTEGER,
  tail: 0,
  mode: 'loaded',
  ahead: [],
  usedAt: 0,
};
