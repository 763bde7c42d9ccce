/**
 * Many equal nodes are one queue server: three nodes over one journal, each command at any of them, answer as one engine
 * does. Each node absorbs only what it touches; now and then it forgets an owner and loads it again, and now and then rows
 * become records and leave the journal. Queues and topics come and go, and their settings change, at any node.
 */

import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { topicOwner } from '../../../src/core/changes.ts';
import type { Command } from '../../../src/core/commands.ts';
import { type Applied, Engine } from '../../../src/core/engine.ts';
import { scenario } from '../../simulation/scenarios.ts';
import { limitsOf, Simulation, type Witness } from '../../simulation/simulation.ts';
import { queueNames } from '../../simulation/steps.ts';
import {
  fanQueues,
  TopicWorld,
  topicEngine,
  topicNames,
  topicSteps,
} from '../../simulation/topic-steps.ts';
import type { CountedIds } from '../../support/counted-ids.ts';
import { checkSeeded } from '../../support/seeded.ts';
import { JournalNode, SharedJournal } from './shared-journal.ts';

const commands = 3_000;
const stepsMax = 60;
const nodes = 3;

type AnyApplied = Applied<Command['type']>;

test('three nodes that absorb only what they touch answer like one engine', (t) => {
  const cases = fc.tuple(scenario(stepsMax), fc.nat()).map(([rest, salt]) => ({ ...rest, salt }));
  const run = (value: typeof cases extends fc.Arbitrary<infer T> ? T : never): Simulation => {
    const newEngine = (): Engine => new Engine({ limits: limitsOf(value) });
    return new Simulation(value.inFlightMax, cluster(value.salt, newEngine, queueNames));
  };
  checkSeeded({
    test: t,
    command: again(t),
    arbitrary: cases,
    attempt: (value) => {
      const simulation = run(value);
      simulation.run(value.steps);
      return simulation.applied;
    },
    describe: (value) => {
      const simulation = run(value);
      try {
        simulation.run(value.steps);
      } catch {
        // Reported already.
      }
      return simulation.story();
    },
    commands,
  });
});

test('three nodes with topics answer like one engine', (t) => {
  const owners = [...topicNames.map(topicOwner), ...fanQueues];
  checkSeeded({
    test: t,
    command: again(t),
    arbitrary: fc.tuple(topicSteps, fc.nat()),
    attempt: ([steps, salt]) => {
      const world = new TopicWorld(cluster(salt, topicEngine, owners));
      world.run(steps);
      return world.applied;
    },
    describe: ([steps]) => steps.map((step) => JSON.stringify(step)).join('\n'),
    commands,
  });
});

/** Compares each answer, and all that it changed, with that of one of the nodes. */
function cluster(salt: number, newEngine: () => Engine, owners: readonly string[]): Witness {
  const journal = new SharedJournal();
  const all = Array.from({ length: nodes }, () => new JournalNode(journal, newEngine));
  let seen = 0;
  let answer: AnyApplied | undefined;
  return {
    before(command: Command, { now, ids }: { now: number; ids: CountedIds }) {
      seen += 1;
      const number = chance(salt, seen);
      const node = all[number % nodes] as JournalNode;
      const owner = owners[(number >> 3) % owners.length] as string;
      if (number % 5 === 0) node.unload(owner, now);
      if (number % 7 === 0) {
        const numbers = [...journal.owners.keys()];
        journal.checkpoint(numbers[(number >> 5) % numbers.length] as number, number % 3);
      }
      answer = node.step(command, { now, ids: ids.fork() });
    },
    after(command, applied) {
      for (const part of ['outcome', 'changes'] as const) {
        const [expected, actual] = [applied, answer].map((by) => written(by?.[part]));
        if (expected === actual) continue;
        throw new Error(
          `${command.type} ${part}\n  one engine: ${expected}\n  the nodes:  ${actual}`,
        );
      }
    },
  };
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

function again({ name }: TestContext): string {
  return `node --test-name-pattern="${name}" packages/broker/dist/test/storage/postgres/replicas.test.js`;
}

/** Looks random, and is the same for the same case. */
function chance(salt: number, index: number): number {
  return Math.imul(salt ^ (index * 0x9e37), 0x85eb_ca6b) >>> 8;
}
