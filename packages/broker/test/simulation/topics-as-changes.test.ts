/**
 * Changes are the whole truth about a topic, too. While one engine runs random lives of topics (topic-steps.ts), a second
 * one is made from nothing but the first one's changes, and must give exactly the same outcomes and changes from there on.
 * And one publish is never half kept: what it changed in a topic and in queues is one list.
 */

import { type TestContext, test } from 'node:test';
import type { Change } from '../../src/core/changes.ts';
import { catalog, isSetting, ownerOf, topicOwner } from '../../src/core/changes.ts';
import type { Command } from '../../src/core/commands.ts';
import type { Applied, Engine } from '../../src/core/engine.ts';
import type { PublishResult } from '../../src/core/topic/commands.ts';
import { checkSeeded } from '../support/seeded.ts';
import {
  fanQueues,
  type TopicMoment,
  type TopicStep,
  type TopicWitness,
  TopicWorld,
  topicEngine,
  topicNames,
  topicSteps,
} from './topic-steps.ts';

const commands = 10_000;

type AnyApplied = Applied<Command['type']>;

test('an engine loaded anew for every command answers like one that keeps running', (t) => {
  prove(t, () => comparing(({ now, store }) => load([...store.changes()], now)));
});

test('an engine that applies every other command and absorbs the rest answers like one that applies all', (t) => {
  prove(t, () => {
    const engine = topicEngine();
    let seen = 0;
    const compare = comparing(({ engine: driven, now }) => {
      seen += 1;
      const [own, due] = [engine.nextDueAt(), driven.nextDueAt()];
      // A tick that changed nothing, as when a message is visible again, leaves no changes to absorb: then it is still due.
      const isPast = own !== undefined && own <= now;
      if (own !== due && !isPast) throw new Error(`due at ${own} instead of ${due}`);
      return seen % 2 === 0 ? engine : undefined;
    });
    return {
      before: compare.before,
      after: (command, applied, moment) => {
        compare.after(command, applied, moment);
        if (seen % 2 !== 0) engine.absorb(applied.changes, moment.now);
      },
    };
  });
});

test('dropping and reloading a topic or queue makes no difference', (t) => {
  prove(t, () => {
    const owners = [...topicNames.map(topicOwner), ...fanQueues];
    let engine: Engine | undefined;
    let seen = 0;
    return comparing(({ now, store }) => {
      engine ??= topicEngine();
      seen += 1;
      const owner = owners[seen % owners.length] as string;
      engine.drop(owner);
      engine.absorb(store.changes(owner), now);
      return engine;
    });
  });
});

test('a command changes only what it names in advance, and needs the contents of nothing else', (t) => {
  prove(t, () => {
    let touched: readonly string[] = [];
    const pick = ({ now, store, engine }: TopicMoment, command: Command): Engine => {
      touched = engine.touches(command, now);
      const isAtHand = (entry: Change): boolean =>
        isSetting(entry) || touched.includes(ownerOf(entry));
      return load([...store.changes()].filter(isAtHand), now);
    };
    const compare = comparing(pick);
    return {
      before: compare.before,
      after: (command, applied, moment) => {
        compare.after(command, applied, moment);
        const { changes } = applied;
        const needed = [...changes.map(ownerOf), ...(changes.some(isSetting) ? [catalog] : [])];
        const other = needed.find((owner) => !touched.includes(owner));
        if (other !== undefined) throw new Error(`${command.type} changed ${other}: ${touched}`);
      },
    };
  });
});

test('a publication of a FIFO topic is in its window and in its archive, or it is a duplicate', (t) => {
  prove(t, () => ({
    before: () => {},
    after: (command, { outcome, changes }, { engine }) => {
      if (command.type !== 'publish' || !('results' in outcome)) return;
      const isFifo = command.topicArn?.endsWith('.fifo') === true;
      const fresh = (outcome.results as PublishResult[]).filter((result) => !result.isDuplicate);
      const count = (kind: Change['kind']): number =>
        changes.filter(
          (change) => change.kind === kind && 'value' in change && change.value !== null,
        ).length;
      if (count('topic-window') !== (isFifo ? fresh.length : 0)) {
        throw new Error('the window does not hold what was published');
      }
      const due = engine.nextDueAt();
      if (count('post') > 0 && due === undefined) throw new Error('a post that nobody waits for');
    },
  }));
});

/** Compares what another engine answers to each command; undefined where there is none. */
function comparing(
  pick: (moment: TopicMoment, command: Command) => Engine | undefined,
): TopicWitness {
  let other: AnyApplied | undefined;
  return {
    before: (command, moment) => {
      const context = { now: moment.now, ids: moment.ids.fork() };
      other = pick(moment, command)?.apply(command, context);
    },
    after: (command, applied) => {
      if (other === undefined) return;
      for (const part of ['outcome', 'changes'] as const) {
        const [expected, actual] = [JSON.stringify(applied[part]), JSON.stringify(other[part])];
        if (expected !== actual) {
          throw new Error(`${command.type} ${part}\n  driven: ${expected}\n  other:  ${actual}`);
        }
      }
    },
  };
}

function load(changes: Iterable<Change>, now: number): Engine {
  const engine = topicEngine();
  engine.absorb(changes, now);
  return engine;
}

function prove(t: TestContext, witnessOf: () => TopicWitness): void {
  checkSeeded({
    test: t,
    command: `node --test-name-pattern="${t.name}" packages/broker/dist/test/simulation/topics-as-changes.test.js`,
    arbitrary: topicSteps,
    attempt: (steps: readonly TopicStep[]) => {
      const world = new TopicWorld(witnessOf());
      world.run(steps);
      return world.applied;
    },
    describe: (steps) => steps.map((step) => JSON.stringify(step)).join('\n'),
    commands,
  });
}
