/**
 * How much of what node:http can do is left to users of OnceMQ, and how does it compare with another queue on the same
 * footing? The memory-mode server beside a bare server that parses the same JSON and answers the same bytes (the
 * floor) and beside fauxqs: SendMessage, SendMessageBatch of ten, and the life of a message (send, receive, delete) on
 * a FIFO queue, at 32 and 64 connections.
 *
 * Every server has a process of its own, and so has the load. The systems take turns round by round, in another order
 * each time, so that what the machine does beside it meets all of them; ratios are of the same round. Each round has a
 * new queue, and what it did before does not count.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { LoadCount, LoadOrder, Workload } from './http-load.ts';
import { drawPicture } from './http-picture.ts';
import { callAction, type System, type SystemName, startSystems } from './http-systems.ts';

export interface Rates {
  /** Requests a second, one number a round. */
  readonly rounds: readonly number[];
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly messagesPerSecond: number;
  /** Processor time of the server for a request, in microseconds; 0 where the system does not tell. */
  readonly cpuMicros: number;
  /** Which part of the load's turns found nothing to do. */
  readonly loadFree: number;
}

export interface Row {
  readonly title: string;
  readonly workload: Workload;
  readonly connections: number;
  readonly systems: Readonly<Record<SystemName, Rates>>;
  /** OnceMQ's rate over the floor's, and over fauxqs': the median over the rounds. */
  readonly toFloor: number;
  readonly toFauxqs: number;
}

const titles: Readonly<Record<Workload, string>> = {
  send: 'SendMessage',
  batch: 'SendMessageBatch of 10',
  life: 'send, receive, delete',
};

type Measured = LoadCount & { readonly cpuMicros: number };

const expected = { toFloor: 0.6, toFauxqs: 2 };

export async function benchHttp(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      svg: { type: 'string' },
    },
  });
  const plan = values.quick
    ? { rounds: 3, warmUpMs: 250, measureMs: 1_000 }
    : { rounds: 7, warmUpMs: 500, measureMs: 2_000 };
  process.stdout.write(`\n${header()}\n`);
  const bench = await HttpBench.start();
  const rows: Row[] = [];
  try {
    for (const workload of Object.keys(titles) as Workload[]) {
      for (const connections of [32, 64]) {
        const row = await bench.measure({ workload, connections, ...plan });
        rows.push(row);
        process.stdout.write(`${lineOf(row)}\n`);
      }
    }
  } finally {
    bench.stop();
  }
  process.stdout.write(`\n${verdict(rows)}\n`);
  const machine = machineText();
  save(
    values.json ?? join(resultFolder, 'http.json'),
    JSON.stringify({ machine, expected, rows }, undefined, 2),
  );
  save(values.svg ?? join(resultFolder, 'http.svg'), drawPicture(rows, machine));
}

interface Plan {
  readonly workload: Workload;
  readonly connections: number;
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

class HttpBench {
  readonly #systems: readonly System[];
  readonly #load = fork(fileURLToPath(new URL('http-load.js', import.meta.url)), ['load']);
  /** Rejects when the load fails; its own message goes to standard error. */
  readonly #ended: Promise<never>;
  #queues = 0;

