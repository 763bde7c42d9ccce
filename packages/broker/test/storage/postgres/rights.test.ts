/**
 * Roles of few rights: one that owns the tables, and one that serves. Whatever a role lacks is found at the start, with what
 * to do about it; a role that was granted what `oncemq postgres grant` grants can do everything that a server does.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { manualClock } from '../../../src/server/clock.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { Checkpoints } from '../../../src/storage/postgres/checkpoints.ts';
import { Connection } from '../../../src/storage/postgres/connection.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/open.ts';
import { grantStatements, versionProblem } from '../../../src/storage/postgres/requirements.ts';
import { migrate, migrations, migrationText } from '../../../src/storage/postgres/schema.ts';
import { startPostgres, type TestDatabase } from '../../support/postgres.ts';

const cli = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
let database: Promise<TestDatabase> | undefined;
const queue = 'jobs';
const client = new AbortController();

interface Home {
  /** As the role that owns the tables. */
  readonly owner: Connection;
  readonly schema: string;
  /** A server as the role that only serves. */
  readonly serve: () => Promise<Backend>;
  /** What servers told at their start. */
  readonly notices: readonly string[];
  /** The same role without a server. */
  readonly serving: Connection;
}

async function withRoles(run: (home: Home) => Promise<void>): Promise<void> {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const schema = newSchema();
  const owner = new Connection([url], 'test');
  await owner.run({ text: `CREATE ROLE serving_${schema} LOGIN` });
  const servingUrl = new URL(url);
  servingUrl.username = `serving_${schema}`;
  const serving = new Connection([servingUrl.href], 'test');
  const opened: Backend[] = [];
  const notices: string[] = [];
  try {
    await run({
      owner,
      schema,
      serving,
      notices,
      serve: async () => {
        const clock = manualClock(1_800_000_000_000);
        const backend = await openPostgresBackend(
          { clock },
          { urls: [servingUrl.href], schema, onNotice: (text) => notices.push(text) },
        );
        opened.push(backend);
        return backend;
      },
    });
  } finally {
    for (const backend of opened) await backend.close();
    await serving.close();
    await owner.close();
  }
}

async function grant(owner: Connection, schema: string): Promise<void> {
  await owner.run(...grantStatements(schema, `serving_${schema}`));
}

test('a role that may not create tables is told who may, and then who grants', () =>
  withRoles(async ({ owner, schema, serve }) => {
    const role = `serving_${schema}`;
    const refused = new RegExp(
      `the role ${role}: permission denied .*; let a role that may create tables run oncemq postgres migrate, and then oncemq postgres grant --role ${role}`,
    );
    await assert.rejects(serve(), refused);
    await migrate(owner, schema);
    const denied = new RegExp(
      `the role ${role}: permission denied .*; let the owner of the tables run oncemq postgres grant --role ${role}`,
    );
    await assert.rejects(serve(), denied);
  }));

test('a granted role does everything that a server does, and cannot do more', () =>
  withRoles(async ({ owner, schema, serve, serving }) => {
    await migrate(owner, schema);
    await grant(owner, schema);
    const backend = await serve();
    assert.ok((await backend.run({ type: 'create-queue', queue })).ok);
    for (const body of ['one', 'two']) {
      const entries = [{ body }];
      assert.ok((await backend.run({ type: 'send', queue, isBatch: false, entries })).ok);
    }
    const received = await backend.receive({ type: 'receive', queue, waitSeconds: 20 }, client);
    assert.equal(received.ok && received.messages.length, 1);
    await backend.advance(60_000);
    const checkpoints = new Checkpoints({ schema, connection: serving });
    for (let round = 0; round < 3; round += 1) await checkpoints.round(() => false);
    assert.ok((await backend.run({ type: 'delete-queue', queue })).ok);
    for (let round = 0; round < 3; round += 1) await checkpoints.round(() => false);
    await backend.reset();
    for (const text of [
      `DROP TABLE ${schema}.journal`,
      `TRUNCATE ${schema}.journal`,
      `UPDATE ${schema}.journal SET id = 0`,
      `DELETE FROM ${schema}.migration`,
      `CREATE TABLE ${schema}.more (id int)`,
    ]) {
      await assert.rejects(serving.run({ text }), /permission denied|must be owner/, text);
    }
  }));

