/**
 * Connects to the database that can be written to. All hosts are tried at once, so one that is gone without a word, as after
 * a failover, delays nobody. Users, passwords and TLS are read from the URL, the variables of PostgreSQL's own tools, and .pgpass.
 */

import type { Socket } from 'node:net';
import pg from 'pg';
import { Unavailable } from '../backend.ts';

export interface ConnectingOptions {
  readonly urls: readonly string[];
  /** Of the connection, as the database shows it. */
  readonly name: string;
  readonly onNotification: (payload: string) => void;
  readonly connectMsMax: number;
}

/** Numbers of 64 bits are read as JavaScript's: ids, versions and times are made to fit. */
const int8 = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format)) as never,
};

/** Rejects with Unavailable, which says why for each host, if there is none. */
export async function connectToPrimary(options: ConnectingOptions): Promise<pg.Client> {
  const attempts = options.urls.map((url) => connectTo(url, options));
  try {
    const first = await Promise.any(attempts);
    for (const attempt of attempts) {
      attempt.then((client) => (client === first ? undefined : client.end())).catch(() => {});
    }
    return first;
  } catch (cause) {
    const { errors } = cause as AggregateError;
    const reasons = new Set(errors.map((error: Error) => error.message));
    throw new Unavailable(`no database can be reached: ${[...reasons].join('; ')}`, { cause });
  }
}

/** Ends the connection at once: whatever it was doing, the database ends it. */
export function cutOff(client: pg.Client): void {
  socketOf(client).stream.destroy();
}

/** What `pg` has no way to say by itself. */
export function socketOf(client: pg.Client): { readonly stream: Socket } {
  return (client as unknown as { connection: { stream: Socket } }).connection;
}

async function connectTo(
  url: string,
  { name, onNotification, connectMsMax }: ConnectingOptions,
): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    keepAlive: true,
    pipeline: true,
    types,
  } as pg.ClientConfig);
  // Without a listener, a connection that breaks ends the process. Whoever waits for an answer is told anyway.
  client.on('error', () => {});
  client.on('notification', ({ payload }) => onNotification(payload ?? ''));
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    cutOff(client);
  }, connectMsMax);
  try {
    await client.connect();
    const { rows } = await client.query('SELECT pg_is_in_recovery() AS "isStandby"');
    if (rows[0].isStandby === true) throw new Error('it is a standby');
    return client;
  } catch (error) {
    cutOff(client);
    const reason = isLate ? `no answer within ${connectMsMax / 1000} s` : reasonOf(error);
    throw new Error(`${hostOf(url)}: ${reason}`, { cause: error });
  } finally {
    clearTimeout(late);
  }
}

/** A host with several addresses has an error for each. */
function reasonOf(error: unknown): string {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return first instanceof Error ? first.message : String(first);
}

/** Without the password. A socket is named by its folder. */
function hostOf(url: string): string {
  const { host, searchParams } = new URL(url);
  return decodeURIComponent(host) || (searchParams.get('host') ?? 'the default host');
}
