/**
 * One connection to the database, made when it is first needed and again after it broke. Statements of one call are sent
 * at once, in one round trip. Every call has an end: if the database does not answer in time, the connection is cut.
 *
 * With several hosts, the one that can be written to is taken: after a failover, that is another one.
 */

import pg from 'pg';
import { Unavailable } from '../backend.ts';

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
  readonly answerMsMax?: number;
}

const connectMsMax = 5_000;
const answerMsMax = 10_000;

/** The connection broke before anything was sent: a transaction that had begun has been rolled back. */
export class BrokenConnection extends Error {
  override readonly name: string = 'BrokenConnection';
  override readonly message: string = 'the connection broke within a transaction';
}

/** Numbers of 64 bits are read as JavaScript's: ids, versions and times are made to fit. */
const int8 = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format)) as never,
};

export class Connection {
  readonly #urls: readonly string[];
  readonly #name: string;
  readonly #options: ConnectionOptions;
  #client: Promise<pg.Client> | undefined;
  /** That of the last `run`. */
  #used: Promise<pg.Client> | undefined;
  #isClosed = false;

  constructor(urls: readonly string[], name: string, options: ConnectionOptions = {}) {
    this.#urls = urls;
    this.#name = name;
    this.#options = options;
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
    opened.then(
      (client) => {
        (
          client as unknown as { connection: { stream: { destroy(): void } } }
        ).connection.stream.destroy();
      },
      () => {},
    );
  }

  #open(): Promise<pg.Client> {
    const opened = this.#connect();
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
    const late = setTimeout(() => this.#cut(opened), answerMsMax);
    try {
      const results = statements.map(({ text, values }) =>
        client.query(text, values as unknown[] | undefined),
      );
      const settled = await Promise.allSettled(results);
      const failed = settled.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return await Promise.all(results);
    } catch (error) {
      if (!isFromServer(error)) this.#cut(opened);
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  async #connect(): Promise<pg.Client> {
    let problem: unknown;
    for (const url of this.#urls) {
      const client = new pg.Client({
        connectionString: url,
        application_name: this.#name,
        connectionTimeoutMillis: connectMsMax,
        keepAlive: true,
        pipeline: true,
        types,
      } as pg.ClientConfig);
      // Without a listener, a connection that breaks ends the process. Whoever waits for an answer is told anyway.
      client.on('error', () => {});
      client.on('notification', ({ payload }) => this.#options.onNotification?.(payload ?? ''));
      try {
        await client.connect();
        const { rows } = await client.query('SELECT pg_is_in_recovery() AS "isStandby"');
        if (rows[0].isStandby !== true) return client;
        problem = new Error(`${hostOf(url)} is a standby`);
        await client.end();
      } catch (error) {
        problem = error;
        await client.end().catch(() => {});
      }
    }
    const reason = problem instanceof Error ? problem.message : String(problem);
    throw new Unavailable(`no database can be reached: ${reason}`, { cause: problem });
  }
}

/** Whether the database itself refused the statement; otherwise the connection broke, and nobody knows what it did. */
export function isFromServer(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && !/^(57P|08)/.test(error.code ?? '');
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return 'the database';
  }
}
