/**
 * A crash run: starts the server, a producer and some consumers, kills the server again and again at random moments,
 * starts it again each time, then lets the consumers drain the queues, kills it once more, counts what is left, and has
 * the checker judge what the clients saw.
 *
 * Kills and restarts take real time, and timeouts run while the server is dead; so a run uses the real clock. The seed
 * repeats the choices of the clients and the intended moments of the kills; what exactly a kill interrupts depends on the
 * machine.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Chance } from '../support/chance.ts';
import { check, type Violation } from './checker.ts';
import { CrashClient } from './client.ts';
import { HistoryWriter, now, readHistory } from './history.ts';
import { KilledServer } from './killed-server.ts';
import { Lane } from './lane.ts';
import { type Tally, tallyOf } from './tally.ts';
import type { Task, Word } from './task.ts';
import { type CrashQueue, queues, urlOf } from './workload.ts';

export interface CrashOptions {
  readonly seed: number;
  readonly kills: number;
  /** Created if it does not exist; gets the histories. */
  readonly directory: string;
  /** The server's data; without it, everything is in memory and every kill loses it. */
  readonly data?: string;
  /** A database that `nodes` servers share, instead of `data`. One of them is killed, or frozen, at a time. */
  readonly database?: string;
  readonly nodes?: number;
  /** More flags for the server. */
  readonly flags?: readonly string[];
  /** Which run on this data it is; default 0. */
  readonly round?: number;
  readonly onKill?: (kills: number) => void;
}

export interface CrashResult {
  readonly tally: Tally;
  readonly violations: readonly Violation[];
}

const consumers = 3;
/** From a restart to the next kill. */
const lifeMsMax = 1_000;
const drainMsMax = 60_000;
/** A node that is frozen for longer than a second loses its transaction. */
const frozenMsMax = 2_500;
const drainLookMs = 100;

