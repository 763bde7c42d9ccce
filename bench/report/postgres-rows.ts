/**
 * The numbers of the PostgreSQL benchmark: rows of rates with ratios to the embedded store, their text, and what is
 * expected of them. A ratio is the median over the rounds of the ratio within each round, with its quartiles.
 */

import type { LoadCount, Workload } from '../load/order.ts';
import type { Expectation } from './results.ts';
import {
  median,
  megabytes,
  type Quartiles,
  quartilesOf,
  ratioText,
  type Spread,
  spreadOf,
  spreadText,
  whole,
} from './statistics.ts';

export type SystemName = 'embedded' | 'one' | 'three' | 'sticky';

/** One round of one system; what was used is per message. */
export interface Measured extends LoadCount {
  /** Processor time of all nodes, and of all processes of PostgreSQL. */
  readonly nodeMicros: number;
  readonly databaseMicros: number;
  /** Written ahead by PostgreSQL, for the background's records as well. */
  readonly walBytes: number;
  /** The part of the machine's processor time that other programs had. */
  readonly others: number;
}

export interface Rates {
  /** Messages per second. */
  readonly rate: Spread;
  /** To the embedded store. */
  readonly ratio: Quartiles;
  readonly nodeMicros: number;
  readonly databaseMicros: number;
  readonly walBytes: number;
  /** At half of the highest rate; undefined for workloads that were not asked for it. */
  readonly p99Ms: number | undefined;
  readonly loadFree: number;
  readonly others: number;
}

export interface Row {
  readonly workload: Workload;
  readonly queues: number;
  readonly connections: number;
  readonly systems: Readonly<Record<SystemName, Rates>>;
  /** Sticky clients against those that use any node. */
  readonly stickyToThree: Quartiles;
}

export interface SnapshotRound {
  readonly isHeld: boolean;
  /** Lives per second. */
  readonly embedded: number;
  readonly one: number;
  readonly databaseBytes: number;
}

const labels: Readonly<Record<SystemName, string>> = {
  embedded: 'embedded store',
  one: 'one node',
  three: 'three nodes',
  sticky: 'three nodes, sticky clients',
};
const titles: Readonly<Partial<Record<Workload, string>>> = {
  send: 'SendMessage',
  batch: 'SendMessageBatch of 10',
  life: 'send, receive, delete',
};

export function rowOf(
  about: Pick<Row, 'workload' | 'queues' | 'connections'>,
  counts: ReadonlyMap<SystemName, readonly Measured[]>,
): Row {
  const of = (name: SystemName): readonly Measured[] => counts.get(name) ?? [];
  const ratesOf = (name: SystemName): Rates => {
    const rounds = of(name);
    const latencies = rounds.flatMap(({ latency }) => latency ?? []);
    return {
      rate: spreadOf(rounds.map(rateOf)),
      ratio: ratio(rounds, of('embedded')),
      nodeMicros: median(rounds.map(({ nodeMicros }) => nodeMicros)),
      databaseMicros: median(rounds.map(({ databaseMicros }) => databaseMicros)),
      walBytes: median(rounds.map(({ walBytes }) => walBytes)),
      p99Ms: latencies.length === 0 ? undefined : median(latencies.map(({ p99Ms }) => p99Ms)),
      loadFree: median(rounds.map(({ free }) => free)),
      others: median(rounds.map(({ others }) => others)),
    };
  };
  return {
    ...about,
    systems: {
      embedded: ratesOf('embedded'),
      one: ratesOf('one'),
      three: ratesOf('three'),
      sticky: ratesOf('sticky'),
    },
    stickyToThree: ratio(of('sticky'), of('three')),
  };
}

function rateOf({ messages, seconds }: LoadCount): number {
  return messages / seconds;
}

function ratio(rounds: readonly Measured[], others: readonly Measured[]): Quartiles {
  return quartilesOf(
    rounds.map((count, round) => rateOf(count) / rateOf(others[round] as Measured)),
  );
}

export function rowText({ workload, queues, connections, systems, stickyToThree }: Row): string {
  const heads = [
    'messages/s',
    '×embedded',
    'p99 ms',
    'µs/msg',
    'µs/msg DB',
    'WAL B/msg',
    'load free',
    'others',
  ];
  const lines = (Object.entries(systems) as [SystemName, Rates][]).map(([name, each]) => {
    const isOverDatabase = name !== 'embedded';
    return line(labels[name], [
      spreadText(each.rate),
      ratioText(isOverDatabase ? each.ratio : undefined),
      each.p99Ms?.toFixed(1) ?? '–',
      each.nodeMicros.toFixed(1),
      isOverDatabase ? each.databaseMicros.toFixed(1) : '–',
      isOverDatabase ? whole(each.walBytes) : '–',
      `${whole(each.loadFree * 100)}%`,
      `${whole(each.others * 100)}%`,
    ]);
  });
  const where = queues === 1 ? 'one queue' : `${whole(queues)} queues`;
  return [
    line(`${titles[workload]}, ${where}, ${connections} connections`, heads),
    ...lines,
    `sticky against three: ${ratioText(stickyToThree)}`,
  ].join('\n');
}

function line(title: string, cells: readonly string[]): string {
  const widths = [26, 18, 9, 9, 11, 11, 11, 8];
  return title.padEnd(54) + cells.map((cell, at) => cell.padStart(widths[at] as number)).join('');
}

/** Ratios of one node to the embedded store, and the size of its database, without the open transaction and with it. */
export function snapshotText(rounds: readonly SnapshotRound[]): string {
  const part = (isHeld: boolean): string => {
    const of = rounds.filter((round) => round.isHeld === isHeld);
    const ratio = quartilesOf(of.map(({ one, embedded }) => one / embedded));
    const last = of.at(-1)?.databaseBytes ?? 0;
    return `${ratioText(ratio)} of the embedded store, ${whole(median(of.map(({ one }) => one)))} lives/s, database ${megabytes(of[0]?.databaseBytes ?? 0)} to ${megabytes(last)}`;
  };
  return [
    'One node, lives on one queue',
    `no transaction open   ${part(false)}`,
    `one is left open      ${part(true)}`,
  ].join('\n');
}

/** The least ratio to the embedded store, in the worst of the workloads. */
const expected = [
  { system: 'one', queues: 1, least: 0.45 },
  { system: 'one', queues: 1_000, least: 0.5 },
  { system: 'three', queues: 1, least: 0.3 },
  { system: 'three', queues: 1_000, least: 0.3 },
  { system: 'sticky', queues: 1, least: 0.5 },
  { system: 'sticky', queues: 1_000, least: 0.5 },
] as const satisfies readonly { system: SystemName; queues: number; least: number }[];

export function judge(rows: readonly Row[]): Expectation[] {
  return expected.map(({ system, queues, least }) => {
    const ratios = rows
      .filter((row) => row.queues === queues)
      .map((row) => row.systems[system].ratio.median);
    const isMeasured = ratios.length > 0;
    const worst = Math.min(...ratios);
    const where = queues === 1 ? 'one queue' : `${whole(queues)} queues`;
    return {
      text: `${labels[system]}, ${where}: ${isMeasured ? worst.toFixed(2) : '–'} of the embedded store in the worst row, expected ${least}`,
      isMet: isMeasured ? worst >= least : undefined,
    };
  });
}
