/**
 * What do nodes over PostgreSQL reach of what one server on its own disk does? Compares the embedded store, one node, three
 * nodes whose clients use any of them, and the same three with sticky clients: the requests of a queue go to the node that
 * its number names, which is the most that a balancer or a forwarding node could make of it. SendMessage, SendMessageBatch of
 * ten, and the life of a message; all on one queue, or on 1,000 in turn. Then SendMessage at half of the highest rate, and
 * lives while somebody's transaction is left open.
 *
 * All have their data on the same disk, with fsync. They take turns round by round, and those that do not have their turn
 * are paused: what a node does in the background is part of its own rounds. Ratios are within a round.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chosen, commonFlags, wholeNumber } from './flags.ts';
import { LoadProcess } from './load/load-process.ts';
import type { LoadCount, LoadTarget, Pace } from './load/order.ts';
import { ofQueue, queueText } from './load/requests.ts';
import { turned } from './load/rounds.ts';
import {
  judge,
  type Measured,
  type Row,
  rowOf,
  rowText,
  type SnapshotRound,
  type SystemName,
  snapshotText,
} from './report/postgres-rows.ts';
import { print, printExpectations, saveJson } from './report/results.ts';
import { DataFolder } from './servers/data-folder.ts';
import { callAction, createQueue, startOnceMq } from './servers/oncemq.ts';
import { PostgresServer } from './servers/postgres.ts';
import { machineMicros, processMicros } from './servers/processor-time.ts';
import type { ServerProcess } from './servers/server-process.ts';

/** One system; `three` and `sticky` are the same nodes. */
interface System {
  readonly name: SystemName;
  readonly nodes: readonly ServerProcess[];
}

const workloads = ['send', 'batch', 'life'] as const;
const queueCounts = [1, 1_000];
/** Clients of a fleet: three nodes have as many altogether as the one server has. */
const connectionsDefault = 192;
/** Long enough that a node's background, which works every two seconds, has its part in each. */
const usualTimes = { warmUpMs: 1_000, measureMs: 2_500 } as const;
const quickTimes = { warmUpMs: 300, measureMs: 500 } as const;
const askedAtOnce = 20;
const clearedMsMax = 300_000;
const clearedStepMs = 500;

export async function benchPostgres(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      ...commonFlags,
      rows: { type: 'string', default: workloads.join(',') },
      rounds: { type: 'string' },
      connections: { type: 'string' },
      seconds: { type: 'string' },
      shared: { type: 'boolean', default: false },
    },
  });
  const asked = chosen('--rows', values.rows, workloads);
  const otherwise = values.quick ? 1 : 5;
  const rounds = wholeNumber('--rounds', values.rounds, { otherwise, max: 1_000 });
  const times = values.quick ? quickTimes : usualTimes;
  const seconds = wholeNumber('--seconds', values.seconds, { otherwise: 0, max: 600 });
  const bench = await PostgresBench.start({
    dir: values.dir,
    times: seconds === 0 ? times : { ...times, measureMs: seconds * 1_000 },
    isShared: values.shared,
    connections: wholeNumber('--connections', values.connections, {
      otherwise: connectionsDefault,
      max: 10_000,
    }),
  });
  const rows: Row[] = [];
  for (const workload of asked) {
    for (const queues of queueCounts) {
      const row = await bench.row({ workload, queues, rounds });
      rows.push(row);
      print(`\n${rowText(row)}`);
    }
  }
  const held = await bench.underSnapshot(values.quick ? 2 : 12);
  print(`\n${snapshotText(held)}`);
  await bench.stop();
  const expectations = judge(rows);
  printExpectations(expectations);
  saveJson('postgres.json', { expectations, rows, held }, values.json);
}

interface Conditions {
  readonly dir: string | undefined;
  readonly times: { readonly warmUpMs: number; readonly measureMs: number };
  readonly connections: number;
  /** Other programs keep the machine busy. */
  readonly isShared: boolean;
}

interface Plan {
  readonly workload: (typeof workloads)[number];
  readonly queues: number;
  readonly rounds: number;
}

