/**
 * A crash run of several nodes over one database: clients ask another node with every request, while the nemesis harms one
 * node after the other, and now and then the primary is killed and its standby promoted. Whatever is harmed, the other nodes
 * are probed: how long a send takes there is how long anybody waits for the dead.
 *
 * What clients see is judged like that of one server. A request that got no answer may still be executed for as long as a node
 * can be frozen or a byte be on its way, and 503 is no answer.
 */

import { mkdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Chance } from '../support/chance.ts';
import { check, type Violation } from './checker.ts';
import { CrashClient } from './client.ts';
import { DatabasePair, type Manager } from './database-pair.ts';
import { freePorts } from './free-ports.ts';
import { HistoryWriter, now, readHistory } from './history.ts';
import { KilledServer } from './killed-server.ts';
import { Lane } from './lane.ts';
import { Link } from './link.ts';
import { type CrashedNode, faults as faultsFor } from './nemesis.ts';
import { type Tally, tallyOf } from './tally.ts';
import { createAll, noteLeft, Workers } from './workers.ts';
import { type CrashQueue, queues } from './workload.ts';

export interface NodesOptions {
  readonly seed: number;
  /** How many times a node is harmed. */
  readonly faults: number;
  /** After so many faults the primary is killed; never, if undefined. */
  readonly faultsPerFailover: number | undefined;
  /** How long a node is frozen or cut off at most; default 2.5 s. */
  readonly harmMsMax?: number;
  readonly manager?: Manager;
  /** A mistake that the checker must find: commits that are none, or a failover that loses the latest commits. */
  readonly planted?: 'lies' | 'loss';
  /** Created if it does not exist; gets the histories. */
  readonly directory: string;
  /** Told of each fault, and how long a send took at the nodes that it did not harm. */
  readonly onFault?: (what: string, waitMs: number) => void;
}

export interface NodesResult {
  readonly tally: Tally;
  readonly violations: readonly Violation[];
  /** How often each fault happened, and how long a send at another node took at most meanwhile. */
  readonly faults: ReadonlyMap<string, { readonly count: number; readonly waitMs: number }>;
  /** What nodes said of commits that the database has lost. */
  readonly losses: readonly string[];
  /** What they said of requests that failed unexpectedly. */
  readonly failures: readonly string[];
}

const nodesCount = 3;
const betweenMsMax = 600;
/** Requests of several nodes take their turns at the database, and near-empty queues are what breaks first. */
const producerPauseMsMax = 1_000;
/** How long bytes are on their way, and a node waits for the database. */
const lateMsMin = 15_000;
const harmMsDefault = 2_500;
/** A manager takes half a minute to make another database the primary; this is never. */
const serviceMsMax = 120_000;
const lies = 6;
const lostSends = 3;

