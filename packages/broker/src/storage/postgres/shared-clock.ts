/**
 * A virtual or manual clock that nodes share, in the row `clock` of the table `store`: a manual clock's time, or how far a
 * virtual clock is ahead of the real one. Every batch reads it, so no command is older than a move that was answered.
 */

import type { Clock } from '../clock.ts';
import type { Connection } from './connection.ts';
import { quoted } from './schema.ts';

export class SharedClock {
  readonly #clock: Clock;
  readonly #table: string;
  readonly #connection: Connection;
  readonly #onMoved: () => void;
  /** What is kept, as far as it is known here. */
  #kept: number | undefined;

  /** `onMoved` is told when the time turns out to have been moved, by this node or another. */
  constructor(clock: Clock, schema: string, connection: Connection, onMoved: () => void) {
    this.#clock = clock;
    this.#table = `${quoted(schema)}.store`;
    this.#connection = connection;
    this.#onMoved = onMoved;
  }

  /** The time that is kept, brought to what it is now. */
  timeOf(kept: string): number {
    const number = Number(kept);
    const known = this.#kept;
    if (known === undefined || number > known) this.#kept = number;
    if (known !== undefined && number > known) this.#onMoved();
    const time = this.#clock.kind === 'manual' ? number : Date.now() + number;
    this.#clock.notBefore(time);
    return this.#clock.now();
  }

  /**
   * Keeps the time that a call here has moved by so much, and takes over what is kept. If another node has moved it
   * meanwhile, time is moved by both.
   */
  async keep(movedMs: number): Promise<void> {
    const now = this.#clock.now();
    const value = this.#clock.kind === 'manual' ? now : now - Date.now();
    const [rows] = await this.#connection.run({
      text: `INSERT INTO ${this.#table} AS s VALUES ('clock', $1) ON CONFLICT (key) DO UPDATE
        SET value = greatest(s.value::bigint + $2, excluded.value::bigint)::text RETURNING value`,
      values: [String(value), movedMs],
    });
    this.timeOf(String(rows?.rows[0]?.['value']));
  }

  async read(): Promise<void> {
    const [rows] = await this.#connection.run({
      text: `SELECT value FROM ${this.#table} WHERE key = 'clock'`,
    });
    this.timeOf(String(rows?.rows[0]?.['value']));
  }
}
