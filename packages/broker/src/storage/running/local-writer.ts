/**
 * The writer of one process: it applies each command at once, in memory, and passes the changes to the store, which commits
 * them in groups. There is no other writer, so there is nothing to lock or to absorb.
 *
 * If a command throws in the engine, the engine holds a part of it and the store nothing. The queues and topics concerned
 * are then dropped and loaded again with everything applied before (`#undo`), and only this request fails.
 */

import type { Change, OwnerId, OwnerPut, QueueSize } from '../../core/changes.ts';
import type { Command } from '../../core/commands.ts';
import { windowExpiredUntil } from '../../core/deduplication/window-expiry.ts';
import { type Applied, CommandFailed, type Engine, type Ids } from '../../core/engine.ts';
import type { Commit } from '../backend.ts';
import type { Store, StoreUser } from '../store.ts';
import type { Writer, WriterUser } from './writer.ts';

/** How many changes are loaded before the event loop gets a turn. */
const loadedAtOnce = 20_000;

export interface LocalWriterOptions {
  readonly newEngine: () => Engine;
  readonly ids: Ids;
  readonly storeFor: (user: StoreUser) => Store;
  readonly user: WriterUser;
}

export class LocalWriter implements Writer, StoreUser {
  readonly store: Store;
  readonly #newEngine: () => Engine;
  readonly #ids: Ids;
  readonly #user: WriterUser;
  #engine: Engine;

  constructor({ newEngine, ids, storeFor, user }: LocalWriterOptions) {
    this.#newEngine = newEngine;
    this.#ids = ids;
    this.#user = user;
    this.#engine = newEngine();
    this.store = storeFor(this);
  }

  get kind(): string {
    return this.store.kind;
  }

  async load(onProgress: (changes: number) => void): Promise<void> {
    let loaded = 0;
    let toldAt = 0;
    for await (const changes of this.store.load()) {
      this.#engine.absorb(changes, this.now());
      loaded += changes.length;
      if (loaded < toldAt + loadedAtOnce) continue;
      toldAt = loaded;
      onProgress(loaded);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  step<C extends Command>(command: C, now: number): Applied<C['type']> {
    const applied = this.#applyOrUndo(command, now);
    this.store.apply(applied.changes);
    this.#user.applied(applied);
    return applied;
  }

  kept(): Promise<void> | undefined {
    return this.store.kept();
  }

  answer<O, A>(outcome: O, prepare: (outcome: O) => A): Promise<A> {
    return this.store.answer(outcome, prepare);
  }

  noteTime(): void {
    this.store.noteTime();
  }

  unavailable(): string | undefined {
    return this.store.unavailable();
  }

  get isFrozen(): boolean {
    return this.store.isFrozen;
  }

  get isIncomplete(): boolean {
    return this.store.isIncomplete;
  }

  nextDueAt(): number | undefined {
    return this.#engine.nextDueAt();
  }

  isBehind(command: Command, since: number): boolean {
    return this.#engine.isBehind(command, since);
  }

  postpone(owner: OwnerId, until: number): void {
    this.#engine.postpone(owner, until);
  }

  fileBytes(): number | undefined {
    return this.store.fileBytes();
  }

  reset(): void {
    this.#engine = this.#newEngine();
    this.store.clear();
  }

  close(): Promise<void> {
    return this.store.close();
  }

  now(): number {
    return this.#user.now();
  }

  takeBack(owners: ReadonlySet<OwnerId>, kept: Iterable<readonly Change[]>): void {
    for (const owner of owners) this.#engine.drop(owner);
    for (const changes of kept) this.#engine.absorb(changes, this.now());
  }

  windowExpiredUntil(owner: OwnerPut): number {
    return windowExpiredUntil(owner, this.now());
  }

  reserve(queue: string, size: QueueSize): void {
    this.#engine.reserve(queue, size);
  }

  suspend(): void {
    this.#user.suspend();
  }

  resume(): void {
    this.#user.resume();
  }

  committed(commit: Commit): void {
    this.#user.committed(commit);
  }

  #applyOrUndo<C extends Command>(command: C, now: number): Applied<C['type']> {
    try {
      return this.#engine.apply(command, { now, ids: this.#ids });
    } catch (error) {
      if (error instanceof CommandFailed) this.#undo(error.concerned);
      throw error;
    }
  }

  /** Brings these queues and topics back to what was applied to them before. */
  #undo(owners: ReadonlySet<OwnerId>): void {
    try {
      this.takeBack(owners, this.store.applied(owners));
    } catch (error) {
      this.store.abandon(error);
      this.suspend();
    }
  }
}
