/**
 * PostgreSQL for the benchmarks: a new server in a folder, with the binaries of the tests, whose commits wait for the disk.
 * Tells what it has used and written ahead, and holds a transaction open as somebody else's program would.
 *
 * Its settings are what its manual recommends first for a server of this memory and with many writes (Resource Consumption,
 * WAL Configuration). All others are as shipped, fsync and synchronous_commit above all.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { DataFolder } from './data-folder.ts';
import { endedChildrenMicros, processMicros } from './processor-time.ts';

const script = fileURLToPath(new URL('../../scripts/postgres.js', import.meta.url));
const settings = [
  `shared_buffers=${Math.round(totalmem() / 4 / 2 ** 20)}MB`,
  'max_wal_size=8GB',
  'checkpoint_timeout=15min',
];

export class PostgresServer {
  readonly #child: ChildProcess;
  readonly #data: DataFolder;
  readonly #url: string;
  readonly #client: pg.Client;
  /** The first of its processes. */
  readonly #pid: number;

  private constructor(child: ChildProcess, data: DataFolder, url: string, inside: Inside) {
    this.#child = child;
    this.#data = data;
    this.#url = url;
    this.#client = inside.client;
    this.#pid = inside.pid;
  }

  /** Starts in a new folder below `parent`; default: the results folder. */
  static async start(parent?: string | undefined): Promise<PostgresServer> {
    const data = new DataFolder(parent);
    // Where this runs as root, PostgreSQL runs as another user.
    chmodSync(data.path, 0o755);
    const child = spawn(process.execPath, [script, '--durable', ...settings], {
      // It ends with its standard input, so also with this process.
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: data.path },
    });
    const line = await Promise.race([
      once(createInterface(child.stdout), 'line').then(([text]) => String(text)),
      once(child, 'exit').then(([code]) => `it ended with ${code}`),
    ]);
    const url = /^postgres ready (\S+)$/.exec(line)?.[1];
    if (url === undefined) throw new Error(`PostgreSQL did not start: ${line}`);
    return new PostgresServer(child, data, url, await inside(url));
  }

  /** The URL of a new, empty database. */
  async createDatabase(name: string): Promise<string> {
    await this.#client.query(`CREATE DATABASE ${name}`);
    return this.#urlOf(name);
  }

  async databaseBytes(name: string): Promise<number> {
    return await this.#number(`SELECT pg_database_size('${name}') AS value`);
  }

  /** What a query in one of its databases finds as `value`. */
  async numberOf(database: string, query: string): Promise<number> {
    const { client } = await inside(this.#urlOf(database));
    const { rows } = await client.query<{ value: string }>(query);
    await client.end();
    return Number(rows[0]?.value);
  }

  /** Written ahead since the server was made. */
  async walBytes(): Promise<number> {
    return await this.#number("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS value");
  }

  /** Processor time of all its processes; of those that have ended in steps of 10 ms. */
  cpuMicros(): number {
    const file = `/proc/${this.#pid}/task/${this.#pid}/children`;
    const children = existsSync(file)
      ? readFileSync(file, 'utf8').trim().split(' ').map(Number)
      : [];
    return [this.#pid, ...children]
      .map(processMicros)
      .reduce((sum, micros) => sum + micros, endedChildrenMicros(this.#pid));
  }

  /** Begins a transaction that sees the database as it is now. Returns a function that ends it. */
  async holdSnapshot(database: string): Promise<() => Promise<void>> {
    const { client } = await inside(this.#urlOf(database));
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query('SELECT count(*) FROM pg_class');
    return () => client.end();
  }

  async stop(): Promise<void> {
    await this.#client.end();
    const ended = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await ended;
    this.#data.remove();
  }

  #urlOf(database: string): string {
    const url = new URL(this.#url);
    url.pathname = `/${database}`;
    return url.href;
  }

  async #number(query: string): Promise<number> {
    const { rows } = await this.#client.query<{ value: string }>(query);
    return Number(rows[0]?.value);
  }
}

interface Inside {
  readonly client: pg.Client;
  readonly pid: number;
}

async function inside(url: string): Promise<Inside> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const stat = process.platform === 'linux' && readFileSync(`/proc/${rows[0]?.pid}/stat`, 'utf8');
  // The first of the server's processes is the parent of the one that serves this connection.
  const pid = stat === false ? 0 : Number(stat.split(') ')[1]?.split(' ')[1]);
  return { client, pid };
}
