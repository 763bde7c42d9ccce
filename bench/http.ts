/**
 * How much of node:http's throughput does OnceMQ reach, and how does it compare with other queues under the same
 * conditions? Compares OnceMQ, durable and in memory, with a bare server that parses the same JSON and answers with the
 * same bytes (the floor) and with its peers: SendMessage, SendMessageBatch of ten, and the life of a message (send,
 * receive, delete) on a FIFO queue, at 32 and 64 connections.
 *
 * Every server has its own process, and so has the load. The systems take turns round by round, each round starting with
 * another one, so that other activity on the machine affects all of them; ratios are within a round. Each round has a
 * new queue and a warm-up that is not counted.
 */

import { parseArgs } from 'node:util';
import { chosen, commonFlags } from './flags.ts';
import type { Workload } from './load/order.ts';
import { type Measured, type Round, Rounds, turned } from './load/rounds.ts';
import { drawPicture } from './report/http-picture.ts';
import { judgeRows, type Row, rowOf, rowText } from './report/http-rows.ts';
import { machineText, print, printExpectations, save, saveJson } from './report/results.ts';
import { DataFolder } from './servers/data-folder.ts';
import {
  type RunningSystem,
  type SystemName,
  startSystems,
  systemNames,
} from './servers/systems.ts';

const workloads = ['send', 'batch', 'life'] as const satisfies readonly Workload[];
const connectionCounts = [32, 64];
/**
 * Many short rounds: a shared machine changes its speed by a third from one second to the next, and the systems of a round
 * are compared with each other. The median of five long rounds was off by a fifth now and then.
 */
const roundTimes = { warmUpMs: 150, measureMs: 400 } as const;
const roundsToWarmUp = 3;
const slowFactor = 10;

export async function benchHttp(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      ...commonFlags,
      only: { type: 'string', default: systemNames.join(',') },
      rows: { type: 'string', default: workloads.join(',') },
      svg: { type: 'string' },
    },
  });
  const names = chosen('--only', values.only, systemNames);
  const asked = chosen('--rows', values.rows, workloads);
  const rounds = values.quick ? 5 : 15;
  const data = new DataFolder(values.dir);
  const { running, absent } = await startSystems(names, data);
  for (const { name, reason } of absent) print(`${name} is skipped: ${reason}`);
  const bench = new HttpBench(running);
  const rows: Row[] = [];
  for (const workload of asked) {
    for (const connections of connectionCounts) {
      const row = rowOf(
        workload,
        connections,
        await bench.measure({ workload, connections, rounds, ...roundTimes }),
      );
      rows.push(row);
      print(`\n${rowText(row)}`);
    }
  }
  await bench.stop();
  data.remove();
  const expectations = judgeRows(rows);
  printExpectations(expectations);
  saveJson('http.json', { absent, expectations, rows }, values.json);
  save('http.svg', drawPicture(rows, machineText()), values.svg);
}

interface Plan extends Round {
  readonly rounds: number;
}

class HttpBench {
  readonly #systems: readonly RunningSystem[];
  readonly #rounds: Rounds = new Rounds();

  constructor(systems: readonly RunningSystem[]) {
    this.#systems = systems;
  }

  async stop(): Promise<void> {
    for (const { server } of this.#systems) await server.stop();
    this.#rounds.stop();
  }

  /** For each system, one count per round. */
  async measure({ rounds, ...plan }: Plan): Promise<Map<SystemName, Measured[]>> {
    const counts = new Map<SystemName, Measured[]>(this.#systems.map(({ name }) => [name, []]));
    // The first rounds are a warm-up and are not counted: code is compiled and heaps grow.
    for (let round = -roundsToWarmUp; round < rounds; round += 1) {
      for (const system of turned(this.#systems, round + roundsToWarmUp)) {
        if (round >= system.roundsMax || (round < 0 && system.isSlow)) continue;
        const measureMs = system.isSlow ? plan.measureMs * slowFactor : plan.measureMs;
        const count = await this.#rounds.run(system, { ...plan, measureMs });
        if (round >= 0) counts.get(system.name)?.push(count);
      }
    }
    return counts;
  }
}
