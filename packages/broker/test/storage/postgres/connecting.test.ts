/**
 * How a server gets to its database: hosts in any order, a socket, TLS that knows whom it speaks to, and passwords that are in
 * neither the arguments nor the log.
 */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';
import { temporaryDirectory } from '../backends.ts';

let database: Promise<TestDatabase> | undefined;

async function withDatabase(
  run: (home: { readonly url: URL; readonly admin: Connection }) => Promise<void>,
): Promise<void> {
  database ??= startPostgres();
  const { url } = await database;
  const admin = new Connection([url], 'test');
  try {
    await run({ url: new URL(url), admin });
  } finally {
    await admin.close();
  }
}

async function setting(admin: Connection, name: string): Promise<string> {
  const [rows] = await admin.run({ text: 'SELECT current_setting($1) AS value', values: [name] });
  return String(rows?.rows[0]?.['value']);
}

/** A statement on a connection of its own. */
async function ask(urls: readonly string[], text: string): Promise<unknown> {
  const connection = new Connection(urls, 'test', { answerMs: 5_000 });
  try {
    const [rows] = await connection.run({ text });
    return Object.values(rows?.rows[0] ?? {})[0];
  } finally {
    await connection.close();
  }
}

test('of several hosts the one that answers is taken, and if none does, each says why', () =>
  withDatabase(async ({ url }) => {
    const nobody = 'postgres://mq:secret@127.0.0.1:1/mq';
    assert.equal(await ask([nobody, url.href], 'SELECT 1 AS one'), 1);
    const other = 'postgres://mq:secret@nowhere.invalid/mq';
    await assert.rejects(ask([nobody, other], 'SELECT 1'), (error: Error) => {
      assert.match(
        error.message,
        /^no database can be reached: 127\.0\.0\.1:1: connect ECONNREFUSED/,
      );
      assert.match(error.message, /; nowhere\.invalid: getaddrinfo/);
      assert.ok(!error.message.includes('secret'));
      return true;
    });
  }));

test('a socket is a host, too', (t) => {
  if (process.platform === 'win32') return t.skip('Windows has no such sockets');
  return withDatabase(async ({ url, admin }) => {
    const folder = await setting(admin, 'unix_socket_directories');
    const text = `SELECT inet_server_addr() IS NULL AS "isSocket"`;
    const named = `postgres://postgres@${encodeURIComponent(folder)}:${url.port}/postgres`;
    assert.equal(await ask([named], text), true);
    const queried = `postgres:///postgres?host=${folder}&port=${url.port}&user=postgres`;
    assert.equal(await ask([queried], text), true);
  });
});

test('a password comes from the URL, from PGPASSWORD or from .pgpass', () =>
  withDatabase(async ({ url, admin }) => {
    const { path, remove } = temporaryDirectory();
    const before = { ...process.env };
    try {
      await admin.run({ text: `CREATE ROLE guarded LOGIN PASSWORD 'knock knock'` });
      await letIn(admin, ['host all guarded 127.0.0.1/32 scram-sha-256']);
      url.username = 'guarded';
      const user = 'SELECT current_user';
      await assert.rejects(ask([url.href], user), /password/);
      const withPassword = new URL(url);
      withPassword.password = 'knock knock';
      assert.equal(await ask([withPassword.href], user), 'guarded');
      process.env['PGPASSWORD'] = 'knock knock';
      assert.equal(await ask([url.href], user), 'guarded');
      process.env['PGPASSWORD'] = 'wrong';
      await assert.rejects(ask([url.href], user), /password authentication failed/);
      delete process.env['PGPASSWORD'];
      const file = join(path, '.pgpass');
      writeFileSync(file, `127.0.0.1:*:*:guarded:knock knock\n`, { mode: 0o600 });
      process.env['PGPASSFILE'] = file;
      assert.equal(await ask([url.href], user), 'guarded');
    } finally {
      process.env = before;
      await letIn(admin, []);
      remove();
    }
  }));

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

test('verify-full refuses a database that is somebody else, or that nobody vouches for', (t) => {
  if (!hasOpenssl) return t.skip('openssl is missing, which makes the certificates');
  return withDatabase(async ({ url, admin }) => {
    const { path, remove } = temporaryDirectory();
    try {
      const authority = certificates(path);
      const text = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
      const at = (host: string, query: string): string =>
        `postgres://postgres@${host}:${url.port}/postgres?${query}`;
      const verified = `sslmode=verify-full&sslrootcert=${authority}`;
      await useCertificate(admin, path, 'localhost');
      assert.equal(await ask([at('localhost', verified)], text), true);
      await assert.rejects(ask([at('localhost', 'sslmode=verify-full')], text), /certificate/);
      await useCertificate(admin, path, 'db.example');
      await assert.rejects(
        ask([at('localhost', verified)], text),
        /localhost:\d+: Hostname\/IP does not match certificate's altnames/,
      );
      assert.equal(await ask([at('localhost', 'sslmode=no-verify')], text), true);
    } finally {
      remove();
    }
  });
});

/** Who may connect how; everybody else may without a password. */
async function letIn(admin: Connection, rules: readonly string[]): Promise<void> {
  const file = await setting(admin, 'hba_file');
  writeFileSync(
    file,
    `${[...rules, 'local all all trust', 'host all all all trust'].join('\n')}\n`,
  );
  await reload(admin);
}

async function reload(admin: Connection): Promise<void> {
  const loaded = 'SELECT pg_conf_load_time()::text AS at';
  const [before] = await admin.run({ text: loaded });
  await admin.run({ text: 'SELECT pg_reload_conf()' });
  const isSame = async (): Promise<boolean> => {
    const [now] = await admin.run({ text: loaded });
    return String(now?.rows[0]?.['at']) === String(before?.rows[0]?.['at']);
  };
  while (await isSame());
}

/** An authority, and certificates of it for two hosts. Returns the authority's file. */
function certificates(folder: string): string {
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=ca');
  for (const host of ['localhost', 'db.example']) {
    openssl('req', ...key, '-keyout', `${host}.key`, '-out', `${host}.csr`, '-subj', `/CN=${host}`);
    writeFileSync(join(folder, 'names'), `subjectAltName=DNS:${host}\n`);
    const signer = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names'];
    openssl('x509', '-req', '-in', `${host}.csr`, ...signer, '-out', `${host}.crt`);
  }
  return join(folder, 'ca.crt');
}

/** PostgreSQL wants its key to belong to its own user. */
async function useCertificate(admin: Connection, folder: string, host: string): Promise<void> {
  const data = await setting(admin, 'data_directory');
  const { uid, gid } = statSync(data);
  for (const kind of ['crt', 'key']) {
    const file = join(data, `server.${kind}`);
    writeFileSync(file, readFileSync(join(folder, `${host}.${kind}`)), { mode: 0o600 });
    if (process.getuid?.() === 0) chownSync(file, uid, gid);
  }
  await admin.run({ text: `ALTER SYSTEM SET ssl = 'on'` });
  await reload(admin);
}
