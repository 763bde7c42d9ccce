/**
 * The memory store: the changes of an engine, reduced to one value for each key. In memory mode, bodies and window texts
 * live here; tests load engines from it.
 *
 * It applies no rules. Contents are resolved when a change arrives: a moved message takes its content from its previous key,
 * so `from` is never stored.
 */

import {
  type Change,
  type KeptMessage,
  type KeptPost,
  type KeptQueue,
  type KeptTopic,
  type KeptWindowEntry,
  type MessageContent,
  type OwnerId,
  ownerOf,
  type Publication,
  topicIn,
  topicOwner,
} from '../../core/changes.ts';
import { BySequence } from '../../core/structures/by-sequence.ts';
import { setOrDelete } from '../../core/structures/set-or-delete.ts';
import { type ChangeOf, isOf, type RowKind, rowFamilies, rowKinds } from '../record-families.ts';
import { preparedNow } from '../running/prepared-answers.ts';
import type { Store } from '../store.ts';
import { MessageColumns, type ResolvedMessage } from './message-columns.ts';

/** The rows of one kind, by their key. */
type Rows = Map<string, unknown> | BySequence<unknown>;

/** Everything of one queue or topic. */
class OwnerRows {
  settings: KeptQueue | KeptTopic;
  counter: number | undefined;
  /** Messages and window entries. */
  readonly columns: MessageColumns = new MessageColumns();
  readonly rows: Map<RowKind, Rows> = new Map();

  constructor(settings: KeptQueue | KeptTopic) {
    this.settings = settings;
  }

  rowsOf(kind: RowKind): Rows {
    let rows = this.rows.get(kind);
    if (rows === undefined) {
      rows = rowFamilies[kind].key === 'number' ? new BySequence() : new Map();
      this.rows.set(kind, rows);
    }
    return rows;
  }

  clear(what: ChangeOf<'cleared'>['what']): void {
    if (what === 'window') this.columns.clearEntries();
    else if (what === 'archive') this.rows.delete('archived');
    else {
      this.columns.clear();
      for (const kind of rowKinds) {
        if (rowFamilies[kind].clearedBy === 'purge') this.rows.delete(kind);
      }
    }
  }
}

export class MemoryStore implements Store {
  readonly kind = 'memory';
  readonly #owners: Map<OwnerId, OwnerRows> = new Map();
  readonly #names: Map<string, number> = new Map();
  #abandonedFor: string | undefined;

  apply(changes: readonly Change[]): void {
    for (const change of changes) this.#apply(change);
  }

  noteTime(): void {}

  kept(): undefined {
    return undefined;
  }

  answer<O, A>(outcome: O, prepare: (outcome: O) => A): Promise<A> {
    return preparedNow(outcome, prepare);
  }

  fileBytes(): undefined {
    return undefined;
  }

  get isFrozen(): boolean {
    return this.isIncomplete;
  }

  get isIncomplete(): boolean {
    return this.#abandonedFor !== undefined;
  }

  unavailable(): string | undefined {
    return this.#abandonedFor;
  }

  content(queue: string, sequence: number): MessageContent | undefined {
    return this.#owners.get(queue)?.columns.message(sequence)?.content;
  }

  windowEntries(owner: OwnerId, sequences: readonly number[]): (KeptWindowEntry | undefined)[] {
    const columns = this.#owners.get(owner)?.columns;
    return sequences.map((sequence) => columns?.entry(sequence));
  }

  archived(topic: string, sequence: number): Publication | undefined {
    return this.#row(topicOwner(topic), 'archived', sequence) as Publication | undefined;
  }

  post(topic: string, id: number): KeptPost | undefined {
    return this.#row(topicOwner(topic), 'post', id) as KeptPost | undefined;
  }

  clear(): void {
    this.#owners.clear();
    this.#names.clear();
  }

  async close(): Promise<void> {}

  *load(): Generator<readonly Change[]> {
    yield [...this.changes()];
  }

  *applied(owners: ReadonlySet<OwnerId>): Generator<readonly Change[]> {
    for (const owner of owners) yield [...this.changes(owner)];
  }

  abandon(error: unknown): void {
    this.#abandonedFor = `a queue or topic could not be loaded again, so the server has to be restarted: ${error}`;
  }

  /**
   * Everything, or one queue or topic, as the puts that load an engine: of each its settings, counter, messages and window
   * in order, then its rows; then the names still taken.
   */
  *changes(owner?: OwnerId): Generator<Change> {
    for (const [id, records] of at(this.#owners, owner)) yield* changesOf(id, records);
    for (const [name, value] of at(this.#names, owner)) yield { kind: 'name', queue: name, value };
  }

  #apply(change: Change): void {
    if (isOf('name', change)) {
      setOrDelete(this.#names, change.queue, change.value);
      return;
    }
    const owner = ownerOf(change);
    const records = this.#owners.get(owner);
    if (isOf('settings', change)) {
      if (change.value === null) this.#owners.delete(owner);
      else if (records === undefined) this.#owners.set(owner, new OwnerRows(change.value));
      else records.settings = change.value;
      return;
    }
    if (records === undefined) {
      throw new Error(`a ${change.kind} came for ${owner}, which is not kept`);
    }
    if (isOf('message', change)) {
      records.columns.setMessage(change.id, change.value && this.#resolve(change.value));
    } else if (isOf('window', change)) records.columns.setEntry(change.id, change.value);
    else if (isOf('counter', change)) records.counter = change.value;
    else if (isOf('row', change)) {
      // The family decides whether rows are named by texts or by numbers.
      setOrDelete(records.rowsOf(change.kind) as Map<unknown, unknown>, change.id, change.value);
    } else records.clear(change.what);
  }

  #row(owner: OwnerId, kind: RowKind, id: number): unknown {
    return (this.#owners.get(owner)?.rows.get(kind) as BySequence<unknown> | undefined)?.get(id);
  }

  #resolve(message: KeptMessage): ResolvedMessage {
    if (!('from' in message.content)) return message as ResolvedMessage;
    const { queue, sequence } = message.content.from;
    const content = this.content(queue, sequence);
    if (content === undefined) {
      throw new Error(`a message moved from ${queue} ${sequence}, which is not kept`);
    }
    return { ...message, content };
  }
}

/** All of them, or the one of this name. */
function at<T>(all: ReadonlyMap<string, T>, name: string | undefined): Iterable<[string, T]> {
  if (name === undefined) return all;
  const found = all.get(name);
  return found === undefined ? [] : [[name, found]];
}

function* changesOf(owner: OwnerId, records: OwnerRows): Generator<Change> {
  const topic = topicIn(owner);
  const { settings, counter, columns } = records;
  const named = topic === undefined ? { queue: owner } : { topic };
  const put = (kind: Change['kind'], rest: object): Change =>
    ({ kind, ...named, ...rest }) as unknown as Change;
  yield put(topic === undefined ? 'queue' : 'topic', { value: settings });
  if (counter !== undefined) {
    yield put(topic === undefined ? 'counter' : 'topic-counter', { value: counter });
  }
  for (const [id, value] of columns.messages()) yield put('message', { id, value });
  const window = topic === undefined ? 'window' : 'topic-window';
  for (const [id, value] of columns.entries()) yield put(window, { id, value });
  for (const kind of rowKinds) {
    for (const [id, value] of records.rows.get(kind) ?? []) yield put(kind, { id, value });
  }
}
