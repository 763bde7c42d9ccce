/**
 * Changes are the whole truth about a queue (core/changes.ts). While one engine is driven through random scenarios, a
 * second one is made from nothing but the first one's changes, in each of the ways that a store or another node would use,
 * and must give exactly the same outcomes and changes from there on.
 */

import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { type Change, catalog, isSetting, ownerOf } from '../../src/core/changes.ts';
import type { Command } from '../../src/core/commands.ts';
import { type Applied, Engine } from '../../src/core/engine.ts';
import { MemoryStore } from '../../src/storage/memory/memory-store.ts';
import { checkSeeded } from '../support/seeded.ts';
import { scenario } from './scenarios.ts';
import { limitsOf, type Moment, Simulation, type Witness } from './simulation.ts';
import { queueNames, type Scenario } from './steps.ts';

const commands = 10_000;
const stepsMax = 80;

type AnyApplied = Applied<Command['type']>;

/** `salt` decides what the scenario leaves open: which node, which queue, when. */
interface Case extends Scenario {
  readonly salt: number;
}

test('an engine loaded from all kept records continues like the one that wrote them', (t) => {
  prove(t, ({ salt, steps, inFlightMax }) => {
    const switchAt = salt % (steps.length * 3 + 1);
    let loaded: Engine | undefined;
    let seen = 0;
    return new Comparison((command, moment, store) => {
      if (seen === switchAt) loaded = load(inFlightMax, store.changes(), moment.now);
      seen += 1;
      return loaded?.apply(command, moment);
    });
  });
});

test('engines that take turns, each absorbing the changes of the others, answer as one', (t) => {
  prove(t, ({ salt, inFlightMax }) => {
    const nodes = [engineOf(inFlightMax), engineOf(inFlightMax), engineOf(inFlightMax)];
    let seen = 0;
    return new Comparison((command, moment) => {
      seen += 1;
      const active = nodes[chance(salt, seen) % nodes.length] as Engine;
      const applied = active.apply(command, moment);
      for (const node of nodes) if (node !== active) node.absorb(applied.changes, moment.now);
      return applied;
    });
  });
});

test('an engine that only absorbed stays equal when it takes over', (t) => {
  prove(t, ({ salt, steps, inFlightMax }) => {
    const switchAt = salt % (steps.length * 3 + 1);
    const absorbing = engineOf(inFlightMax);
    let written: { changes: readonly Change[]; now: number } | undefined;
    let seen = 0;
    const answer = (command: Command, moment: Moment) => {
      if (written !== undefined) absorbing.absorb(written.changes, written.now);
      written = undefined;
      seen += 1;
      return seen > switchAt ? absorbing.apply(command, moment) : undefined;
    };
    return new Comparison(answer, (changes, now) => {
      if (seen <= switchAt) written = { changes, now };
    });
  });
});

test('dropping and reloading a queue makes no difference', (t) => {
  prove(t, ({ salt, inFlightMax }) => {
    const engine = engineOf(inFlightMax);
    let seen = 0;
    return new Comparison((command, moment, store) => {
      seen += 1;
      const number = chance(salt, seen);
      const queue = queueNames[number % queueNames.length] as string;
      if (number % 3 === 0) {
        engine.drop(queue);
        engine.absorb(store.changes(queue), moment.now);
      }
      return engine.apply(command, moment);
    });
  });
});

test('a command changes only the queues it names in advance, and needs the contents of no other', (t) => {
  prove(t, ({ inFlightMax }) => {
    let touched: readonly string[] = [];
    const answer = (command: Command, moment: Moment, store: MemoryStore) => {
      touched = moment.engine.touches(command, moment.now);
      // Settings are available everywhere; contents only where they were asked for.
      const atHand = [...store.changes()].filter(
        (entry) => isSetting(entry) || touched.includes(ownerOf(entry)),
      );
      return load(inFlightMax, atHand, moment.now).apply(command, moment);
    };
    return new Comparison(answer, (changes) => {
      const other = [...changes.map(ownerOf), ...(changes.some(isSetting) ? [catalog] : [])].find(
        (owner) => !touched.includes(owner),
      );
      if (other === undefined) return;
      throw new Error(`changed ${other}, but named only ${touched.join(', ')}`);
    });
  });
});

