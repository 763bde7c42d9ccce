/**
 * The engine against the reference model: random steps from a printed seed. `npm run test:simulation` runs this file
 * alone, with `--seed N`, `--path P` for a found case and `--commands N` for a longer run.
 */

import { test } from 'node:test';
import type { Command } from '../../src/core/commands.ts';
import { checkSeeded } from '../support/seeded.ts';
import { arnOf } from './model.ts';
import { scenario } from './scenarios.ts';
import { Simulation } from './simulation.ts';
import type { Scenario } from './steps.ts';

const commands = 200_000;
const stepsMax = 150;

test('the engine answers like the reference model, whatever the commands', (t) => {
  checkSeeded({
    test: t,
    command: 'npm run test:simulation --',
    arbitrary: scenario(stepsMax),
    attempt: (value) => simulate(value).applied,
    describe: story,
    commands,
  });
});

for (const queue of ['tasks', 'orders.fifo']) {
  test(`the model agrees when more messages of ${queue} are moved than one command may, to the dead-letter queue and back`, () => {
    const again: Command = { type: 'receive', queue, count: 10, visibilitySeconds: 0 };
    const dead = queue === 'tasks' ? 'dead' : 'dead.fifo';
    const start: Command = { type: 'start-move-task', sourceArn: arnOf(dead) };
    simulate({
      inFlightMax: 120_000,
      steps: [
        ...flood(queue, 11),
        ...Array<Command>(24).fill(again),
        { type: 'look' },
        start,
        { type: 'tick' },
        { type: 'look' },
        { type: 'tick' },
      ],
    });
  });
}

test('a queue remembers its ten newest move tasks', () => {
  const start: Command = { type: 'start-move-task', sourceArn: arnOf('dead') };
  const steps = Array<Command[]>(12)
    .fill([start, { type: 'tick' }])
    .flat();
  simulate({ inFlightMax: 120_000, steps });
});

/** Batches of ten messages, each with an id of its own on FIFO, all in one group. */
function flood(queue: string, batches: number): Command[] {
  return Array.from({ length: batches }, (_, batch) => ({
    type: 'send',
    queue,
    isBatch: true,
    entries: Array.from({ length: 10 }, (__, index) => ({
      id: `e${index}`,
      body: 'x',
      ...(queue.endsWith('.fifo') ? { groupId: 'g1', deduplicationId: `${batch}-${index}` } : {}),
    })),
  }));
}

function simulate({ inFlightMax, steps }: Scenario): Simulation {
  const simulation = new Simulation(inFlightMax);
  simulation.run(steps);
  return simulation;
}

/** What happened up to the difference, in as few steps as still show it. */
function story(value: Scenario): string {
  const { inFlightMax, steps } = withoutNeedlessSteps(value);
  const simulation = new Simulation(inFlightMax);
  const difference = failureOf(() => simulation.run(steps));
  return [
    `With at most ${inFlightMax} in flight, after the prologue of steps.ts:`,
    simulation.story(),
    `${' '.repeat(16)}${difference}`,
  ].join('\n');
}

/** A phrase of several steps shrinks only as a whole; so in the end each step is tried alone. */
function withoutNeedlessSteps({ inFlightMax, steps }: Scenario): Scenario {
  let needed = steps;
  for (let index = steps.length - 1; index >= 0; index -= 1) {
    const fewer = needed.toSpliced(index, 1);
    const failure = failureOf(() => simulate({ inFlightMax, steps: fewer }));
    if (failure !== undefined) needed = fewer;
  }
  return { inFlightMax, steps: needed };
}

function failureOf(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
