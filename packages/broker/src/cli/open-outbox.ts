/**
 * The outbox that a command works on, wherever the producer keeps it: a folder, PostgreSQL, SQLite, Redis or DynamoDB. The
 * library that reaches it is loaded when it is asked for. Nothing is created: an outbox that is not there is an error,
 * except in Redis, where a missing outbox and an empty one are the same.
 */

import { existsSync, readdirSync, statSync } from 'node:fs';
import {
  dynamodbOutbox,
  type Outbox,
  openFileOutbox,
  type Pool,
  postgresOutbox,
  redisOutbox,
  type SqlValue,
  sqliteOutbox,
} from '@oncemq/toolkit';
import { printable } from './printable.ts';
import { type Arguments, UsageError } from './usage.ts';

export const outboxFlags: readonly string[] = ['outbox', 'database', 'table', 'prefix'];

export const outboxFlagsUsage: string = `  --outbox WHERE   FOLDER               the producer must not be running
                   postgres://…         a database, as with --database
                   sqlite:FILE          needs Node.js 22.13 or newer
                   redis://… rediss://… Redis or Valkey
                   dynamodb:TABLE       at AWS_ENDPOINT_URL_DYNAMODB or on Amazon
  --database URL   an outbox in PostgreSQL [DATABASE_URL]
  --table NAME     its table in PostgreSQL, with or without a schema, or in SQLite [oncemq_outbox]
  --prefix TEXT    what its keys in Redis begin with [{oncemq:outbox}:]
`;

export interface OpenOutbox {
  readonly outbox: Outbox;
  close(): Promise<void>;
}

type Kind = 'folder' | 'database' | 'sqlite' | 'redis' | 'dynamodb';

const forms: readonly (readonly [Kind, RegExp])[] = [
  ['database', /^(postgres(?:ql)?:\/\/.+)$/],
  ['sqlite', /^sqlite:(.+)$/],
  ['redis', /^(rediss?:\/\/.+)$/],
  ['dynamodb', /^dynamodb:([\w.-]+)$/],
];
/** The flags that only some kinds have. */
const flagKinds: Readonly<Record<string, readonly Kind[]>> = {
  table: ['database', 'sqlite'],
  prefix: ['redis'],
};
/** The files of an outbox in a folder. */
const segmentForm = /^\d{8}\.log$/;
/** How long a statement waits for the producer's transaction. */
const sqliteBusyMs = 10_000;
const poolMax = 3;

export async function openOutbox(
  flags: Arguments['flags'],
  environment: NodeJS.ProcessEnv,
): Promise<OpenOutbox> {
  const { outbox, table, prefix } = flags;
  const database =
    flags['database'] ?? (outbox === undefined ? environment['DATABASE_URL'] : undefined);
  if ((outbox === undefined) === (database === undefined)) {
    throw new UsageError('Give either --outbox WHERE or --database URL (or DATABASE_URL).');
  }
  const [kind, place] =
    outbox === undefined ? (['database', database as string] as const) : placeOf(outbox);
  for (const [flag, kinds] of Object.entries(flagKinds)) {
    if (flags[flag] === undefined || kinds.includes(kind)) continue;
    throw new UsageError(`--${flag} is not for an outbox in ${outbox}.`);
  }
  const inTable = table === undefined ? {} : { table };
  if (kind === 'database') return openPostgres(place, inTable);
  if (kind === 'sqlite') return openSqlite(place, inTable);
  if (kind === 'redis') return openRedis(place, prefix === undefined ? {} : { prefix });
  if (kind === 'dynamodb') return openDynamodb(place);
  return openFolder(place);
}

function placeOf(outbox: string): readonly [Kind, string] {
  for (const [kind, form] of forms) {
    const place = form.exec(outbox)?.[1];
    if (place !== undefined) return [kind, place];
  }
  if (/^(\w+:\/\/|(sqlite|dynamodb):)/.test(outbox)) {
    throw new UsageError(
      `--outbox must be a folder, postgres://…, sqlite:FILE, redis://…, rediss://… or dynamodb:TABLE, not ${outbox}.`,
    );
  }
  return ['folder', outbox];
}

