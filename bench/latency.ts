/**
 * How long does a user wait for SendMessage when the server is busy but not overloaded? Measures p50 and p99 of the
 * durable server at half of its highest rate, which each round measures just before, on 64 connections.
 *
 * Requests are due at fixed times, whether or not earlier ones have been answered, and the latency of a late request
 * counts from when it was due (load/schedule.ts).
 */

import { parseArgs } from 'node:util';
import { commonFlags } from './flags.ts';
import type { Latency, LoadCount, Pace } from './load/order.ts';
import { print, printExpectations, saveJson } from './report/results.ts';
import { median, spreadOf, spreadText, whole } from './report/statistics.ts';
import { DurableServer } from './servers/durable-server.ts';

interface Round {
  /** Requests per second at full load: each connection sends as soon as its previous request is answered. */
  readonly highest: number;
  readonly latency: Latency;
}

const connections = 64;
const queue = 'latency.fifo';
const expectedP99Ms = 20;

export async function benchLatency(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...flags], options: commonFlags });
  const rounds = values.quick ? 1 : 3;
  const times = values.quick
    ? { warmUpMs: 500, measureMs: 1_500 }
    : { warmUpMs: 1_000, measureMs: 4_000 };
  const server = await DurableServer.start(values.dir);
  await server.createQueue(queue);
  const run = (pace: Pace): Promise<LoadCount> =>
    server.run({ queue, workload: 'send', connections, pace });

  // The first round is a warm-up and is not counted: code is compiled and heaps grow.
  await run({ kind: 'full', ...times });
  const found: Round[] = [];
  print(`\n${lineOf(['highest/s', 'asked/s', 'p50 ms', 'p99 ms', 'longest ms'])}`);
  for (let round = 0; round < rounds; round += 1) {
    const { requests, seconds } = await run({ kind: 'full', ...times });
    const highest = requests / seconds;
    const { latency } = await run({ kind: 'rate', perSecond: highest / 2, ...times });
    if (latency === undefined) throw new Error('the load measured no latency');
    found.push({ highest, latency });
    const inMs = [latency.p50Ms, latency.p99Ms, latency.maxMs].map((ms) => ms.toFixed(1));
    print(lineOf([whole(highest), whole(highest / 2), ...inMs]));
  }
  await server.end();

  const p99Ms = median(found.map(({ latency }) => latency.p99Ms));
  const highest = spreadText(spreadOf(found.map((round) => round.highest)));
  const expectations = [
    {
      text: `p99 at half of ${highest} a second: ${p99Ms.toFixed(1)} ms, expected below ${expectedP99Ms}`,
      isMet: p99Ms < expectedP99Ms,
    },
  ];
  printExpectations(expectations);
  saveJson('latency.json', { expectations, rounds: found }, values.json);
}

function lineOf(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(12)).join('');
}