export async function crashRun(options: CrashOptions): Promise<CrashResult> {
  mkdirSync(options.directory, { recursive: true });
  let fail: (error: Error) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const ports = new Set<number>();
  for (let tries = 0; ports.size < (options.nodes ?? 1); tries += 1) {
    ports.add(await freePort(options.seed + tries));
  }
  const run = new CrashRun(options, [...ports], fail);
  try {
    await Promise.race([run.all(), failed]);
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${text}\nHistory: ${options.directory}`, { cause });
  } finally {
    await run.end();
  }
  const history = readHistory(options.directory);
  return { tally: tallyOf(history), violations: check(history) };
}

class CrashRun {
  readonly #options: CrashOptions;
  readonly #ports: readonly number[];
  readonly #fail: (error: Error) => void;
  readonly #chance: Chance;
  readonly #history: HistoryWriter;
  readonly #servers: readonly KilledServer[];
  readonly #client: CrashClient;
  readonly #lane: Lane;
  readonly #children: ChildProcess[] = [];

  constructor(options: CrashOptions, ports: readonly number[], fail: (error: Error) => void) {
    this.#options = options;
    this.#ports = ports;
    this.#fail = fail;
    this.#chance = new Chance(options.seed, 0);
    this.#history = new HistoryWriter(options.directory, 'supervisor');
    this.#servers = ports.map(
      (port) => new KilledServer(['--port', `${port}`, ...serverFlags(options)], fail),
    );
    this.#client = new CrashClient(ports);
    this.#lane = new Lane({
      queue: queues[0] as CrashQueue,
      group: 'kills',
      client: this.#client,
      history: this.#history,
      chance: this.#chance,
      round: options.round ?? 0,
      name: 'kills',
    });
  }

  async all(): Promise<void> {
    await this.#startAll();
    await this.#createQueues();
    const producer = this.#startClient('producer', 1);
    const takers = Array.from({ length: consumers }, (_, index) =>
      this.#startClient('consumer', index + 2),
    );
    await this.#killAgainAndAgain();
    await tell('finish', [producer]);
    for (const taker of takers) taker.send('drain' satisfies Word);
    await this.#drained();
    await tell('stop', takers);
    for (const server of this.#servers) await this.#kill(server, false);
    await this.#startAll();
    for (const { name } of queues) {
      this.#history.add({ type: 'left', queue: name, count: await this.#countOf(name) });
    }
    for (const server of this.#servers) await server.stop();
  }

  async #startAll(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.start()));
  }

  /** Whatever the result: no process and no connection is left. */
  async end(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    this.#client.close();
    for (const server of this.#servers) await server.close();
    this.#history.close();
  }

  async #createQueues(): Promise<void> {
    for (const { name, ids, windowMs, attributes } of queues) {
      const input = { QueueName: name, Attributes: attributes };
      const { outcome } = await this.#client.call('CreateQueue', input);
      if (outcome !== 'done') throw new Error(`the queue ${name} could not be created: ${outcome}`);
      this.#history.add({ type: 'queue', queue: name, isFifo: ids !== 'none', windowMs });
    }
  }

  #startClient(kind: 'producer' | 'consumer', number: number): ChildProcess {
    const { seed, directory, round = 0 } = this.#options;
    const name = `${kind}-${number}`;
    const ownSeed = seed + number * 7_919;
    // Requests of several nodes take their turns at the database, and what is sent has to be drained too.
    const pauseMsMax = this.#ports.length > 1 ? 1_000 : 60;
    const task: Task = { name, ports: this.#ports, pauseMsMax, directory, seed: ownSeed, round };
    const file = fileURLToPath(new URL(`${kind}.js`, import.meta.url));
    const child = fork(file, [JSON.stringify(task)]);
    child.once('exit', (code, signal) => {
      if (code !== 0) this.#fail(new Error(`${name} ended with ${code ?? signal}`));
    });
    this.#children.push(child);
    return child;
  }

  /**
   * One kill in five comes before the server is ready; of the others some come at once, most later, and half of them at the
   * very moment at which an answer was read: what that answer promised must be kept by then.
   */
  async #killAgainAndAgain(): Promise<void> {
    let isReady = true;
    for (let kills = 1; kills <= this.#options.kills; kills += 1) {
      if (isReady) {
        await pause(this.#chance.below(this.#chance.isOneIn(4) ? 50 : lifeMsMax));
        if (this.#chance.isOneIn(2)) await this.#lane.sendOne();
      }
      const server = this.#chance.pick(this.#servers);
      if (this.#servers.length > 1) {
        if (this.#chance.isOneIn(3)) {
          server.freeze();
          await pause(this.#chance.below(frozenMsMax));
          server.thaw();
        }
        // The others have to do without it.
        isReady = true;
      }
      await this.#kill(server, !isReady);
      this.#options.onKill?.(kills);
      const ready = server.start();
      isReady =
        this.#servers.length > 1 || kills === this.#options.kills || !this.#chance.isOneIn(5);
      if (isReady) await ready;
      else await pause(this.#chance.below(server.startMs));
    }
  }

  async #kill(server: KilledServer, isStarting: boolean): Promise<void> {
    this.#history.add({ type: 'kill', at: now(), isStarting });
    await server.kill();
  }

  /** Waits until the consumers have emptied the queues; if they cannot, the count of what is left will show it. */
  async #drained(): Promise<void> {
    const giveUpAt = now() + drainMsMax;
    while (now() < giveUpAt) {
      const counts = await Promise.all(queues.map(({ name }) => this.#countOf(name)));
      if (counts.every((count) => count === 0)) return;
      await pause(drainLookMs);
    }
  }

  async #countOf(queue: string): Promise<number> {
    const input = { QueueUrl: urlOf(queue), AttributeNames: ['All'] };
    const reply = await this.#client.call('GetQueueAttributes', input);
    if (reply.outcome !== 'done') throw new Error(`${queue} cannot be counted: ${reply.outcome}`);
    return Object.entries(reply.output.Attributes ?? {})
      .filter(([name]) => name.startsWith('ApproximateNumberOfMessages'))
      .reduce((sum, [, count]) => sum + Number(count), 0);
  }
}

async function tell(word: Word, children: readonly ChildProcess[]): Promise<void> {
  const ended = children.map((child) => once(child, 'exit'));
  for (const child of children) child.send(word);
  await Promise.all(ended);
}

/** In memory the queues are created at every start, so that a kill loses what is in them and not the queues. */
function serverFlags({ data, database, directory, flags = [] }: CrashOptions): string[] {
  if (database !== undefined) return ['--postgres', database, ...flags];
  if (data !== undefined) return ['--data', data, ...flags];
  const file = join(directory, 'config.json');
  const config = { queues: queues.map(({ name, attributes }) => ({ name, attributes })) };
  writeFileSync(file, JSON.stringify(config));
  return ['--memory', '--config', file, ...flags];
}

/**
 * A port that stays free while the server is dead: below the range that systems use for outgoing connections, since a
 * client that keeps reconnecting would sooner or later be given the very port that it tries.
 */
async function freePort(seed: number): Promise<number> {
  const chance = new Chance(seed, process.pid);
  for (let tries = 0; tries < 100; tries += 1) {
    const port = 15_000 + chance.below(15_000);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
  throw new Error('no free port was found between 15000 and 30000');
}
