// Three PostgreSQL clusters under a real manager, for tests of failover: Debian's patroni, with Debian's etcd-server, in
// synchronous mode. Runs until standard input ends. Debian's postgresql is used too, since what npm has lacks the programs with
// which a standby is made and rewound.
//
//   patroni.js   prints "postgres ready URL URL URL" and waits for words, a line each
//
//   fail over    kills all processes of the primary and its patroni, as if its machine had lost power; what happens then is
//                the manager's doing alone. Prints "killed", and "promoted" when another one is the primary; then starts the
//                patroni that was killed again: prints "followed" when two standbys follow, and commits wait for one
//
// The limits are the shortest that patroni allows, so a failover takes about half a minute.

import { type ChildProcess, spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { installWithApt } from './apt-get.ts';
import {
  fail,
  freePort,
  home,
  identity,
  killWithChildren,
  stopWithInput,
} from './postgres-cluster.ts';

const packages = ['patroni', 'etcd-server', 'postgresql'];
const debian = '/usr/lib/postgresql';
const lookMs = 100;
const becomesMsMax = 180_000;
const logCharsMax = 4_000;

await installMissing();
const programs = programFolder();
const peerPort = await freePort();
const etcdUrl = `http://127.0.0.1:${await freePort()}`;
const members = [await newMember('one'), await newMember('two'), await newMember('three')];
const processes = new Set<ChildProcess>();
// Before the folder with their process ids is removed.
process.prependListener('exit', killAll);
stopWithInput(async () => killAll());
startEtcd();
for (const [position, member] of members.entries()) {
  startPatroni(member);
  // The first to come makes the cluster, which the others copy.
  if (position === 0)
    await until('there is a primary', async () => (await primary()) !== undefined);
}
await until('two standbys stream, and commits wait for one', hasStandbys);
console.log(`postgres ready ${members.map(({ url }) => url).join(' ')}`);

for await (const line of createInterface({ input: process.stdin })) {
  if (line !== 'fail over') fail(`Unknown: ${line}`);
  const old = (await primary()) ?? fail('There is no primary.');
  killMember(old);
  console.log('killed');
  await until('another one is the primary', async () => (await primary()) !== undefined);
  console.log('promoted');
  startPatroni(old);
  await until('two standbys stream, and commits wait for one', hasStandbys);
  console.log('followed');
}

interface Member {
  readonly name: string;
  readonly data: string;
  readonly url: string;
  /** Of patroni's settings. */
  readonly file: string;
  patroni: ChildProcess | undefined;
}

async function newMember(name: string): Promise<Member> {
  const data = join(home, name);
  const file = join(home, `${name}.json`);
  const address = `127.0.0.1:${await freePort()}`;
  const rest = `127.0.0.1:${await freePort()}`;
  // What patroni reads as YAML may as well be JSON.
  const settings = {
    scope: 'oncemq',
    name,
    restapi: { listen: rest, connect_address: rest },
    etcd3: { host: new URL(etcdUrl).host },
    bootstrap: {
      dcs: {
        ttl: 20,
        loop_wait: 1,
        retry_timeout: 3,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, use_slots: true },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, { auth: 'trust' }],
    },
    postgresql: {
      listen: address,
      connect_address: address,
      data_dir: data,
      bin_dir: programs,
      pgpass: join(home, `${name}.pgpass`),
      authentication: {
        superuser: { username: 'postgres' },
        replication: { username: 'postgres' },
        rewind: { username: 'postgres' },
      },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication all 127.0.0.1/32 trust',
      ],
      parameters: {
        // A database that outlives a killed process need not be synced.
        fsync: 'off',
        max_connections: 200,
        unix_socket_directories: home,
      },
    },
  };
  writeFileSync(file, JSON.stringify(settings));
  return { name, data, url: `postgres://postgres@${address}/postgres`, file, patroni: undefined };
}

function startEtcd(): void {
  const data = join(home, 'etcd');
  mkdirSync(data, { mode: 0o700 });
  if (identity.uid !== undefined) chownSync(data, identity.uid, identity.gid ?? identity.uid);
  const peer = `http://127.0.0.1:${peerPort}`;
  start('etcd', [
    ...['--name', 'one', '--data-dir', data, '--unsafe-no-fsync'],
    ...['--listen-client-urls', etcdUrl, '--advertise-client-urls', etcdUrl],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
    ...['--initial-cluster', `one=${peer}`],
  ]);
}

function startPatroni(member: Member): void {
  member.patroni = start('patroni', [member.file]);
}

/** Should it end unasked, so does this process. */
function start(program: string, flags: readonly string[]): ChildProcess {
  const child = spawn(program, flags, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: home,
    ...identity,
  });
  processes.add(child);
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      log = `${log}${text}`.slice(-logCharsMax);
    });
  }
  child.once('error', ({ message }) => fail(`${program} did not start: ${message}`));
  child.once('exit', () => {
    if (processes.delete(child)) fail(`${program} ended by itself.\n${log}`);
  });
  return child;
}

/** SIGKILL to patroni and to its database, whose processes are not patroni's children. */
function killMember({ patroni, data }: Member): void {
  if (patroni !== undefined && processes.delete(patroni)) patroni.kill('SIGKILL');
  const file = join(data, 'postmaster.pid');
  if (existsSync(file)) killWithChildren(Number.parseInt(readFileSync(file, 'utf8'), 10));
}

function killAll(): void {
  for (const member of members) killMember(member);
  for (const child of processes) {
    processes.delete(child);
    child.kill('SIGKILL');
  }
}

async function primary(): Promise<Member | undefined> {
  for (const member of members) {
    const [row] = await ask(member, 'SELECT pg_is_in_recovery() AS "isStandby"');
    if (row?.['isStandby'] === false) return member;
  }
  return undefined;
}

async function hasStandbys(): Promise<boolean> {
  const found = await primary();
  if (found === undefined) return false;
  const rows = await ask(found, 'SELECT state, sync_state FROM pg_stat_replication');
  const streaming = rows.filter(({ state }) => state === 'streaming');
  return streaming.length === 2 && rows.some((row) => row['sync_state'] === 'sync');
}

/** No rows if it does not answer. */
async function ask({ url }: Member, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } catch {
    return [];
  } finally {
    await client.end().catch(() => {});
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + becomesMsMax;
  while (!(await isSo())) {
    if (performance.now() > giveUpAt) fail(`Still not so after ${becomesMsMax} ms: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

async function installMissing(): Promise<void> {
  const folders = (process.env['PATH'] ?? '').split(':');
  const has = (program: string): boolean => folders.some((path) => existsSync(join(path, program)));
  if (has('patroni') && has('etcd') && existsSync(debian)) return;
  const why = 'a real manager makes the failovers of this test';
  const problem = await installWithApt(packages, why);
  if (problem !== undefined)
    fail(`Patroni is missing: apt-get install ${packages.join(' ')}: ${problem}`);
}

function programFolder(): string {
  const versions = readdirSync(debian).sort((one, other) => Number(other) - Number(one));
  const folders = versions.map((version) => join(debian, version, 'bin'));
  return (
    folders.find((folder) => existsSync(join(folder, 'pg_rewind'))) ??
    fail(`There is no pg_rewind in ${debian}: apt-get install postgresql`)
  );
}