  private constructor(systems: readonly System[]) {
    this.#systems = systems;
    this.#ended = once(this.#load, 'exit').then(() => {
      throw new Error('the load process ended');
    });
    this.#ended.catch(() => {});
  }

  static async start(): Promise<HttpBench> {
    return new HttpBench(await startSystems());
  }

  stop(): void {
    for (const { process } of this.#systems) process.kill();
    this.#load.kill();
  }

  async measure({ workload, connections, rounds, ...times }: Plan): Promise<Row> {
    const counts: Record<SystemName, Measured[]> = { floor: [], oncemq: [], fauxqs: [] };
    // The first round is not counted: code is compiled and heaps grow.
    for (let round = -1; round < rounds; round += 1) {
      for (const system of turned(this.#systems, round + 1)) {
        const count = await this.#run(system, { workload, connections, ...times });
        if (round >= 0) counts[system.name].push(count);
      }
    }
    const ratios = (to: SystemName): number[] =>
      counts.oncemq.map((count, round) => rateOf(count) / rateOf(counts[to][round] as Measured));
    return {
      title: titles[workload],
      workload,
      connections,
      systems: {
        floor: ratesOf(counts.floor),
        oncemq: ratesOf(counts.oncemq),
        fauxqs: ratesOf(counts.fauxqs),
      },
      toFloor: median(ratios('floor')),
      toFauxqs: median(ratios('fauxqs')),
    };
  }

  async #run(
    { port, process: { pid } }: System,
    order: Omit<LoadOrder, 'port' | 'queueUrl'>,
  ): Promise<Measured> {
    this.#queues += 1;
    const { body } = await callAction(port, 'CreateQueue', {
      QueueName: `bench-${this.#queues}.fifo`,
      Attributes: { FifoQueue: 'true' },
    });
    const { QueueUrl: queueUrl } = JSON.parse(body) as { QueueUrl: string };
    const before = cpuMicrosOf(pid);
    this.#load.send({ ...order, port, queueUrl } satisfies LoadOrder);
    const [count] = (await Promise.race([once(this.#load, 'message'), this.#ended])) as [LoadCount];
    const cpuMicros = (cpuMicrosOf(pid) - before) / count.requestsInAll;
    await callAction(port, 'DeleteQueue', { QueueUrl: queueUrl });
    return { ...count, cpuMicros };
  }
}

/** What Linux counts for the process, all its threads, in steps of 10 ms (proc_pid_stat(5)). */
function cpuMicrosOf(pid: number | undefined): number {
  if (process.platform !== 'linux') return 0;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

function turned<T>(list: readonly T[], by: number): T[] {
  const start = by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

function rateOf({ requests, seconds }: LoadCount): number {
  return requests / seconds;
}

function ratesOf(counts: readonly Measured[]): Rates {
  const rounds = counts.map(rateOf);
  return {
    rounds,
    median: median(rounds),
    min: Math.min(...rounds),
    max: Math.max(...rounds),
    messagesPerSecond: median(counts.map(({ messages, seconds }) => messages / seconds)),
    cpuMicros: median(counts.map(({ cpuMicros }) => cpuMicros)),
    loadFree: median(counts.map(({ free }) => free)),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number;
}

function header(): string {
  return [
    'requests/s: median (lowest–highest)',
    '',
    `${'row'.padEnd(24)}${'conn'.padEnd(6)}${'floor'.padEnd(24)}${'OnceMQ'.padEnd(24)}${'fauxqs'.padEnd(24)}${'msg/s'.padEnd(9)}${'×floor'.padEnd(8)}${'×fauxqs'.padEnd(9)}${'server µs/request'.padEnd(19)}load free`,
  ].join('\n');
}

function lineOf({ title, connections, systems, toFloor, toFauxqs }: Row): string {
  const { floor, oncemq, fauxqs } = systems;
  const each = (text: (rates: Rates) => string): string =>
    [floor, oncemq, fauxqs].map(text).join(' / ');
  return [
    title.padEnd(24),
    String(connections).padEnd(6),
    ...[floor, oncemq, fauxqs].map((rates) => spread(rates).padEnd(24)),
    Math.round(oncemq.messagesPerSecond).toLocaleString('en').padEnd(9),
    toFloor.toFixed(2).padEnd(8),
    toFauxqs.toFixed(2).padEnd(9),
    each(({ cpuMicros }) => cpuMicros.toFixed(0)).padEnd(19),
    each(({ loadFree }) => `${Math.round(loadFree * 100)}%`),
  ].join('');
}

function spread({ median, min, max }: Rates): string {
  const whole = (value: number): string => Math.round(value).toLocaleString('en');
  return `${whole(median)} (${whole(min)}–${whole(max)})`;
}

function verdict(rows: readonly Row[]): string {
  const toFloor = Math.min(
    ...rows.filter(({ workload }) => workload === 'send').map((row) => row.toFloor),
  );
  const toFauxqs = Math.min(...rows.map((row) => row.toFauxqs));
  const word = (isMet: boolean): string => (isMet ? 'met' : 'MISSED');
  return [
    `SendMessage at ${toFloor.toFixed(2)} of the floor, expected ${expected.toFloor}: ${word(toFloor >= expected.toFloor)}`,
    `${toFauxqs.toFixed(2)} times fauxqs in the worst row, expected ${expected.toFauxqs}: ${word(toFauxqs >= expected.toFauxqs)}`,
  ].join('\n');
}

function machineText(): string {
  const version = (
    JSON.parse(
      readFileSync(new URL('../../node_modules/fauxqs/package.json', import.meta.url), 'utf8'),
    ) as { version: string }
  ).version;
  const processor = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `node ${process.version}, fauxqs ${version}, ${cpus().length} × ${processor}, ${process.platform}`;
}

const resultFolder = fileURLToPath(new URL('../../bench/results', import.meta.url));

function save(file: string, text: string): void {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true });
  // Results are of one machine and one day: neither committed nor linted.
  if (folder === resultFolder) writeFileSync(join(folder, '.gitignore'), '*\n');
  writeFileSync(file, text);
  process.stdout.write(`written: ${file}\n`);
}
