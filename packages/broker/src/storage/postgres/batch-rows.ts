/**
 * The rows of a batch: what it changed in each owner, with what senders wrote beside it. A message that moves takes along what
 * was kept of it, so that a row never refers to another owner's.
 */

import { randomInt } from 'node:crypto';
import {
  type Change,
  type ContentFrom,
  catalog,
  type MessageContent,
  type OwnerId,
} from '../../core/changes.ts';
import type { NowOrLater } from '../now-or-later.ts';
import type { ContentCache } from './content-cache.ts';
import { type Content, type ContentKind, contentBytes, isContentKind } from './content-codec.ts';
import { writtenHeld } from './held.ts';
import { type Appended, catalogNumber } from './journal.ts';
import { writtenCatalogRow, writtenRow } from './journal-row.ts';
import type { Pending, Replica, Taken } from './replica.ts';

/** Where a message's content is that moves. */
export interface ContentSource {
  /** As it is kept; undefined if it is not there. */
  bytes(owner: OwnerId, kind: ContentKind, id: number): NowOrLater<Buffer | undefined>;
}

export interface BatchRowsOptions {
  readonly replica: Replica;
  readonly cache: ContentCache;
  readonly formats: { readonly writes: () => number };
  readonly store: () => ContentSource;
}

export class BatchRows {
  readonly #options: BatchRowsOptions;

  constructor(options: BatchRowsOptions) {
    this.#options = options;
  }

  async of(taken: Taken, now: number): Promise<readonly Appended[]> {
    const { replica, formats } = this.#options;
    if (taken.pending.length === 0 && taken.entries.length === 0) return [];
    const { version, tail } = replica.catalog;
    const format = formats.writes();
    const id = randomInt(1, 2 ** 47);
    const contents = await this.#contentsOf(taken.pending);
    const appended = taken.pending.map(
      ({ owner, changes, isNew, isGone }, index): Appended => ({
        number: owner.number,
        name: owner.name,
        version: owner.version + 1,
        id,
        previous: owner.tail,
        changes: writtenRow({ now, previous: owner.tail }, changes, format),
        contents: contents[index] as readonly Content[],
        isNew,
        isGone,
        dueAt: replica.engine.dueAt(owner.name),
        held: writtenHeld(owner.version + 1, replica.engine.held(owner.name)),
      }),
    );
    if (taken.entries.length > 0) {
      appended.push({
        number: catalogNumber,
        name: catalog,
        version: version + 1,
        id,
        previous: tail,
        changes: writtenCatalogRow({ now, previous: tail }, taken.entries, format),
        contents: [],
        isNew: false,
        isGone: false,
        dueAt: undefined,
        held: undefined,
      });
    }
    return appended;
  }

  /**
   * They are committed: they are the owners' last rows, and what senders wrote is at hand until it has gone. Not before: what
   * failed was never known, and ids of a batch that is not committed are given to other messages.
   */
  keep(appended: readonly Appended[], taken: Taken): void {
    const { cache, replica } = this.#options;
    const { pending } = taken;
    for (const { id } of appended.slice(0, 1)) replica.appended(taken, id);
    for (const { number, contents } of appended) {
      for (const content of contents) cache.set(number, content);
    }
    for (const { owner, changes } of pending) {
      for (const change of changes) {
        if (!isContentKind(change.kind) || hasContent(change)) continue;
        cache.remove(owner.number, change.kind, (change as { id: number }).id);
      }
    }
  }

  async #contentsOf(pending: readonly Pending[]): Promise<readonly (readonly Content[])[]> {
    const written = new Map<string, Buffer>();
    const sources = new Map<string, MessageKey>();
    for (const { owner, changes } of pending) {
      for (const change of changes) {
        if (!hasContent(change)) continue;
        const key = keyOf(owner.name, change);
        if (isMoved(change)) sources.set(key, change.value.content.from);
        else written.set(key, writtenContent(change));
      }
    }
    const origins = new Map([...sources].map(([key, from]) => [key, originOf(from, sources)]));
    const moved = await this.#read(origins, written);
    return pending.map(({ owner, changes }) =>
      changes.filter(hasContent).map((change) => {
        const key = keyOf(owner.name, change);
        // One that cannot be read moves as well: it is to reach a dead-letter queue like any other that nobody can handle.
        const bytes = written.get(key) ?? moved.get(key) ?? Buffer.alloc(0);
        return { kind: change.kind, id: change.id, bytes };
      }),
    );
  }

  /** All at once, so that one statement reads what a queue has. */
  async #read(
    origins: ReadonlyMap<string, MessageKey>,
    written: ReadonlyMap<string, Buffer>,
  ): Promise<ReadonlyMap<string, Buffer | undefined>> {
    const { store } = this.#options;
    const found = [...origins].map(
      async ([key, { queue, sequence }]): Promise<[string, Buffer | undefined]> => [
        key,
        written.get(messageKey(queue, sequence)) ??
          (await store().bytes(queue, 'message', sequence)),
      ],
    );
    return new Map(await Promise.all(found));
  }
}

type WithContent = Extract<Change, { kind: ContentKind }> & { readonly value: object };
type MessageKey = ContentFrom['from'];

function hasContent(change: Change): change is WithContent {
  return isContentKind(change.kind) && 'value' in change && change.value !== null;
}

function isMoved(change: WithContent): change is WithContent & { value: { content: ContentFrom } } {
  return change.kind === 'message' && 'from' in change.value.content;
}

/** What the sender wrote. */
function writtenContent(change: WithContent): Buffer {
  if (change.kind === 'archived') return contentBytes.archived(change.value);
  if (change.kind === 'post') return contentBytes.post(change.value);
  return contentBytes.message(change.value.content as MessageContent);
}

function keyOf(owner: OwnerId, { kind, id }: WithContent): string {
  return `${owner} ${kind} ${id}`;
}

function messageKey(queue: string, sequence: number): string {
  return `${queue} message ${sequence}`;
}

/** Where the message was before this batch, or where it came: it may have moved more than once since. */
function originOf(from: MessageKey, sources: ReadonlyMap<string, MessageKey>): MessageKey {
  const before = sources.get(messageKey(from.queue, from.sequence));
  return before === undefined ? from : originOf(before, sources);
}
