/**
 * A world for writers.test.ts: nodes with a real writer each, a time, and chance that decides who goes on. What every node
 * was answered is compared with one engine in the end, transaction by transaction.
 */

import assert from 'node:assert/strict';
import type { Command, CommandOf } from '../../../src/core/commands.ts';
import { type Applied, Engine } from '../../../src/core/engine.ts';
import { strictLimits } from '../../../src/core/limits.ts';
import { MemoryStore } from '../../../src/storage/memory/memory-store.ts';
import { ContentCache } from '../../../src/storage/postgres/content-cache.ts';
import { messageIn } from '../../../src/storage/postgres/content-codec.ts';
import { latestFormat } from '../../../src/storage/postgres/journal-row.ts';
import { PostgresWriter } from '../../../src/storage/postgres/postgres-writer.ts';
import { CountedIds } from '../../support/counted-ids.ts';
import { ConcurrentJournal, type Ending, type Fault, NodeJournal } from './concurrent-journal.ts';
import { queueNames, RandomCommands } from './random-commands.ts';

type AnyApplied = Applied<Command['type']>;

const nodeCount = 3;
const waitingMax = 12;
const newEngine = (): Engine => new Engine({ limits: { ...strictLimits, inFlightMax: 5 } });
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A transaction of a node: the ids that it drew, and what it applied, in order. */
interface Batch {
  readonly ending: Ending;
  readonly now: number;
  readonly ids: readonly string[];
  readonly steps: readonly { readonly command: Command; readonly applied: AnyApplied }[];
}

export class Cluster {
  readonly #chance: () => number;
  readonly #journal: ConcurrentJournal;
  readonly #commands: RandomCommands;
  readonly #ids: CountedIds = new CountedIds();
  readonly #batches: Batch[] = [];
  readonly #nodes: readonly Node[];
  #turns: (() => void)[] = [];
  #now = 1_800_000_000_000;
  #faultsIn = 40;