class PostgresBench {
  readonly #conditions: Conditions;
  readonly #data: DataFolder;
  readonly #database: PostgresServer;
  readonly #systems: readonly System[];
  readonly #load: LoadProcess;
  #rows = 0;

  private constructor(
    conditions: Conditions,
    data: DataFolder,
    database: PostgresServer,
    systems: readonly System[],
  ) {
    this.#conditions = conditions;
    this.#data = data;
    this.#database = database;
    this.#systems = systems;
    this.#load = new LoadProcess({ givesWay: conditions.isShared ? 'a little' : true });
  }

  static async start(conditions: Conditions): Promise<PostgresBench> {
    const data = new DataFolder(conditions.dir);
    const database = await PostgresServer.start(conditions.dir);
    const embedded = await startOnceMq({ folder: data.path });
    const one = await startOnceMq({ postgres: await database.createDatabase('one') });
    const postgres = await database.createDatabase('three');
    const three: ServerProcess[] = [];
    for (let node = 0; node < 3; node += 1) three.push(await startOnceMq({ postgres }));
    const bench = new PostgresBench(conditions, data, database, [
      { name: 'embedded', nodes: [embedded] },
      { name: 'one', nodes: [one] },
      { name: 'three', nodes: three },
      { name: 'sticky', nodes: three },
    ]);
    for (const { nodes } of bench.#systems) for (const node of nodes) node.pause();
    return bench;
  }

  async stop(): Promise<void> {
    for (const { name, nodes } of this.#systems) {
      if (name === 'sticky') continue;
      for (const node of nodes) {
        node.wake();
        await node.stop();
      }
    }
    this.#load.stop();
    await this.#database.stop();
    this.#data.remove();
  }

  async row({ workload, queues, rounds }: Plan): Promise<Row> {
    const counts = new Map<SystemName, Measured[]>(this.#systems.map(({ name }) => [name, []]));
    const label = await this.#createQueues(this.#systems, queues);
    // The first round is a warm-up and is not counted: code is compiled, and queues are loaded.
    for (let round = -1; round < rounds; round += 1) {
      for (const system of turned(this.#systems, round + 1)) {
        const targets = targetsOf(system, label, queues);
        const pace: Pace = { kind: 'full', ...this.#conditions.times };
        const measured = await this.#measure(system, { workload, targets, pace });
        if (round < 0) continue;
        counts.get(system.name)?.push(measured);
        if (workload !== 'send') continue;
        const { latency } = await this.#measure(system, {
          workload,
          targets,
          pace: { ...pace, kind: 'rate', perSecond: measured.requests / measured.seconds / 2 },
        });
        Object.assign(measured, { latency });
      }
    }
    await this.#deleteQueues(label, queues);
    return rowOf({ workload, queues, connections: this.#conditions.connections }, counts);
  }

  /** Lives on one queue at the embedded store and at one node; a transaction is open in the second half of the rounds. */
  async underSnapshot(rounds: number): Promise<readonly SnapshotRound[]> {
    const systems = this.#systems.filter(({ name }) => name === 'embedded' || name === 'one');
    const label = await this.#createQueues(systems, 1);
    const found: SnapshotRound[] = [];
    let release = async (): Promise<void> => {};
    for (let round = 0; round < rounds * 2; round += 1) {
      if (round === rounds) release = await this.#database.holdSnapshot('one');
      const rates: number[] = [];
      for (const system of systems) {
        const { messages, seconds } = await this.#measure(system, {
          workload: 'life',
          targets: targetsOf(system, label, 1),
          pace: { kind: 'full', ...this.#conditions.times },
        });
        rates.push(messages / seconds);
      }
      const [embedded = 0, one = 0] = rates;
      const databaseBytes = await this.#database.databaseBytes('one');
      found.push({ isHeld: round >= rounds, embedded, one, databaseBytes });
    }
    await release();
    return found;
  }

  async #measure(
    { nodes }: System,
    order: {
      readonly workload: Plan['workload'];
      readonly targets: readonly LoadTarget[];
      readonly pace: Pace;
    },
  ): Promise<Measured> {
    for (const node of nodes) node.wake();
    const before = await this.#used(nodes);
    const count: LoadCount = await this.#load.run({
      ...order,
      connections: this.#conditions.connections,
    });
    const after = await this.#used(nodes);
    for (const node of nodes) node.pause();
    const spent = (name: keyof typeof after): number => after[name] - before[name];
    const each = (name: keyof typeof after): number => spent(name) / count.messagesInAll;
    const own = spent('nodeMicros') + spent('databaseMicros') + spent('benchMicros');
    return {
      ...count,
      nodeMicros: each('nodeMicros'),
      databaseMicros: each('databaseMicros'),
      walBytes: each('walBytes'),
      others: Math.max(0, spent('machineMicros') - own) / spent('availableMicros'),
    };
  }

