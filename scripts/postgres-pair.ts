// Two PostgreSQL clusters for tests of failover: a primary, and a standby that follows it. Runs until standard input ends.
//
//   postgres-pair.js            prints "postgres ready URL URL" and waits for words, a line each
//
//   fail over    kills all processes of the primary: prints "killed"; promotes the standby: prints "promoted"; makes a new
//                standby in the place of the old primary: prints "followed"
//   fall behind  from now on the standby gets nothing, and commits do not wait for it: prints "behind"
//
// Commits wait for the standby, while there is one; so what was answered outlives the primary. What a manager like Patroni
// does is done here by hand: it stops waiting for a standby that is gone, and begins again when the new one has caught up.

import { spawnSync } from 'node:child_process';
import { chownSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { Cluster, fail, freePort, identity, stopWithInput } from './postgres-cluster.ts';

// A test's database need not survive a crash of the machine; one that outlives a killed process need not be synced.
// One that has just lost its primary is promoted only when it would look for it again, by default after five seconds.
const settings = ['fsync=off', 'wal_keep_size=2GB', 'wal_retrieve_retry_interval=100ms'];
const followMsMax = 60_000;
const lookMs = 50;
const reload = 'SELECT pg_reload_conf()';

let primary = new Cluster('one', await freePort(), settings);
let standby = new Cluster('two', await freePort(), settings);
const urls = [primary.url, standby.url];
primary.make();
await primary.start();
await follow();
stopWithInput(async () => {
  await standby.kill();
  await primary.kill();
});
console.log(`postgres ready ${urls.join(' ')}`);

const words: Readonly<Record<string, () => Promise<void>>> = {
  'fail over': async () => {
    await primary.kill();
    console.log('killed');
    await inside(
      standby,
      'ALTER SYSTEM RESET synchronous_standby_names',
      reload,
      'SELECT pg_promote()',
    );
    [primary, standby] = [standby, primary];
    console.log('promoted');
    await follow();
    console.log('followed');
  },
  'fall behind': async () => {
    await inside(primary, 'ALTER SYSTEM RESET synchronous_standby_names', reload);
    await inside(standby, "ALTER SYSTEM SET primary_conninfo = ''", reload);
    await until(primary, 'SELECT count(*) = 0 AS done FROM pg_stat_replication');
    console.log('behind');
  },
};
for await (const line of createInterface({ input: process.stdin })) {
  await (words[line] ?? (() => fail(`Unknown: ${line}`)))();
}

/** Copies the primary as it runs, starts the copy as its standby, and has commits wait for it. */
async function follow(): Promise<void> {
  rmSync(standby.data, { recursive: true, force: true });
  const client = await connected(primary);
  await client.query("SELECT pg_backup_start('standby', fast => true)");
  // A file that vanishes meanwhile is made again from the journal; cp then complains, and goes on.
  spawnSync('cp', ['-R', primary.data, standby.data], { ...identity });
  const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop()');
  await client.end();
  const own = (file: string, text: string): void => {
    const path = join(standby.data, file);
    writeFileSync(path, text);
    if (identity.uid !== undefined) chownSync(path, identity.uid, identity.gid ?? identity.uid);
  };
  rmSync(join(standby.data, 'postmaster.pid'), { force: true });
  own('backup_label', rows[0].labelfile);
  own('standby.signal', '');
  own(
    'postgresql.auto.conf',
    `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres'\n`,
  );
  await standby.start();
  await until(
    primary,
    "SELECT count(*) = 1 AS done FROM pg_stat_replication WHERE state = 'streaming'",
  );
  await inside(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'", reload);
  await until(
    primary,
    "SELECT count(*) = 1 AS done FROM pg_stat_replication WHERE sync_state = 'sync'",
  );
}

async function until(cluster: Cluster, question: string): Promise<void> {
  const client = await connected(cluster);
  const giveUpAt = performance.now() + followMsMax;
  while ((await client.query(question)).rows[0].done !== true) {
    if (performance.now() > giveUpAt) fail(`still not so after ${followMsMax} ms: ${question}`);
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
  await client.end();
}

async function inside(cluster: Cluster, ...statements: readonly string[]): Promise<void> {
  const client = await connected(cluster);
  for (const statement of statements) await client.query(statement);
  await client.end();
}

async function connected(cluster: Cluster): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: cluster.url });
  client.on('error', () => {});
  await client.connect();
  return client;
}
