/**
 * PostgreSQL clusters for tests and benchmarks: made empty or as a copy of another, started, and killed. The programs come
 * from npm, as packages of prebuilt binaries pinned by the lockfile; on a platform without a package, an installed PostgreSQL
 * is used. PostgreSQL refuses to run as root; then it runs as the user nobody, from a folder which that user can read.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { embeddedPrograms } from '#broker/server/private-postgres.js';

const nobody = 65_534;
const readyMsMax = 60_000;
const stopMsMax = 2_000;
const isRoot = process.getuid?.() === 0;
/** Who runs PostgreSQL, and so has to own its files. */
export const identity: { readonly uid?: number; readonly gid?: number } = isRoot
  ? { uid: nobody, gid: nobody }
  : {};
const suffix = process.platform === 'win32' ? '.exe' : '';

/** The folder of all clusters of this process; removed when it ends. */
export const home: string = mkdtempSync(join(tmpdir(), 'oncemq-postgres-'));
const running = new Set<ChildProcess>();
const givenPorts = new Set<number>();
process.on('exit', () => {
  for (const { pid } of running) if (pid !== undefined) killWithChildren(pid);
  rmSync(home, { recursive: true, force: true });
});
if (isRoot) {
  chownSync(home, nobody, nobody);
  chmodSync(home, 0o755);
}

const programs = programFolder();

export class Cluster {
  readonly data: string;
  readonly port: number;
  readonly #settings: readonly string[];
  #server: ChildProcess | undefined;

  constructor(name: string, port: number, settings: readonly string[] = []) {
    this.data = join(home, name);
    this.port = port;
    const sockets = process.platform === 'win32' ? [] : [`unix_socket_directories=${home}`];
    this.#settings = [
      'max_connections=500',
      'listen_addresses=127.0.0.1',
      `port=${port}`,
      ...sockets,
      ...settings,
    ];
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  /** A new, empty cluster. */
  make(): void {
    const made = spawnSync(
      join(programs, `initdb${suffix}`),
      ['-D', this.data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
      { encoding: 'utf8', cwd: home, ...identity },
    );
    if (made.status !== 0) fail(`initdb failed: ${made.error?.message ?? made.stderr}`);
  }

  /** Resolves when it accepts connections. Should it end unasked, so does this process. */
  async start(): Promise<void> {
    const server = spawn(
      join(programs, `postgres${suffix}`),
      ['-D', this.data, ...this.#settings.flatMap((setting) => ['-c', setting])],
      { stdio: ['ignore', 'ignore', 'pipe'], cwd: home, ...identity },
    );
    this.#server = server;
    running.add(server);
    let log = '';
    const impatience = setTimeout(
      () => fail(`PostgreSQL was not ready in time.\n${log}`),
      readyMsMax,
    );
    server.once('exit', () => {
      running.delete(server);
      if (this.#server === server) fail(`PostgreSQL ended by itself.\n${log}`);
    });
    await new Promise<void>((resolve) => {
      createInterface({ input: server.stderr }).on('line', (line) => {
        log = `${log}${line}\n`.slice(-logCharsMax);
        if (/ready to accept (read-only )?connections/.test(line)) resolve();
      });
    });
    clearTimeout(impatience);
  }

  /** SIGKILL to all its processes at once, as if the machine had lost power. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const ended = once(server, 'exit');
    if (server.pid !== undefined) killWithChildren(server.pid);
    await ended;
  }

  /** SIGTERM waits for clients to disconnect; SIGINT disconnects them if that takes too long. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined || server.exitCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    const impatience = setTimeout(() => server.kill('SIGINT'), stopMsMax);
    await ended;
    clearTimeout(impatience);
  }
}

const logCharsMax = 4_000;

/** SIGKILL to a process and those that it has started. */
export function killWithChildren(pid: number): void {
  for (const each of [pid, ...childrenOf(pid)]) {
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** Where Linux does not tell, none: PostgreSQL's processes notice by themselves that the first of them has gone. */
function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

/** Calls `stop` once standard input ends or a signal comes. */
export function stopWithInput(stop: () => Promise<void>): void {
  const end = (): void => void stop().then(() => process.exit());
  process.stdin.resume().on('end', end).on('error', end);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
}

/** Where initdb and postgres are: npm's are preferred, since they are the same on every machine. */
function programFolder(): string {
  const programs = embeddedPrograms();
  if (programs !== undefined) {
    return isRoot && !isOpenToAll(programs) ? join(copied(dirname(programs)), 'bin') : programs;
  }
  const folders = (process.env['PATH'] ?? '').split(process.platform === 'win32' ? ';' : ':');
  const debian = '/usr/lib/postgresql';
  if (existsSync(debian)) {
    folders.push(...readdirSync(debian).map((version) => join(debian, version, 'bin')));
  }
  const found = folders
    .map((folder) => join(folder, `postgres${suffix}`))
    .filter((program) => existsSync(program))
    .map((program) => dirname(realpathSync(program)))
    .find((folder) => existsSync(join(folder, `initdb${suffix}`)));
  return (
    found ??
    fail(
      'No PostgreSQL was found. Run npm ci, or install PostgreSQL if npm has none for this machine.',
    )
  );
}

function isOpenToAll(folder: string): boolean {
  const isOpen = (statSync(folder).mode & 0o005) === 0o005;
  return isOpen && (dirname(folder) === folder || isOpenToAll(dirname(folder)));
}

function copied(native: string): string {
  const copy = join(home, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

/**
 * Below the range that systems use for outgoing connections: one of those would sooner or later take the port of a cluster that
 * has not started yet, or was killed and is to start again.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(15_000, 30_000);
    if (givenPorts.has(port)) continue;
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    givenPorts.add(port);
    return port;
  }
  return fail('No free port was found between 15000 and 30000.');
}

export function fail(text: string): never {
  console.error(text);
  process.exit(1);
}
