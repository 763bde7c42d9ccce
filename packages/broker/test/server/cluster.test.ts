/**
 * What people see of servers that share a database: which servers there are and which one answers, in `/_oncemq/store`, the
 * console's overview, `oncemq postgres nodes` and the metrics; and what a server shows that shares nothing.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { configOf } from '../../src/server/config/options.ts';
import { type Started, start } from '../../src/server/start-server.ts';
import { metricList } from '../../src/server/telemetry/metric-list.ts';
import { startTestServer } from '../../src/testing.ts';
import { startPostgres, type TestDatabase } from '../support/postgres.ts';
import { PrometheusPage } from '../support/prometheus-page.ts';

const cli = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
let database: Promise<TestDatabase> | undefined;

async function open(t: TestContext): Promise<Started> {
  database ??= startPostgres();
  const { url } = await database;
  const server = await start(configOf({ postgres: url, port: 0, log: 'silent' }));
  t.after(() => server.close());
  return server;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into at will here
async function get(server: { readonly url: string }, path: string): Promise<any> {
  return (await fetch(`${server.url}/_oncemq/${path}`)).json();
}

async function sqs(server: Started, action: string, input: object): Promise<void> {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': `AmazonSQS.${action}`,
    },
    body: JSON.stringify(input),
  });
  assert.equal(response.status, 200);
}

test('each server tells who shares the database and which one answers; one that stopped is gone', async (t) => {
  const first = await open(t);
  const second = await open(t);
  const seen = await get(second, 'store');
  assert.equal(seen.storage, 'postgres');
  assert.equal(seen.nodes.length, 2);
  const [one, two] = seen.nodes;
  assert.equal(seen.node, two.id);
  assert.equal((await get(first, 'store')).node, one.id);
  assert.equal(two.name, `${hostname()}:pid-${process.pid}`);
  assert.deepEqual([one.isRunning, two.isRunning], [true, true]);
  assert.ok(two.startedAt >= one.startedAt && two.seenAt >= two.startedAt);
  assert.equal((await get(second, 'overview')).servers, 2);
  await second.close();
  const third = await open(t);
  const { node, nodes } = await get(third, 'store');
  assert.deepEqual(
    nodes.map(({ id }: { id: string }) => id),
    [one.id, node],
  );
  const { url } = await (database as Promise<TestDatabase>);
  const { stdout } = spawnSync(process.execPath, [cli, 'postgres', 'nodes', '--postgres', url], {
    encoding: 'utf8',
  });
  assert.match(stdout, /^server +state +since +last seen +version +format\n/);
  assert.equal(stdout.match(/ running /g)?.length, 2);
});

test('the metrics of a server count commits, waits for locks, what it takes in from others, and servers', async (t) => {
  const first = await open(t);
  const second = await open(t);
  await sqs(first, 'CreateQueue', { QueueName: 'jobs' });
  const QueueUrl = `${first.url}/000000000000/jobs`;
  const exchange = async (): Promise<void> => {
    await sqs(first, 'SendMessage', { QueueUrl, MessageBody: 'one' });
    await sqs(second, 'ReceiveMessage', { QueueUrl, VisibilityTimeout: 0 });
  };
  await exchange();
  const before = await PrometheusPage.of(second);
  await exchange();
  const page = await PrometheusPage.of(second);
  const grown = (name: string): number => (page.value(name) ?? 0) - (before.value(name) ?? 0);
  assert.equal(page.value('oncemq_cluster_nodes'), 2);
  const commits = grown('oncemq_commit_duration_seconds_count');
  assert.ok(commits > 0);
  assert.equal(grown('oncemq_lock_duration_seconds_count'), commits);
  assert.ok(grown('oncemq_cluster_absorbed_changes_total') > 0);
  assert.equal(page.value('oncemq_cluster_loaded_owners'), 1);
  assert.notEqual(page.value('oncemq_lock_skipped_total'), undefined);
  assert.ok((page.value('oncemq_journal_size_bytes') ?? 0) > 0);
  for (const name of ['rows', 'pending_rows', 'lag_seconds']) {
    assert.notEqual(page.value(`oncemq_journal_${name}`), undefined, name);
  }
  // All that there are, but for the size of a data directory.
  assert.equal(page.types.size, Object.keys(metricList).length - 1);
});

test('a server that shares nothing tells what it stores in, and has no metrics of a cluster', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { now, ...store } = await get(server, 'store');
  assert.ok(now > 0);
  assert.deepEqual(store, {
    clock: 'virtual',
    storage: 'memory',
    unavailable: null,
    sizeBytes: null,
    lostCommits: { count: 0, latest: null },
    node: null,
    nodes: null,
    journal: null,
  });
  assert.equal((await get(server, 'overview')).servers, null);
  const page = await PrometheusPage.of(server);
  for (const name of page.types.keys())
    assert.doesNotMatch(name, /_(cluster|journal|lock|commit)_/);
});
