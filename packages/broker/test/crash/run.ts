/**
 * A crash run: starts the server, a producer and some consumers, kills the server again and again at random moments,
 * starts it again each time, then lets the consumers drain the queues, kills it once more, counts what is left, and has
 * the checker judge what the clients saw.
 *
 * Kills and restarts take real time, and timeouts run while the server is dead; so a run uses the real clock. The seed
 * repeats the choices of the clients and the intended moments of the kills; what exactly a kill interrupts depends on the
 * machine.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Chance } from '../support/chance.ts';
import { check, type Violation } from './checker.ts';
import { CrashClient } from './client.ts';
import { freePorts } from './free-ports.ts';
import { HistoryWriter, now, readHistory } from './history.ts';
import { KilledServer } from './killed-server.ts';
import { Lane } from './lane.ts';
import { type Tally, tallyOf } from './tally.ts';
import { createAll, noteLeft, Workers } from './workers.ts';
import { allQueues, arnOf, type CrashQueue, queues, subscribers, topic } from './workload.ts';

export interface CrashOptions {
  readonly seed: number;
  readonly kills: number;
  /** Created if it does not exist; gets the histories. */
  readonly directory: string;
  /** The server's data; without it, everything is in memory and every kill loses it. */
  readonly data?: string;
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

/** From a restart to the next kill. */
const lifeMsMax = 1_000;
const producerPauseMsMax = 60;

export async function crashRun(options: CrashOptions): Promise<CrashResult> {
  mkdirSync(options.directory, { recursive: true });
  let fail: (error: Error) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const [port = 0] = await freePorts(options.seed, 1);
  const run = new CrashRun(options, port, fail);
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
  readonly #port: number;
  readonly #fail: (error: Error) => void;
  readonly #chance: Chance;
  readonly #history: HistoryWriter;
  readonly #server: KilledServer;
  readonly #client: CrashClient;
  readonly #lane: Lane;
  #workers: Workers | undefined;

  constructor(options: CrashOptions, port: number, fail: (error: Error) => void) {
    this.#options = options;
    this.#port = port;
    this.#fail = fail;
    this.#chance = new Chance(options.seed, 0);
    this.#history = new HistoryWriter(options.directory, 'supervisor');
    this.#server = new KilledServer(['--port', `${port}`, ...serverFlags(options)], fail);
    this.#client = new CrashClient([port]);
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
    await this.#server.start();
    await createAll(this.#client, this.#history);
    const { seed, directory, round = 0 } = this.#options;
    this.#workers = new Workers({
      ports: [this.#port],
      lateMs: 0,
      pauseMsMax: producerPauseMsMax,
      directory,
      seed,
      round,
      onFailure: this.#fail,
    });
    await this.#killAgainAndAgain();
    await this.#workers.drain(this.#client);
    await this.#kill(false);
    await this.#server.start();
    await noteLeft(this.#client, this.#history);
    await this.#server.stop();
  }

  /** Whatever the result: no process and no connection is left. */
  async end(): Promise<void> {
    this.#workers?.kill();
    this.#client.close();
    await this.#server.close();
    this.#history.close();
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
      await this.#kill(!isReady);
      this.#options.onKill?.(kills);
      const ready = this.#server.start();
      isReady = kills === this.#options.kills || !this.#chance.isOneIn(5);
      if (isReady) await ready;
      else await pause(this.#chance.below(this.#server.startMs));
    }
  }

  async #kill(isStarting: boolean): Promise<void> {
    this.#history.add({ type: 'kill', at: now(), isStarting });
    await this.#server.kill();
  }
}

/** In memory everything is created at every start, so that a kill loses what is in the queues and not the queues. */
function serverFlags({ data, directory, flags = [] }: CrashOptions): string[] {
  if (data !== undefined) return ['--data', data, ...flags];
  const file = join(directory, 'config.json');
  const attributes = { RawMessageDelivery: 'true' };
  const subscriptions = subscribers.map(({ name }) => {
    return { protocol: 'sqs', endpoint: arnOf(name), attributes };
  });
  const config = {
    queues: allQueues.map((queue) => ({ name: queue.name, attributes: queue.attributes })),
    topics: [{ name: topic.name, attributes: { FifoTopic: 'true' }, subscriptions }],
  };
  writeFileSync(file, JSON.stringify(config));
  return ['--memory', '--config', file, ...flags];
}