test('no kept entry is orphaned', (t) => {
  prove(t, () => {
    return new Comparison(
      () => undefined,
      (_, __, store) => checkRecords([...store.changes()]),
    );
  });
});

/** What another engine answers to the command; undefined while there is none. */
type Answer = (command: Command, moment: Moment, store: MemoryStore) => AnyApplied | undefined;
type Written = (changes: readonly Change[], now: number, store: MemoryStore) => void;

/** Keeps the changes of the driven engine, and compares each of its answers with another engine's. */
class Comparison implements Witness {
  readonly #store = new MemoryStore();
  readonly #answer: Answer;
  readonly #written: Written | undefined;
  #other: AnyApplied | undefined;
  #now = 0;

  constructor(answer: Answer, written?: Written) {
    this.#answer = answer;
    this.#written = written;
  }

  before(command: Command, moment: Moment): void {
    this.#now = moment.now;
    this.#other = this.#answer(command, moment, this.#store);
  }

  after(command: Command, applied: AnyApplied): void {
    this.#store.apply(applied.changes);
    this.#written?.(applied.changes, this.#now, this.#store);
    if (this.#other === undefined) return;
    for (const part of ['outcome', 'changes'] as const) {
      const [expected, actual] = [JSON.stringify(applied[part]), JSON.stringify(this.#other[part])];
      if (expected !== actual) {
        throw new Error(
          `${command.type} ${part}\n  driven engine: ${expected}\n  other engine:  ${actual}`,
        );
      }
    }
  }
}

function prove(t: TestContext, witnessOf: (value: Case) => Witness): void {
  const salt = fc.nat();
  const run = (value: Case) => {
    const simulation = new Simulation(value.inFlightMax, witnessOf(value));
    return { simulation, go: () => simulation.run(value.steps) };
  };
  checkSeeded({
    test: t,
    command: `node --test-name-pattern="${t.name}" packages/broker/dist/test/simulation/state-as-changes.test.js`,
    arbitrary: fc
      .tuple(scenario(stepsMax), salt)
      .map(([rest, number]) => ({ ...rest, salt: number })),
    attempt: (value) => {
      const { simulation, go } = run(value);
      go();
      return simulation.applied;
    },
    describe: (value) => {
      const { simulation, go } = run(value);
      try {
        go();
      } catch {
        // Reported above.
      }
      return simulation.story();
    },
    commands,
  });
}

/** Every delivery has its message, and the counter is at or above every number drawn from it. */
function checkRecords(records: readonly Change[]): void {
  const messages = new Set<string>();
  const counters = new Map<string, number>();
  for (const record of records) {
    const { kind } = record;
    const owner = ownerOf(record);
    if (kind === 'counter' || kind === 'topic-counter') counters.set(owner, record.value);
    if (kind === 'message' || kind === 'post') messages.add(`${owner} ${record.id}`);
    const needsMessage = kind === 'delivery' || kind === 'post-attempt';
    if (needsMessage && !messages.has(`${owner} ${record.id}`)) {
      throw new Error(`a delivery without its message: ${JSON.stringify(record)}`);
    }
    if (Math.max(0, ...numbersIn(record)) > (counters.get(owner) ?? 0)) {
      throw new Error(`above the counter ${counters.get(owner)}: ${JSON.stringify(record)}`);
    }
  }
}

function numbersIn(entry: Change): number[] {
  const isNumbered = ['message', 'window', 'topic-window', 'archived', 'post'].includes(entry.kind);
  if (isNumbered && 'id' in entry) return [Number(entry.id)];
  if (entry.kind === 'subscription') return [entry.value?.stamp ?? 0];
  if (entry.kind === 'delivery')
    return [entry.id, entry.value?.stamp ?? 0, entry.value?.receipt ?? 0];
  if (entry.kind !== 'attempt') return [];
  return entry.value?.messages.flatMap(({ sequence, receipt }) => [sequence, receipt]) ?? [];
}

function engineOf(inFlightMax: number): Engine {
  return new Engine({ limits: limitsOf({ inFlightMax }) });
}

function load(inFlightMax: number, changes: Iterable<Change>, now: number): Engine {
  const engine = engineOf(inFlightMax);
  engine.absorb(changes, now);
  return engine;
}

/** Looks random, and is the same for the same case. */
function chance(salt: number, index: number): number {
  return Math.imul(salt ^ (index * 0x9e37), 0x85eb_ca6b) >>> 8;
}