async function openFolder(folder: string): Promise<OpenOutbox> {
  // Opening a missing outbox would create it.
  if (!existsSync(folder)) throw new UsageError(`There is no outbox in ${folder}.`);
  if (!statSync(folder).isDirectory()) throw new UsageError(`${folder} is a file, not an outbox.`);
  if (!readdirSync(folder).some((name) => segmentForm.test(name))) {
    throw new UsageError(
      `There is no outbox in ${folder}: it has no files named like 00000001.log.`,
    );
  }
  const outbox = await openFileOutbox(folder);
  return { outbox, close: () => outbox.close() };
}

async function openPostgres(url: string, inTable: { table?: string }): Promise<OpenOutbox> {
  const { default: pg } = await import('pg').catch(missing('PostgreSQL', 'pg'));
  const pool = new pg.Pool({ connectionString: url, max: poolMax });
  // A connection that breaks while idle is replaced; the next query reports what is wrong.
  pool.on('error', () => {});
  const outbox = postgresOutbox({ pool: pool as unknown as Pool, ...inTable });
  return { outbox, close: () => pool.end() };
}

/** The part of node:sqlite that is used here; the types of Node.js 20 lack it. */
interface SqliteModule {
  readonly DatabaseSync: new (
    path: string,
  ) => {
    prepare(text: string): { all(...values: SqlValue[]): unknown[] };
    close(): void;
  };
}

async function openSqlite(path: string, inTable: { table?: string }): Promise<OpenOutbox> {
  if (!existsSync(path)) throw new UsageError(`There is no database in ${path}.`);
  const { DatabaseSync } = (await import('node:sqlite' as string).catch((cause: unknown) => {
    const text = `An outbox in SQLite needs Node.js 22.13 or newer; this is ${process.version}. On an older one, run the relay in a program.`;
    throw new Error(text, { cause });
  })) as SqliteModule;
  const database = new DatabaseSync(path);
  database.prepare(`pragma busy_timeout = ${sqliteBusyMs}`).all();
  const outbox = sqliteOutbox({
    run: (text, values) => database.prepare(text).all(...values),
    ...inTable,
  });
  return { outbox, close: async () => database.close() };
}

async function openRedis(url: string, under: { prefix?: string }): Promise<OpenOutbox> {
  const { Redis } = await import('ioredis').catch(missing('Redis', 'ioredis'));
  // A command that fails is reported, and the relay tries again; so none is kept for later.
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0 });
  let lastError: unknown;
  redis.on('error', (error) => {
    lastError = error;
  });
  const outbox = redisOutbox({
    run: async ([name = '', ...args]) => {
      try {
        return await redis.call(name, ...args);
      } catch (error) {
        if (redis.status === 'ready') throw error;
        throw new Error(`Redis cannot be reached: ${textOf(lastError ?? error)}`, { cause: error });
      }
    },
    ...under,
  });
  return { outbox, close: async () => redis.disconnect() };
}

async function openDynamodb(table: string): Promise<OpenOutbox> {
  const { DynamoDBClient } = await import('@aws-sdk/client-dynamodb').catch(
    missing('DynamoDB', '@aws-sdk/client-dynamodb'),
  );
  const client = new DynamoDBClient({});
  const outbox = dynamodbOutbox({ client, table });
  return { outbox, close: async () => client.destroy() };
}

function missing(store: string, name: string): (cause: unknown) => never {
  return (cause) => {
    throw new Error(`An outbox in ${store} needs ${name}. Install it with: npm install ${name}`, {
      cause,
    });
  };
}

function textOf(error: unknown): string {
  const { message, errors } = error as AggregateError;
  return printable(message || errors?.map(textOf).join(', ') || String(error));
}
