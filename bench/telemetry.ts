/**
 * What does telemetry cost? Compares the server without any telemetry, the server with its defaults (it counts, but nobody
 * reads the counts) and the server with an exporter, each in its own process, in memory and on disk: the life of a
 * message, and SendMessageBatch of ten, where HTTP costs least per message.
 *
 * The servers take turns in many short rounds. Expectations are judged by processor time per message, which determines the
 * rate at full load, and by its lower quartile: other activity on the machine only ever adds to it, and by more than the
 * cost measured here. The ratios of single rounds are shown beside it, but are mostly noise.
 */

import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { commonFlags } from './flags.ts';
import type { Workload } from './load/order.ts';
import { type Measured, Rounds, turned } from './load/rounds.ts';
import { type Expectation, print, printExpectations, saveJson } from './report/results.ts';
import { percentile, type Spread, spreadOf, whole } from './report/statistics.ts';
import { DataFolder } from './servers/data-folder.ts';
import { ServerProcess } from './servers/server-process.ts';

interface Variant {
  readonly label: string;
  /** The largest allowed cost, relative to the server without telemetry. */
  readonly costMax: number;
  /** `false` for the server without telemetry. */
  readonly isCounting?: boolean;
  /** Environment variables, given the port of a collector. */
  readonly environment?: (collectorPort: number) => Readonly<Record<string, string>>;
}

/** The others are compared with the first. */
const variants: readonly Variant[] = [
  { label: 'without telemetry', costMax: 1, isCounting: false },
  { label: 'as it comes', costMax: 1.03 },
  {
    label: 'OTLP metrics every second',
    costMax: 1.1,
    environment: (port) => ({
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `http://127.0.0.1:${port}/v1/metrics`,
      // Sixty times as often as by default, so that exports are spread over the rounds.
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
    }),
  },
];

const workloads = ['life', 'batch'] as const satisfies readonly Workload[];
const storages = ['in memory', 'on disk'] as const;
const connections = 32;
const roundsToWarmUp = 3;
/** Many short rounds, because the cost in question is smaller than the noise in any one round. */
const times = { warmUpMs: 100, measureMs: 400 } as const;

interface Row {
  readonly storage: (typeof storages)[number];
  readonly workload: Workload;
  readonly label: string;
  readonly costMax: number;
  /** Per message: the lower quartile over the rounds. */
  readonly cpuMicros: number;
  readonly rate: Spread;
  /** `cpuMicros` relative to the server without telemetry. */
  readonly cost: number;
  /** Processor time and rate, relative to the server without telemetry in the same round. */
  readonly roundCosts: Spread;
  readonly roundRates: Spread;
}

export async function benchTelemetry(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...flags], options: commonFlags });
  const rounds = values.quick ? 10 : 40;
  const collector = await startOwnFile('otlp-sink.js', [], {});
  const bench = new Rounds();
  const rows: Row[] = [];
  for (const storage of storages) {
    const servers = await startVariants(storage, collector.port, values.dir);
    for (const workload of workloads) {
      const counts: Measured[][] = variants.map(() => []);
      // The first rounds are a warm-up and are not counted: code is compiled and heaps grow.
      for (let round = -roundsToWarmUp; round < rounds; round += 1) {
        for (const at of turned([...variants.keys()], round + roundsToWarmUp)) {
          const server = (servers[at] as Running).server;
          const target = { server, port: server.port };
          const count = await bench.run(target, { workload, connections, ...times });
          if (round >= 0) counts[at]?.push(count);
        }
      }
      const found = variants.map((variant, at) =>
        rowOf({ storage, workload, ...variant }, counts[at] ?? [], counts[0] ?? []),
      );
      rows.push(...found);
      print(`\n${textOf(found)}`);
    }
    for (const { server, data } of servers) {
      await server.stop();
      data?.remove();
    }
  }
  bench.stop();
  await collector.kill();
  const expectations = judge(rows);
  printExpectations(expectations);
  saveJson('telemetry.json', { expectations, rows }, values.json);
}

interface Running {
  readonly server: ServerProcess;
  readonly data: DataFolder | undefined;
}

async function startVariants(
  storage: Row['storage'],
  collectorPort: number,
  dir: string | undefined,
): Promise<Running[]> {
  const running: Running[] = [];
  for (const { isCounting = true, environment } of variants) {
    const data = storage === 'on disk' ? new DataFolder(dir) : undefined;
    const where = data === undefined ? ['memory', 'true'] : ['data', data.path];
    const args = [String(isCounting), ...where];
    const server = await startOwnFile('oncemq-inside.js', args, environment?.(collectorPort) ?? {});
    running.push({ server, data });
  }
  return running;
}

function startOwnFile(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  return ServerProcess.start({
    command: process.execPath,
    args: [fileURLToPath(new URL(`servers/${file}`, import.meta.url)), ...args],
    env,
    ready: /^ready (\d+)/,
  });
}

function rowOf(
  about: Pick<Row, 'storage' | 'workload' | 'label' | 'costMax'>,
  counts: readonly Measured[],
  without: readonly Measured[],
): Row {
  const { storage, workload, label, costMax } = about;
  const ratios = (read: (count: Measured) => number): Spread =>
    spreadOf(
      counts
        .map((count, round) => read(count) / read(without[round] as Measured))
        // On a very busy machine, a server may get no message through in a round.
        .filter(Number.isFinite),
    );
  return {
    storage,
    workload,
    label,
    costMax,
    cpuMicros: lowerQuartile(counts),
    rate: spreadOf(counts.map(rateOf)),
    cost: lowerQuartile(counts) / lowerQuartile(without),
    roundCosts: ratios(({ cpuMicros }) => cpuMicros),
    roundRates: ratios(rateOf),
  };
}

function lowerQuartile(counts: readonly Measured[]): number {
  return percentile(
    counts.map(({ cpuMicros }) => cpuMicros),
    0.25,
  );
}

function rateOf({ messages, seconds }: Measured): number {
  return messages / seconds;
}

function textOf(rows: readonly Row[]): string {
  const [{ storage, workload } = { storage: '', workload: '' }] = rows;
  const lines = rows.map(({ label, cpuMicros, rate, cost, roundCosts, roundRates }) =>
    line(label, [
      cpuMicros.toFixed(1),
      cost.toFixed(3),
      ratioText(roundCosts),
      whole(rate.median),
      ratioText(roundRates),
    ]),
  );
  const heads = ['µs/msg', '× µs', 'in rounds', 'messages/s', 'in rounds'];
  return [line(`${titles[workload] ?? workload}, ${storage}`, heads), ...lines].join('\n');
}

const titles: Readonly<Record<string, string>> = {
  life: 'send, receive, delete',
  batch: 'SendMessageBatch of 10',
};

function ratioText({ median, min, max }: Spread): string {
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
}

function line(title: string, cells: readonly string[]): string {
  const widths = [10, 9, 20, 12, 20];
  return title.padEnd(36) + cells.map((cell, at) => cell.padStart(widths[at] as number)).join('');
}

/** Judges the mean of the workloads, since each alone is too noisy. */
function judge(rows: readonly Row[]): Expectation[] {
  return storages.flatMap((storage) =>
    variants.slice(1).map(({ label, costMax }) => {
      const mine = rows.filter((row) => row.storage === storage && row.label === label);
      const cost = mine.reduce((sum, row) => sum + row.cost, 0) / mine.length;
      return {
        text: `${label}, ${storage}: ${cost.toFixed(3)} of the processor time without telemetry, expected at most ${costMax}`,
        isMet: cost <= costMax,
      };
    }),
  );
}
