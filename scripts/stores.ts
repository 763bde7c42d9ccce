// The servers that the tests of stores need and npm does not have: Redis, DynamoDB Local, and PgBouncer.
//
//   stores.js                  installs what is missing, and prints one line about each
//   stores.js redis            runs one on a free port: prints "redis ready URL", and waits until standard input ends
//   stores.js dynamodb         the same
//   stores.js pgbouncer URL    the same, before the database at this URL
//
// A server that is not there prints "NAME missing REASON" instead. Redis (or Valkey) comes from the path, or from Debian;
// DynamoDB Local from Maven, into the folder .clients, and needs Java 17. Both keep nothing on disk. PgBouncer comes from Debian.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installWithApt } from './apt-get.ts';
import { refusalToInstall } from './installs.ts';
import { run } from './run-command.ts';

interface Store {
  /** The command that runs it, or undefined if it is not there. */
  command(port: number, database?: string): readonly string[] | undefined;
  /** Returns undefined, or why it failed. */
  install(): Promise<string | undefined>;
}

const mavenMsMax = 300_000;
const readyMsMax = 60_000;
const pauseMs = 50;
const redisWhy = "the tests of the toolkit's stores need Redis";
const poolerWhy = 'the tests of PostgreSQL behind a pooler need PgBouncer';
const dynamoWhy = "the tests of the toolkit's stores need DynamoDB Local";

const jars = fileURLToPath(new URL('../../.clients/dynamodb-local-2.6.1', import.meta.url));
const pom = fileURLToPath(new URL('../../scripts/dynamodb-local.pom.xml', import.meta.url));

const stores: Readonly<Record<string, Store>> = {
  redis: {
    command: (port) => {
      const program = inPath('redis-server') ?? inPath('valkey-server');
      const nothingKept = ['--save', '', '--appendonly', 'no', '--dir', tmpdir()];
      if (program === undefined) return undefined;
      return [program, '--port', String(port), '--bind', '127.0.0.1', ...nothingKept];
    },
    install: () => installWithApt(['redis-server'], redisWhy),
  },
  dynamodb: {
    command: (port) => {
      const java = inPath('java');
      if (java === undefined || !existsSync(join(jars, 'complete'))) return undefined;
      const main = 'com.amazonaws.services.dynamodbv2.local.main.ServerRunner';
      const small = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
      const options = ['-inMemory', '-disableTelemetry', '-port', String(port)];
      return [java, ...small, '-cp', join(jars, '*'), main, ...options];
    },
    install: async () => {
      const where = `${jars} and Maven's repository in your home`;
      const refusal = refusalToInstall({ what: 'DynamoDB Local', where, why: dynamoWhy });
      if (refusal !== undefined) return refusal;
      if (inPath('mvn') === undefined || inPath('java') === undefined) {
        const complaint = await installWithApt(['default-jdk-headless', 'maven'], dynamoWhy);
        if (complaint !== undefined) return `it needs Java 17 and Maven; apt-get: ${complaint}`;
      }
      const get = ['mvn', '-B', '-q', '-f', pom, 'dependency:copy-dependencies'];
      const { ok } = await run([...get, `-DoutputDirectory=${jars}`], {}, mavenMsMax);
      if (!ok) return `Maven did not get it; to see why: ${get.join(' ')}`;
      const { ok: isMarked } = await run(['touch', join(jars, 'complete')], {}, readyMsMax);
      return isMarked ? undefined : `${jars} cannot be written`;
    },
  },
  pgbouncer: {
    command: (port, database) => {
      const program = inPath('pgbouncer') ?? ['/usr/sbin/pgbouncer'].find(existsSync);
      if (program === undefined) return undefined;
      if (database === undefined) return [program];
      // It refuses to run as root.
      const identity = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
      return [program, '-q', ...identity, poolerConfig(port, new URL(database))];
    },
    install: () => installWithApt(['pgbouncer'], poolerWhy),
  },
};

const [asked, database] = process.argv.slice(2);
if (asked === undefined) {
  for (const [name, store] of Object.entries(stores)) {
    const isPresent = store.command(0) !== undefined;
    const failure = isPresent ? undefined : await store.install();
    const state = failure === undefined ? (isPresent ? 'present' : 'installed') : 'not available';
    console.log(`${name}: ${state}${failure === undefined ? '' : `: ${failure}`}`);
  }
} else {
  const store = stores[asked];
  if (store === undefined) throw new Error(`There are only ${Object.keys(stores).join(' and ')}.`);
  await serve(asked, store, database);
}

async function serve(name: string, store: Store, database?: string): Promise<void> {
  const port = await freePort();
  const command = store.command(port, database);
  if (command === undefined) {
    console.log(`${name} missing: get it with node .build/scripts/stores.js`);
    return;
  }
  const [program = '', ...args] = command;
  // DynamoDB Local leaves a file in its working directory.
  const server = spawn(program, args, { cwd: tmpdir(), stdio: ['ignore', 'ignore', 'inherit'] });
  const stop = (): void => void server.kill('SIGKILL');
  process.stdin.resume().on('end', stop).on('error', stop);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  server.on('exit', () => process.exit());
  await untilListening(server, port);
  console.log(`${name} ready 127.0.0.1:${port}`);
}

/** Transactions share a few connections, as fewer than the clients have. Ends with the process. */
function poolerConfig(port: number, { hostname, port: databasePort, username }: URL): string {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-pgbouncer-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const file = join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${databasePort} user=${username}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 4',
    'log_connections = 0',
    'log_disconnections = 0',
    'log_stats = 0',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

async function untilListening(server: ChildProcess, port: number): Promise<void> {
  const end = Date.now() + readyMsMax;
  while (server.exitCode === null && Date.now() < end) {
    const socket = createConnection(port, '127.0.0.1');
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new Error('The server was not ready in time.');
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

function inPath(name: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((program) => existsSync(program));
}
