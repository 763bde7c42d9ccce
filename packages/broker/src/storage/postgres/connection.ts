/**
 * One connection to the database, made when it is first needed and again after it broke. Statements of one call are sent
 * at once, in one round trip. Every call has an end: if the database does not answer in time, the connection is cut.
 */

import pg from 'pg';
import { Unavailable } from '../backend.ts';
import { connectToPrimary, cutOff, socketOf } from './connecting.ts';

export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
}

export interface Rows {
  /** INSERT, COMMIT, ROLLBACK, … */
  readonly command: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export interface ConnectionOptions {
  readonly onNotification?: (payload: string) => void;
  /** How long the database may take to answer; default 10 s. */
  readonly answerMs?: number | undefined;
}

const connectMsMax = 5_000;
const answerMsMax = 10_000;

/** The connection broke before anything was sent: a transaction that had begun has been rolled back. */
export class BrokenConnection extends Error {
  override readonly name: string = 'BrokenConnection';
  override readonly message: string = 'the connection broke within a transaction';
}

/** The database took too long, and the connection was cut. */
export class NoAnswer extends Error {
  override readonly name: string = 'NoAnswer';
}

export class Connection {
  readonly #urls: readonly string[];
  readonly #name: string;
  readonly #onNotification: (payload: string) => void;
  readonly #answerMs: number;
  #client: Promise<pg.Client> | undefined;
  /** That of the last `run`. */
  #used: Promise<pg.Client> | undefined;
  #isClosed = false;

  constructor(urls: readonly string[], name: string, options: ConnectionOptions = {}) {
    this.#urls = urls;
    this.#name = name;
    this.#onNotification = options.onNotification ?? (() => {});
    this.#answerMs = options.answerMs ?? answerMsMax;
  }

  /** Whether there is a connection, or one is being made. */
  get isOpen(): boolean {
    return this.#client !== undefined;
  }

  /** One round trip. Rejects with the first error; later statements of a transaction then had no effect. */
  async run(...statements: readonly Statement[]): Promise<readonly Rows[]> {
    if (this.#isClosed) throw new Unavailable('the server is stopping');
    this.#client ??= this.#open();
    this.#used = this.#client;
    return await this.#runOn(this.#used, statements);
  }

  /**
   * One round trip of the transaction that the last `run` began. On another connection it would be no transaction: every
   * statement would be committed by itself, and nothing locked. So it rejects with `BrokenConnection` if that one is gone; then the
   * transaction is, too.
   */
  async goOn(...statements: readonly Statement[]): Promise<readonly Rows[]> {
    if (this.#client === undefined || this.#client !== this.#used) throw new BrokenConnection();
    return await this.#runOn(this.#client, statements);
  }

  /**
   * The same as `run`, for statements that change nothing: should the connection break, they are asked once more on another one.
   * Rejects with `Unavailable` if that breaks, too.
   */
  async read(...statements: readonly Statement[]): Promise<readonly Rows[]> {
    try {
      return await this.run(...statements);
    } catch (error) {
      if (isFromServer(error) || error instanceof Unavailable) throw error;
    }
    return await this.run(...statements).catch((error: unknown) => {
      if (isFromServer(error) || error instanceof Unavailable) throw error;
      throw new Unavailable(`the database does not answer: ${(error as Error).message}`, {
        cause: error,
      });
    });
  }

  /** Gives the connection up: whatever it was doing, the database ends it. */
  async discard(): Promise<void> {
    if (this.#client !== undefined) this.#cut(this.#client);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = await this.#client?.catch(() => undefined);
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  #cut(opened: Promise<pg.Client>): void {
    if (this.#client === opened) this.#client = undefined;
    opened.then(cutOff, () => {});
  }

  #open(): Promise<pg.Client> {
    const opened = connectToPrimary({
      urls: this.#urls,
      name: this.#name,
      connectMsMax: Math.min(connectMsMax, this.#answerMs),
      onNotification: this.#onNotification,
    });
    const forget = (): void => {
      // One that breaks late must not take its successor along.
      if (this.#client === opened) this.#client = undefined;
    };
    opened.then((client) => client.on('end', forget), forget);
    return opened;
  }

  async #runOn(
    opened: Promise<pg.Client>,
    statements: readonly Statement[],
  ): Promise<readonly Rows[]> {
    const client = await opened;
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      this.#cut(opened);
    }, this.#answerMs);
    try {
      // Without it, each statement would be a write of its own here, and wake the database once.
      const { stream } = socketOf(client);
      stream.cork();
      const results = statements.map(({ text, values }) =>
        client.query(text, values as unknown[] | undefined),
      );
      stream.uncork();
      const settled = await Promise.allSettled(results);
      const failed = settled.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return await Promise.all(results);
    } catch (error) {
      if (!isFromServer(error)) this.#cut(opened);
      if (isLate) throw new NoAnswer(`no answer within ${this.#answerMs / 1000} s`);
      throw error;
    } finally {
      clearTimeout(late);
    }
  }
}

/** Conflicts, deadlocks, and limits of time that were reached: the same may succeed the next time. */
const passing: ReadonlySet<string> = new Set(['40001', '40P01', '55P03', '57014', '25P03']);

/** Whether the database refused for a reason that stays: it is read-only or full, or a right is missing. */
export function isLastingRefusal(error: unknown): error is pg.DatabaseError {
  return isFromServer(error) && !passing.has(error.code ?? '');
}

/** Whether the database itself refused the statement; otherwise the connection broke, and nobody knows what it did. */
export function isFromServer(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && !/^(57P|08)/.test(error.code ?? '');
}