export async function nodesRun(options: NodesOptions): Promise<NodesResult> {
  mkdirSync(options.directory, { recursive: true });
  let fail: (error: Error) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const run = new NodesRun(options, fail);
  try {
    await Promise.race([run.all(), failed]);
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${text}\nHistory: ${options.directory}`, { cause });
  } finally {
    await run.end();
  }
  const history = readHistory(options.directory);
  const { happened: faults, losses, failures } = run;
  return { tally: tallyOf(history), violations: check(history), faults, losses, failures };
}

interface ProbedNode extends CrashedNode {
  readonly client: CrashClient;
  readonly lane: Lane;
}

class NodesRun {
  readonly happened: Map<string, { count: number; waitMs: number }> = new Map();
  readonly losses: string[] = [];
  readonly failures: string[] = [];
  readonly #options: NodesOptions;
  readonly #fail: (error: Error) => void;
  readonly #chance: Chance;
  readonly #history: HistoryWriter;
  readonly #nodes: ProbedNode[] = [];
  #databases: DatabasePair | undefined;
  #client: CrashClient | undefined;
  #workers: Workers | undefined;

  constructor(options: NodesOptions, fail: (error: Error) => void) {
    this.#options = options;
    this.#fail = fail;
    this.#chance = new Chance(options.seed, 0);
    this.#history = new HistoryWriter(options.directory, 'supervisor');
  }

  async all(): Promise<void> {
    const { seed, directory, planted, manager, harmMsMax = harmMsDefault } = this.#options;
    this.#databases = await DatabasePair.start(manager);
    const ports = await freePorts(seed, nodesCount);
    const lateMs = harmMsMax + lateMsMin;
    for (const port of ports) this.#nodes.push(await this.#node(port, lateMs));
    this.#client = new CrashClient(ports, lateMs);
    await this.#startAll();
    await createAll(this.#client, this.#history);
    const pauseMsMax = producerPauseMsMax;
    const task = { ports, lateMs, pauseMsMax, directory, seed, round: 0 };
    this.#workers = new Workers({ ...task, onFailure: this.#fail });
    await this.#harmAgainAndAgain();
    if (planted === 'lies') await this.#lie();
    if (planted === 'loss') await this.#lose();
    await this.#workers.drain(this.#client);
    for (const { server } of this.#nodes) await server.kill();
    await this.#startAll();
    await noteLeft(this.#client, this.#history);
    for (const { server } of this.#nodes) await server.stop();
  }

  /** Whatever the result: no process and no connection is left. */
  async end(): Promise<void> {
    this.#workers?.kill();
    this.#client?.close();
    for (const { client, server, links } of this.#nodes) {
      client.close();
      await server.close();
      for (const link of links) await link.close();
    }
    await this.#databases?.close();
    this.#history.close();
  }

  async #node(port: number, lateMs: number): Promise<ProbedNode> {
    const databases = this.#databases as DatabasePair;
    const links = await Promise.all(databases.ports.map((each) => Link.to(each)));
    const urls = links.map((link) => `postgres://postgres@127.0.0.1:${link.port}/postgres`);
    const flags = ['--port', `${port}`, ...urls.flatMap((url) => ['--postgres', url])];
    const server = new KilledServer(flags, this.#fail, (line) => {
      if (line.includes('lost commits')) this.losses.push(line);
      if (line.includes('a request failed')) this.failures.push(line);
    });
    const client = new CrashClient([port], lateMs);
    const lane = new Lane({
      queue: queues[0] as CrashQueue,
      group: `probe-${port}`,
      client,
      history: this.#history,
      chance: this.#chance,
      round: 0,
      name: `probe-${port}`,
    });
    return { server, links, client, lane };
  }

  async #startAll(): Promise<void> {
    await Promise.all(this.#nodes.map(({ server }) => server.start()));
  }

  async #harmAgainAndAgain(): Promise<void> {
    const { faults: count, faultsPerFailover, harmMsMax = harmMsDefault } = this.#options;
    const kinds = Object.entries(faultsFor({ harmMsMax }));
    // Each kind comes once before one comes again.
    let waiting: typeof kinds = [];
    for (let done = 1; done <= count; done += 1) {
      await pause(this.#chance.below(betweenMsMax));
      if (waiting.length === 0) waiting = [...kinds];
      const kind = this.#chance.pick(waiting);
      waiting = waiting.filter((other) => other !== kind);
      const [name, fault] = kind;
      const node = this.#chance.pick(this.#nodes);
      this.#history.add({ type: 'kill', at: now(), isStarting: false });
      const others = this.#nodes.filter((other) => other !== node);
      await fault(node, this.#chance, () => this.#probe(name, others));
      if (faultsPerFailover !== undefined && done % faultsPerFailover === 0) {
        await this.#failOver();
      }
    }
  }

  /** A send at each of these nodes, as often as it takes. */
  async #probe(what: string, nodes: readonly ProbedNode[]): Promise<void> {
    const from = now();
    const impatience = setTimeout(
      () => this.#fail(new Error(`${what}: still no service after ${serviceMsMax} ms`)),
      serviceMsMax,
    );
    await Promise.all(nodes.map(({ lane }) => lane.sendOne()));
    clearTimeout(impatience);
    const known = this.happened.get(what) ?? { count: 0, waitMs: 0 };
    const waitMs = now() - from;
    this.happened.set(what, {
      count: known.count + 1,
      waitMs: Math.max(known.waitMs, waitMs),
    });
    this.#options.onFault?.(what, waitMs);
  }

  async #failOver(): Promise<void> {
    const databases = this.#databases as DatabasePair;
    this.#history.add({ type: 'kill', at: now(), isStarting: false });
    await databases.killPrimary();
    await Promise.all([databases.promoted(), this.#probe('primary killed', this.#nodes)]);
    await databases.followed();
  }

  /** What is planted: some batches are rolled back, and their nodes are told that they were committed. */
  async #lie(): Promise<void> {
    for (let told = 0; told < lies; told += 1) {
      const { links } = this.#chance.pick(this.#nodes);
      await Promise.race(links.map((link) => link.atCommit('lie')));
    }
  }

  /** What is planted: commits no longer wait for the standby, which gets nothing, and then takes over. */
  async #lose(): Promise<void> {
    await this.#databases?.fallBehind();
    for (let sent = 0; sent < lostSends; sent += 1) {
      await Promise.all(this.#nodes.map(({ lane }) => lane.sendOne()));
    }
    await this.#failOver();
  }
}
