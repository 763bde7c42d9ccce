/**
 * Wakes receivers that wait at one node for what another node writes. Parking a receiver notes on the owner's row until when
 * somebody waits; whoever appends to such an owner says so after its commit, on a connection of its own, since a NOTIFY
 * inside the batch would hold a lock of the whole database until the commit. Without LISTEN, as behind a pooler, the
 * versions of the owners that are waited for are looked up now and then; that also finds what a broken connection missed.
 */

import type { Connection } from './connection.ts';
import type { ReplicaOwner } from './replica.ts';
import { quoted } from './schema.ts';

export interface NotificationsOptions {
  readonly schema: string;
  /** Of its own, for LISTEN. Made with `heard`. */
  readonly listening: Connection;
  readonly telling: Connection;
  readonly pollMs: number;
  /** Whether to listen at all; else there are polls alone. */
  readonly isListening: boolean;
  /** These owners may have something new. */
  readonly onNews: (numbers: readonly number[]) => void;
  /** A clock that is shared has been moved. */
  readonly onTime: () => void;
}

const clockNews = 'clock';
const numbersPerNotification = 300;
/** Waits are noted for longer than they are, so that the next receive need not note it again. */
const notedMsMin = 30_000;

export class Notifications {
  readonly #options: NotificationsOptions;
  readonly #channel: string;
  /** Owners that are waited for here, and until when. */
  readonly #awaited: Map<ReplicaOwner, number> = new Map();
  /** Until when the database knows that they are. */
  readonly #noted: Map<ReplicaOwner, number> = new Map();
  readonly #untold: Set<number> = new Set();
  #telling: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isListening = false;
  #isClosed = false;

  constructor(options: NotificationsOptions) {
    this.#options = options;
    this.#channel = `oncemq_${options.schema}`;
  }

  async start(): Promise<void> {
    await this.#listen();
    this.#plan();
  }

  heard(payload: string): void {
    if (payload === clockNews) this.#options.onTime();
    else this.#options.onNews(payload.split(',').map(Number));
  }

  /** A receiver waits for this owner. */
  await(owner: ReplicaOwner, now: number, until: number): void {
    this.#awaited.set(owner, Math.max(until, this.#awaited.get(owner) ?? 0));
    if ((this.#noted.get(owner) ?? 0) >= until) return;
    const noted = Math.max(until, now + notedMsMin);
    this.#noted.set(owner, noted);
    this.#note(owner, noted).catch(() => this.#noted.delete(owner));
  }

  tell(numbers: readonly number[]): void {
    for (const number of numbers) this.#untold.add(number);
    this.#telling ??= this.#tell().finally(() => {
      this.#telling = undefined;
    });
  }

  async tellTime(): Promise<void> {
    await this.#notify(clockNews);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#telling;
  }

  async #note(owner: ReplicaOwner, until: number): Promise<void> {
    const [, found] = await this.#options.telling.run(
      { text: 'BEGIN; SET LOCAL synchronous_commit = off' },
      {
        text: `UPDATE ${quoted(this.#options.schema)}.owner SET waiting_until = greatest(waiting_until, $2)
          WHERE number = $1 RETURNING version`,
        values: [owner.number, until],
      },
      { text: 'COMMIT' },
    );
    // What came before it was noted told nobody.
    const version = found?.rows[0]?.['version'];
    if (version !== undefined && Number(version) > owner.version)
      this.#options.onNews([owner.number]);
  }

  async #tell(): Promise<void> {
    // Batches that follow at once share one.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#untold.size > 0) {
      const numbers = [...this.#untold].slice(0, numbersPerNotification);
      for (const number of numbers) this.#untold.delete(number);
      // Who is not told asks.
      await this.#notify(numbers.join(',')).catch(() => {});
    }
  }

  async #notify(payload: string): Promise<void> {
    await this.#options.telling.run(
      { text: 'BEGIN; SET LOCAL synchronous_commit = off' },
      { text: 'SELECT pg_notify($1, $2)', values: [this.#channel, payload] },
      { text: 'COMMIT' },
    );
  }

  async #listen(): Promise<void> {
    if (!this.#options.isListening) return;
    try {
      await this.#options.listening.run({ text: `LISTEN ${quoted(this.#channel)}` });
      this.#isListening = true;
    } catch {
      // Tried again with the next poll; until then there are polls.
      this.#isListening = false;
    }
  }

  #plan(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#poll()
        .catch(() => {})
        .finally(() => this.#plan());
    }, this.#options.pollMs);
    this.#timer.unref();
  }

  async #poll(): Promise<void> {
    const { listening, telling, schema, onNews, onTime } = this.#options;
    if (!this.#isListening || !listening.isOpen) await this.#listen();
    onTime();
    const now = Date.now();
    for (const [owner, until] of this.#noted) if (until < now) this.#noted.delete(owner);
    if (this.#awaited.size === 0) return;
    const [rows] = await telling.run({
      text: `SELECT number, version FROM ${quoted(schema)}.owner WHERE number = ANY($1::bigint[])`,
      values: [[...this.#awaited.keys()].map(({ number }) => number)],
    });
    const versions = new Map(
      rows?.rows.map((row) => [Number(row['number']), Number(row['version'])]),
    );
    const news: number[] = [];
    for (const [owner, until] of this.#awaited) {
      if ((versions.get(owner.number) ?? 0) > owner.version) news.push(owner.number);
      if (until < now) this.#awaited.delete(owner);
    }
    if (news.length > 0) onNews(news);
  }
}
