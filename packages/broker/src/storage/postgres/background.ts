/**
 * What a node does when nobody asks: it loads owners with something due that nobody does, tells the database what is done, and
 * forgets owners that it has not used for minutes. Whatever fails is tried again with the next round.
 */

import type { Clock } from '../clock.ts';
import { Checkpoints } from './checkpoints.ts';
import type { Connection } from './connection.ts';
import type { PostgresWriter } from './postgres-writer.ts';

export interface BackgroundOptions {
  readonly schema: string;
  readonly connection: Connection;
  readonly writer: PostgresWriter;
  readonly clock: Clock;
  /** The latest format of journal rows that this node reads. */
  readonly reads: number;
  /** How long an owner stays in memory that nobody uses; default 5 min. */
  readonly unusedMs?: number | undefined;
}

const roundMs = 2_000;
/** Due work is left for this long to the nodes that have the owner. */
const leftMs = 3_000;
const unusedMsMax = 5 * 60_000;

export class Background {
  readonly #options: BackgroundOptions;
  readonly #checkpoints: Checkpoints;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: BackgroundOptions) {
    this.#options = options;
    this.#checkpoints = new Checkpoints(options);
  }

  start(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#doRound()
        .catch(() => {})
        .finally(() => this.start());
    }, roundMs);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  async #doRound(): Promise<void> {
    const { writer, clock, unusedMs } = this.#options;
    if (writer.isFrozen) return;
    if (clock.kind !== 'manual') {
      await writer.loadDue(clock.now(), leftMs);
      writer.timeMoved();
    }
    await writer.forgetUnused(performance.now() - (unusedMs ?? unusedMsMax));
    await this.#checkpoints.round(() => this.#isClosed);
  }
}
