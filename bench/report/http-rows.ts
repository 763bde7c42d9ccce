/**
 * The numbers of the HTTP benchmark: turns the counts of rounds into a row with ratios, formats the row as text, and
 * checks what is expected of all rows. A ratio is the median over the rounds of the ratio within each round, with its quartiles.
 */

import type { LoadCount, Workload } from '../load/order.ts';
import type { Measured } from '../load/rounds.ts';
import { type SystemName, systems } from '../servers/systems.ts';
import type { Expectation } from './results.ts';
import {
  median,
  type Quartiles,
  quartilesOf,
  ratioText,
  type Spread,
  spreadOf,
  spreadText,
  whole,
} from './statistics.ts';

export interface Rates {
  /** Requests per second. */
  readonly rate: Spread;
  readonly messagesPerSecond: number;
  /** Undefined if the floor or fauxqs did not run. */
  readonly toFloor: Quartiles | undefined;
  readonly toFauxqs: Quartiles | undefined;
  readonly cpuMicros: number;
  readonly writtenBytes: number;
  /** The fraction of the load's event loop turns with nothing to do. */
  readonly loadFree: number;
}

export interface Row {
  readonly title: string;
  readonly workload: Workload;
  readonly connections: number;
  readonly systems: Readonly<Partial<Record<SystemName, Rates>>>;
}

const titles: Readonly<Partial<Record<Workload, string>>> = {
  send: 'SendMessage',
  batch: 'SendMessageBatch of 10',
  life: 'send, receive, delete',
};

export function rowOf(
  workload: Workload,
  connections: number,
  counts: ReadonlyMap<SystemName, readonly Measured[]>,
): Row {
  const rates = [...counts].map(([name, rounds]) => [
    name,
    {
      rate: spreadOf(rounds.map(rateOf)),
      messagesPerSecond: median(rounds.map(({ messages, seconds }) => messages / seconds)),
      toFloor: ratio(rounds, counts.get('floor')),
      toFauxqs: ratio(rounds, counts.get('fauxqs')),
      cpuMicros: median(rounds.map(({ cpuMicros }) => cpuMicros)),
      writtenBytes: median(rounds.map(({ writtenBytes }) => writtenBytes)),
      loadFree: median(rounds.map(({ free }) => free)),
    } satisfies Rates,
  ]);
  return {
    title: titles[workload] ?? workload,
    workload,
    connections,
    systems: Object.fromEntries(rates),
  };
}

function ratio(
  rounds: readonly Measured[],
  others: readonly Measured[] | undefined,
): Quartiles | undefined {
  if (others === undefined) return undefined;
  return quartilesOf(
    rounds.map((count, round) => rateOf(count) / rateOf(others[round] as Measured)),
  );
}

function rateOf({ requests, seconds }: LoadCount): number {
  return requests / seconds;
}

export function rowText({ title, connections, systems: rates }: Row): string {
  const heads = ['requests/s', 'messages/s', '×floor', '×fauxqs', 'µs/msg', 'B/msg', 'load free'];
  const lines = (Object.entries(rates) as [SystemName, Rates][]).map(([name, each]) =>
    line(systems[name].label, [
      spreadText(each.rate),
      whole(each.messagesPerSecond),
      ratioText(each.toFloor),
      ratioText(each.toFauxqs),
      number(each.cpuMicros, 1),
      number(each.writtenBytes, 0),
      `${whole(each.loadFree * 100)}%`,
    ]),
  );
  return [line(`${title}, ${connections} connections`, heads), ...lines].join('\n');
}

/** A dash if there was no message. */
function number(value: number, digits: number): string {
  if (!Number.isFinite(value)) return '–';
  return value.toLocaleString('en', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

function line(title: string, cells: readonly string[]): string {
  const widths = [26, 12, 18, 18, 9, 8, 11];
  return title.padEnd(42) + cells.map((cell, at) => cell.padStart(widths[at] as number)).join('');
}

/** The minimum ratios to the floor and to fauxqs that are expected, in the worst of the rows. */
const expected = [
  { system: 'oncemq', to: 'toFloor', least: 0.5, workload: 'send', connections: 64 },
  { system: 'oncemq', to: 'toFloor', least: 0.4, workload: 'batch' },
  { system: 'oncemq', to: 'toFauxqs', least: 1 },
  { system: 'oncemq-memory', to: 'toFloor', least: 0.6, workload: 'send' },
  { system: 'oncemq-memory', to: 'toFauxqs', least: 2 },
] as const satisfies readonly {
  system: SystemName;
  to: 'toFloor' | 'toFauxqs';
  least: number;
  workload?: Workload;
  connections?: number;
}[];

export function judgeRows(rows: readonly Row[]): Expectation[] {
  return expected.map(({ system, to, least, ...where }) => {
    const isMeant = (row: Row): boolean =>
      ('workload' in where ? where.workload === row.workload : true) &&
      ('connections' in where ? where.connections === row.connections : true);
    const ratios = rows.filter(isMeant).map((row) => row.systems[system]?.[to]?.median);
    const worst = Math.min(...ratios.filter((each) => each !== undefined));
    const rowsText = 'workload' in where ? titles[where.workload] : 'every row';
    const atText = 'connections' in where ? ` at ${where.connections} connections` : '';
    const unit = to === 'toFloor' ? 'of the floor' : 'times fauxqs';
    const isMeasured = Number.isFinite(worst);
    return {
      text: `${systems[system].label}: ${rowsText}${atText}: ${isMeasured ? worst.toFixed(2) : '–'} ${unit}, expected ${least}`,
      isMet: isMeasured ? worst >= least : undefined,
    };
  });
}
