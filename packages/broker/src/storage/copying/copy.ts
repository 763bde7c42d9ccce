/**
 * Copies everything from one store to another: settings, messages with what senders wrote, delivery state, windows, archives,
 * move tasks and the secrets behind receipt handles and message ids. Both sides speak changes, as an engine does, so neither
 * knows what the other one is.
 *
 * Changes come in the same order each time, and the target keeps them in that order. So a copy that was interrupted goes on
 * after those that the target has. At the end everything is read back from the target, compared with the source by count and
 * digest, and loaded into an engine, before a server may use it.
 */

import { type Change, type OwnerId, ownerOf } from '../../core/changes.ts';
import { Drifted, Engine } from '../../core/engine.ts';
import { CopyDigests } from './copy-digests.ts';

export interface CopySource {
  /** As people are told. */
  readonly name: string;
  /** The time of its last commit: the copy's clock continues from there. */
  readonly time: number;
  /** Differs once anything has been changed there. */
  readonly state: string;
  /** About how many changes there are. */
  count(): Promise<number>;
  /** All changes, in the same order each time; those of one queue or topic follow each other, its settings first. */
  pieces(): AsyncIterable<readonly Change[]>;
  /** Throws if it was changed since it was opened. */
  refuseChanges(): Promise<void>;
  close(): Promise<void>;
}

export interface CopyTarget {
  /** Returns how many changes it has from an earlier run of the same copy. Refuses one that has anything else. */
  begin(source: Pick<CopySource, 'name' | 'time' | 'state'>): Promise<number>;
  /** Resolves once they are kept, all or none. */
  write(changes: readonly Change[]): Promise<void>;
  /** What was written so far, read back. */
  written(): Promise<CopySource>;
  /** From now on servers may use it. `dueAt` says when something of a queue or topic falls due. */
  finish(dueAt: ReadonlyMap<OwnerId, number>): Promise<void>;
  close(): Promise<void>;
}

/** The copy cannot be made, or cannot go on; the message says why and what to do. */
export class CopyError extends Error {
  override readonly name: string = 'CopyError';
}

export interface CopyProgress {
  readonly stage: 'copying' | 'verifying';
  readonly done: number;
  readonly total: number;
}

export interface Copied {
  readonly changes: number;
  /** Of these, how many an earlier run had copied. */
  readonly resumed: number;
}

/** One write carries at most this many changes, or about this many characters of what senders wrote. */
const changesPerWrite = 2_000;
const charsPerWrite = 4_000_000;

export async function copy(
  source: CopySource,
  target: CopyTarget,
  onProgress: (progress: CopyProgress) => void,
): Promise<Copied> {
  const resumed = await target.begin(source);
  const total = await source.count();
  const digests = new CopyDigests();
  let done = 0;
  for await (const changes of inWrites(source.pieces())) {
    digests.add(changes);
    const missing = changes.slice(Math.max(0, resumed - done));
    if (missing.length > 0) await target.write(missing);
    done += changes.length;
    onProgress({ stage: 'copying', done, total: Math.max(total, done) });
  }
  await source.refuseChanges();
  await verify(target, digests, (verified) =>
    onProgress({ stage: 'verifying', done: verified, total: done }),
  );
  return { changes: done, resumed };
}

async function verify(
  target: CopyTarget,
  expected: CopyDigests,
  onProgress: (verified: number) => void,
): Promise<void> {
  const written = await target.written();
  const digests = new CopyDigests();
  const dueAt = new Map<OwnerId, number>();
  let verified = 0;
  try {
    const loading = new LoadingEngine(written.time, dueAt);
    for await (const changes of written.pieces()) {
      digests.add(changes);
      loading.absorb(changes);
      verified += changes.length;
      onProgress(verified);
    }
    loading.end();
  } catch (error) {
    if (!(error instanceof Drifted)) throw error;
    throw new CopyError(`The copy cannot be loaded: ${error.message}.`, { cause: error });
  } finally {
    await written.close();
  }
  const difference = expected.differenceFrom(digests);
  if (difference !== undefined) {
    throw new CopyError(
      `The copy is not what was copied: ${difference}. If the source was used meanwhile, remove the copy and begin again.`,
    );
  }
  await target.finish(dueAt);
}

/** One queue or topic at a time. */
class LoadingEngine {
  readonly #engine: Engine = new Engine();
  readonly #now: number;
  readonly #dueAt: Map<OwnerId, number>;
  #owner: OwnerId | undefined;

  constructor(now: number, dueAt: Map<OwnerId, number>) {
    this.#now = now;
    this.#dueAt = dueAt;
  }

  absorb(changes: readonly Change[]): void {
    for (const part of byOwner(changes)) {
      const owner = ownerOf(part[0] as Change);
      if (owner !== this.#owner) this.end();
      this.#owner = owner;
      this.#engine.absorb(part, this.#now);
    }
  }

  /** Forgets the contents of the one that is complete; its settings stay, since others may refer to them. */
  end(): void {
    if (this.#owner === undefined) return;
    const due = this.#engine.dueAt(this.#owner);
    if (due !== undefined) this.#dueAt.set(this.#owner, due);
    this.#engine.unload(this.#owner);
    this.#owner = undefined;
  }
}

/** In the same order, cut where the queue or topic changes. */
export function byOwner(changes: readonly Change[]): Change[][] {
  const parts: Change[][] = [];
  let last: OwnerId | undefined;
  for (const change of changes) {
    const owner = ownerOf(change);
    if (owner !== last) parts.push([]);
    last = owner;
    parts.at(-1)?.push(change);
  }
  return parts;
}

async function* inWrites(
  pieces: AsyncIterable<readonly Change[]>,
): AsyncGenerator<readonly Change[]> {
  let gathered: Change[] = [];
  let chars = 0;
  for await (const changes of pieces) {
    for (const change of changes) {
      gathered.push(change);
      chars += charsIn(change);
      if (gathered.length < changesPerWrite && chars < charsPerWrite) continue;
      yield gathered;
      gathered = [];
      chars = 0;
    }
  }
  if (gathered.length > 0) yield gathered;
}

function charsIn(change: Change): number {
  if (!('value' in change) || change.value === null) return 0;
  if (change.kind === 'message') {
    return 'body' in change.value.content ? change.value.content.body.length : 0;
  }
  if (change.kind === 'archived') return change.value.message.length;
  return change.kind === 'post' ? (change.value.publication?.message.length ?? 0) : 0;
}