  constructor(seed: number) {
    this.#chance = chanceOf(seed);
    this.#commands = new RandomCommands(this.#chance);
    this.#journal = new ConcurrentJournal({
      now: () => this.#now,
      turn: () => new Promise((resolve) => this.#turns.push(resolve)),
      fault: () => this.#fault(),
    });
    this.#nodes = Array.from({ length: nodeCount }, () => this.#newNode());
  }

  /** Returns how many commands were compared. */
  async run(count: number): Promise<number> {
    await this.#goOnUntil(Promise.all(this.#nodes.map(({ writer }) => writer.load(() => {}))));
    let left = count;
    const isBusy = (): boolean => this.#nodes.some(({ waiting }) => waiting > 0);
    while (left > 0 || isBusy()) {
      const node = this.#pick(this.#nodes);
      const choice = this.#chance();
      if (left > 0 && node.waiting < waitingMax && choice < 0.4) {
        left -= 1;
        node.send(this.#commands.next(), this.#now);
      } else if (choice < 0.43) this.#now += this.#pick([1, 1_000, 31_000, 61_000]);
      else if (choice < 0.45) void this.#forget(node);
      else if (choice < 0.47) this.#checkpoint();
      else this.#goOn();
      await nextTurn();
    }
    for (const node of this.#nodes) node.endBatch();
    const compared = this.#compare();
    this.#faultsIn = Number.POSITIVE_INFINITY;
    await this.#compareAll(compared.engine, compared.store);
    return compared.count;
  }

  #newNode(): Node {
    return new Node(this.#journal, {
      uuid: () => this.#ids.uuid(),
      onBatch: (batch) => this.#batches.push(batch),
      onAnswer: (command, applied) => this.#commands.learn(command, applied.outcome),
    });
  }

  #goOn(): void {
    const at = Math.floor(this.#chance() * this.#turns.length);
    this.#turns.splice(at, 1)[0]?.();
  }

  async #goOnUntil<T>(done: Promise<T>): Promise<T> {
    let isDone = false;
    const ended = done.finally(() => {
      isDone = true;
    });
    ended.catch(() => {});
    while (!isDone) {
      this.#goOn();
      await nextTurn();
    }
    return ended;
  }

  async #forget({ writer }: Node): Promise<void> {
    await writer.forgetUnused(Number.POSITIVE_INFINITY);
    for (const { name, mode } of writer.replica.all()) assert.notEqual(mode, 'loaded', name);
  }

  #checkpoint(): void {
    const numbers = [...this.#journal.kept.owners.keys()];
    this.#journal.kept.checkpoint(this.#pick(numbers), Math.floor(this.#chance() * 3));
  }

  /** Rarely, since a writer pauses after one. */
  #fault(): Fault {
    this.#faultsIn -= 1;
    if (this.#faultsIn > 0) return 'none';
    this.#faultsIn = 30 + Math.floor(this.#chance() * 60);
    return this.#pick(['refused', 'refused', 'lost before', 'lost after']);
  }

  #pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.#chance() * all.length)] as T;
  }

  #compare(): { readonly count: number; readonly engine: Engine; readonly store: MemoryStore } {
    const engine = newEngine();
    const store = new MemoryStore();
    let count = 0;
    for (const batch of this.#batches.toSorted(
      (one, other) => one.ending.order - other.ending.order,
    )) {
      const { ending, ids, now, steps } = batch;
      let drawn = 0;
      const context = { now, ids: { uuid: () => ids[drawn++] ?? 'more ids than the node drew' } };
      // One that was not committed though it changed something is done again.
      if (!ending.isCommitted && steps.some(({ applied }) => applied.changes.length > 0)) continue;
      for (const { command, applied } of steps) {
        count += 1;
        const expected: AnyApplied = engine.apply(command, context);
        store.apply(expected.changes);
        for (const part of ['outcome', 'changes'] as const) {
          const what: string = `${command.type} ${part} ${readable(command)}`;
          assert.equal(written(applied[part]), written(expected[part]), what);
        }
      }
    }
    return { count, engine, store };
  }

  /** A new node loads what is there, and has all that the engine has; and the journal has what senders wrote. */
  async #compareAll(engine: Engine, store: MemoryStore): Promise<void> {
    const node = this.#newNode();
    await this.#goOnUntil(node.writer.load(() => {}));
    for (const queue of queueNames) {
      const peek: CommandOf<'peek-messages'> = { type: 'peek-messages', queue, limit: 1_000 };
      const looks = [
        peek,
        { type: 'describe-queue', queue },
        { type: 'explain', queue, limit: 1_000 },
      ] as const;
      for (const look of looks) {
        const { outcome } = await this.#goOnUntil(node.writer.step(look, this.#now));
        const expected = engine.apply(look, { now: this.#now, ids: this.#ids });
        assert.equal(written(outcome), written(expected.outcome), `${look.type} of ${queue}`);
      }
      const { outcome } = engine.apply(peek, { now: this.#now, ids: this.#ids });
      for (const { sequence } of outcome.ok ? outcome.messages : []) {
        const bytes = this.#journal.kept.content(queue, 'message', sequence) as Buffer;
        const content = store.content(queue, sequence) as { readonly body: string };
        assert.equal(messageIn(bytes).body, content.body, `message ${sequence} of ${queue}`);
      }
    }
  }
}

interface NodeUser {
  uuid(): string;
  onBatch(batch: Batch): void;
  onAnswer(command: Command, applied: AnyApplied): void;
}

/** A writer, and a record of its transactions. */
class Node {
  readonly writer: PostgresWriter;
  waiting = 0;
  readonly #journal: NodeJournal;
  readonly #user: NodeUser;
  #ids: string[] = [];
  #steps: { command: Command; applied: AnyApplied }[] = [];

  constructor(journal: ConcurrentJournal, user: NodeUser) {
    this.#user = user;
    this.#journal = new NodeJournal(journal);
    this.#journal.onBegin = () => this.endBatch();
    const clock = {
      kind: 'manual',
      now: () => journal.around.now(),
      notBefore: () => {},
      moveTo: () => {},
    } as const;
    const nothing = (): void => {};
    this.writer = new PostgresWriter({
      newEngine: () => this.#watched(newEngine()),
      ids: {
        uuid: () => {
          const id = user.uuid();
          this.#ids.push(id);
          return id;
        },
      },
      user: {
        now: clock.now,
        applied: nothing,
        absorbed: nothing,
        stirred: nothing,
        suspend: nothing,
        resume: nothing,
        committed: nothing,
      },
      clock,
      journal: this.#journal,
      store: () => ({ bytes: (...content) => journal.kept.content(...content) }),
      cache: new ContentCache(1_000_000),
      formats: { reads: latestFormat, writes: () => latestFormat },
      notify: nothing,
      noteWaiting: nothing,
      keepTime: undefined,
      readTime: undefined,
      dueBy: async function* () {},
      noteDue: async () => {},
      onLost: (text) => assert.fail(text),
      cluster: () => ({ node: 'this', nodes: [], journal: undefined }),
      held: async () => new Map(),
      clear: async () => {},
      close: async () => {},
    });
  }

  send(command: Command, now: number): void {
    this.waiting += 1;
    this.writer.step(command, now).then(
      (applied) => {
        this.waiting -= 1;
        if (applied.changes.length > 0) {
          assert.ok(this.#journal.ending?.isCommitted, 'answered before the commit');
        }
        this.#user.onAnswer(command, applied);
      },
      () => {
        this.waiting -= 1;
      },
    );
  }

  endBatch(): void {
    const { ending, now } = this.#journal;
    const [ids, steps] = [this.#ids, this.#steps];
    [this.#ids, this.#steps] = [[], []];
    if (ending !== undefined) this.#user.onBatch({ ending, now, ids, steps });
  }

  /** Notes what it applies, also in a transaction that nobody is told of. */
  #watched(engine: Engine): Engine {
    const apply = engine.apply.bind(engine);
    engine.apply = (command, context) => {
      const done = command.type === 'tick' ? tickOf(command, engine.dueBy(context.now)) : command;
      const applied = apply(command, context);
      this.#steps.push({ command: done, applied });
      return applied;
    };
    return engine;
  }
}

/** What a tick is about: an owner that the node has forgotten meanwhile is not due there any more. */
function tickOf({ owners }: CommandOf<'tick'>, due: readonly string[]): CommandOf<'tick'> {
  return { type: 'tick', owners: new Set(due.filter((owner) => owners?.has(owner) !== false)) };
}

function readable(command: Command): string {
  return JSON.stringify(command, (_, part: unknown) => (part instanceof Set ? [...part] : part));
}

/** With sorted keys: one that is undefined comes back later from the journal, where it is absent. */
function written(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(
      Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)),
    );
  });
}

/** mulberry32 */
function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