test('a database that does not wait for the disk is told at the start', () =>
  withRoles(async ({ owner, schema, serve, notices }) => {
    await migrate(owner, schema);
    await grant(owner, schema);
    await serve();
    assert.ok(!notices.join().includes('synchronous_commit'), 'it waits');
    await owner.run({ text: `ALTER ROLE serving_${schema} SET synchronous_commit = off` });
    await serve();
    assert.match(
      notices.join(),
      /the database has .*synchronous_commit = off: what was answered can be lost with it/,
    );
  }));

test('a right that is missing is named at the start', () =>
  withRoles(async ({ owner, schema, serve }) => {
    await migrate(owner, schema);
    await grant(owner, schema);
    const role = `serving_${schema}`;
    await owner.run({ text: `REVOKE DELETE ON ${schema}.journal FROM ${role}` });
    const refused = new RegExp(
      `the role ${role} lacks DELETE on "${schema}".journal: let the owner`,
    );
    await assert.rejects(serve(), refused);
  }));

test('a later migration leaves the granted role in its place', () =>
  withRoles(async ({ owner, schema, serve, serving }) => {
    await migrate(owner, schema);
    await grant(owner, schema);
    await owner.run({ text: `CREATE TABLE ${schema}.later (id int)` });
    await serving.run({ text: `INSERT INTO ${schema}.later VALUES (1)` });
    await serve();
  }));

test('what a dry run prints is what is missing, and running it is enough', () =>
  withRoles(async ({ owner, schema, serve }) => {
    const text = await migrationText(owner, schema);
    await owner.run({ text });
    assert.equal(await migrationText(owner, schema), '');
    await grant(owner, schema);
    await serve();
  }));

test('nodes that start at once on an empty database bring it up to date once', () =>
  withRoles(async ({ owner, schema }) => {
    const { url } = await (database as Promise<TestDatabase>);
    const others = Array.from({ length: 4 }, () => new Connection([url], 'test'));
    const applied = await Promise.all(others.map((other) => migrate(other, schema)));
    const names = migrations(schema).map(({ name }) => name);
    assert.deepEqual(applied.flat(), names);
    const [rows] = await owner.run({ text: `SELECT name FROM ${schema}.migration ORDER BY name` });
    assert.deepEqual(
      rows?.rows.map(({ name }) => name),
      names,
    );
    for (const other of others) await other.close();
  }));

test('a server that is too old is refused, with the version that is needed', () => {
  const problem = versionProblem({ number: 120_019, name: '12.19' });
  assert.equal(problem, 'PostgreSQL 12.19 is too old: upgrade it to 13 or later');
  assert.equal(versionProblem({ number: 130_000, name: '13.0' }), undefined);
});

function run(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [cli, 'postgres', ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

test('oncemq postgres prints, migrates and grants', async () => {
  database ??= startPostgres();
  const { url } = await database;
  const connection = new Connection([url], 'test');
  await connection.run({ text: 'CREATE ROLE broker' }, { text: 'CREATE DATABASE house' });
  await connection.close();
  const house = new URL(url);
  house.pathname = '/house';
  const at = ['--postgres', house.href];
  const { stdout } = await run('migrate', '--dry-run', ...at);
  assert.match(stdout, /^BEGIN;\n.*CREATE SCHEMA IF NOT EXISTS "oncemq";.*\nCOMMIT;\n$/s);
  assert.match((await run('migrate', ...at)).stdout, /^applied 001-tables\.sql, 002-nodes\.sql/);
  assert.equal((await run('migrate', ...at)).stdout, 'the tables are up to date\n');
  assert.equal(
    (await run('migrate', '--dry-run', ...at)).stdout,
    '-- The tables are up to date.\n',
  );
  const printed = await run('grant', '--role', 'broker', '--dry-run');
  assert.match(printed.stdout, /^GRANT USAGE ON SCHEMA "oncemq" TO "broker";\n/);
  assert.equal(
    (await run('grant', '--role', 'broker', ...at)).stdout,
    'the role broker may serve\n',
  );
  const unknown = await run('grant', '--role', 'nobody', ...at);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /role "nobody" does not exist/);
  for (const args of [['drop'], ['grant', ...at]]) {
    const { code, stderr } = await run(...args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /Usage: oncemq postgres migrate/);
  }
});