  async #used(nodes: readonly ServerProcess[]) {
    const { used, all } = machineMicros();
    return {
      machineMicros: used,
      availableMicros: all,
      benchMicros: this.#load.cpuMicros() + processMicros(process.pid),
      nodeMicros: nodes.reduce((sum, node) => sum + node.used().cpuMicros, 0),
      databaseMicros: this.#database.cpuMicros(),
      walBytes: await this.#database.walBytes(),
    };
  }

  /** New ones for each row, with empty windows. Every node has loaded them then. Returns the row's part of their names. */
  async #createQueues(systems: readonly System[], queues: number): Promise<string> {
    this.#rows += 1;
    for (const { name, nodes } of systems) {
      for (const node of nodes) node.wake();
      const [first, ...others] = nodes as [ServerProcess, ...ServerProcess[]];
      const names = Array.from({ length: queues }, (_, queue) =>
        ofQueue(queueName(name, this.#rows), queue),
      );
      await inTurns(names, (queue) => createQueue(first, queue));
      // A node loads a queue when it is first asked for it.
      for (const node of others) {
        await inTurns(names, (queue) =>
          callAction(node, 'ReceiveMessage', { QueueUrl: urlOf(node, queue) }),
        );
      }
      for (const each of nodes) each.pause();
    }
    return String(this.#rows);
  }

  /** Until nothing is left of them: what the background has to do for them is not done in the next row's rounds. */
  async #deleteQueues(row: string, queues: number): Promise<void> {
    for (const { nodes } of this.#systems) for (const node of nodes) node.wake();
    for (const { name, nodes } of this.#systems) {
      const [node] = nodes as [ServerProcess];
      const names = Array.from({ length: queues }, (_, queue) =>
        ofQueue(queueName(name, row), queue),
      );
      await inTurns(names, (queue) =>
        callAction(node, 'DeleteQueue', { QueueUrl: urlOf(node, queue) }),
      );
    }
    const left = 'SELECT count(*) AS value FROM oncemq.owner WHERE is_gone';
    const giveUpAt = performance.now() + clearedMsMax;
    for (const database of ['one', 'three']) {
      while ((await this.#database.numberOf(database, left)) > 0) {
        if (performance.now() > giveUpAt) throw new Error('deleted queues are still there');
        await sleep(clearedStepMs);
      }
    }
    for (const { nodes } of this.#systems) for (const node of nodes) node.pause();
  }
}

/** Some at a time. */
async function inTurns(
  names: readonly string[],
  ask: (name: string) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < names.length; from += askedAtOnce) {
    await Promise.all(names.slice(from, from + askedAtOnce).map(ask));
  }
}

function urlOf({ port }: ServerProcess, queue: string): string {
  return `http://127.0.0.1:${port}/000000000000/${queue}`;
}

function queueName(system: SystemName, row: number | string): string {
  return `${system}-${row}-${queueText}.fifo`;
}

function targetsOf({ name, nodes }: System, row: string, count: number): readonly LoadTarget[] {
  const queues = Array.from({ length: count }, (_, queue) => queue);
  // The number stands for a hash of the name.
  const isOf = (node: number, queue: number): boolean =>
    name !== 'sticky' || queue % nodes.length === node;
  return nodes
    .map((node, at) => ({
      port: node.port,
      queueUrl: urlOf(node, queueName(name, row)),
      queues: queues.filter((queue) => isOf(at, queue)),
    }))
    .filter((target) => target.queues.length > 0);
}
