// The files for Prometheus and Grafana in docs/telemetry name metrics and attributes that the server really has: those of
// the list in the code, and of the /metrics of servers that have done a bit of everything.
//
// Prometheus itself, by its promtool, then checks every expression, and runs the unit tests of the rules
// (test/prometheus/rules-test.yml). Without promtool these tests are skipped by name; where REQUIRE_CLIENTS is 1, as in
// `.ci/run`, they fail.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SNS } from '@aws-sdk/client-sns';
import { SQS } from '@aws-sdk/client-sqs';
import { startTestServer } from 'oncemq/testing';
import { type Metric, metricList } from '#broker/server/telemetry/metric-list.js';
import { prometheusName } from '#broker/server/telemetry/otel-metrics.js';
import { startPostgres } from '#broker-test/support/postgres.js';

const rulesFile = 'docs/telemetry/prometheus-rules.yml';
const rulesTestFile = 'test/prometheus/rules-test.yml';
const dashboardFile = 'docs/telemetry/grafana-dashboard.json';

interface Panel {
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number };
  readonly targets?: readonly { readonly expr: string }[];
}

const rules = readFileSync(rulesFile, 'utf8');
const dashboard = JSON.parse(readFileSync(dashboardFile, 'utf8')) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly definition?: string }[] };
};

const inRules = (field: 'alert' | 'record' | 'expr'): string[] =>
  Array.from(
    rules.matchAll(new RegExp(`^ +(?:- )?${field}: (.+)$`, 'gm')),
    ([, text = '']) => text,
  );

/** As Prometheus gets them from Grafana, with some value for each variable. */
const dashboardQueries = dashboard.panels
  .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  .map((expr) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '6h'));

/** The series that queries may name: with the labels that each has. Histograms have three names. */
const series = new Map<string, readonly string[]>(
  Object.entries<Metric>(metricList).flatMap(([name, metric]) => {
    const base = prometheusName({ name, ...metric });
    const labels = ['job', 'instance', ...metric.attributes];
    if (metric.kind !== 'histogram') return [[base, labels] as const];
    return ['_bucket', '_sum', '_count'].map(
      (suffix) => [`${base}${suffix}`, suffix === '_bucket' ? [...labels, 'le'] : labels] as const,
    );
  }),
);

const keywords = ['and', 'or', 'unless', 'offset'];

/** What is wrong with the names in an expression of PromQL. */
function complaints(expr: string, recorded: readonly string[]): string[] {
  const grouped = new Set<string>();
  const bare = expr
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\[\w+\]|\boffset \w+/g, '')
    .replaceAll(/\b(?:by|on) \(([^)]*)\) ?/g, (_, list: string) => {
      for (const label of list.split(', ')) grouped.add(label);
      return '';
    });
  const found: string[] = [];
  const known = new Set<string>();
  for (const [, name = '', rest = ''] of bare.matchAll(/\b([a-z][\w:]*) ?(\{[^}]*\}|\()?/g)) {
    if (rest === '(' || keywords.includes(name) || recorded.includes(name)) continue;
    const labels = series.get(name);
    if (labels === undefined) found.push(`${name} is not a metric`);
    for (const label of labels ?? []) known.add(label);
    for (const [, label = ''] of rest.matchAll(/(\w+)[=!]/g)) {
      if (labels?.includes(label) === false) found.push(`${name} has no ${label}`);
    }
  }
  const isPlain = found.length === 0 && known.size > 0;
  const strange = [...grouped].filter((label) => isPlain && !known.has(label));
  return [...found, ...strange.map((label) => `nothing in it has ${label}`)];
}

test('a wrong metric, a wrong attribute and a wrong grouping are found', () => {
  const good = 'sum by (queue) (rate(oncemq_messages_sent_total{queue=~"a", job="b"}[5m])) > 0';
  assert.deepEqual(complaints(good, []), []);
  assert.deepEqual(complaints(good.replace('_sent_', '_send_'), []), [
    'oncemq_messages_send_total is not a metric',
  ]);
  assert.deepEqual(complaints(good.replace('{queue', '{topic'), []), [
    'oncemq_messages_sent_total has no topic',
  ]);
  assert.deepEqual(complaints(good.replace('(queue)', '(topic)'), []), ['nothing in it has topic']);
  assert.deepEqual(complaints('oncemq_commit_records > 1', []), [
    'oncemq_commit_records is not a metric',
  ]);
  assert.deepEqual(complaints('a:b:rate5m > oncemq_queues offset 5m', ['a:b:rate5m']), []);
});

test('every rule names metrics and attributes of the list', () => {
  const expressions = inRules('expr');
  assert.equal(expressions.length, inRules('alert').length + inRules('record').length);
  const recorded = inRules('record');
  for (const expr of expressions) assert.deepEqual(complaints(expr, recorded), [], expr);
});

test('every panel of the dashboard names metrics and attributes of the list', () => {
  assert.ok(dashboardQueries.length > 30);
  for (const expr of dashboardQueries) assert.deepEqual(complaints(expr, []), [], expr);
  for (const { definition } of dashboard.templating.list) {
    const [, metric = '', label = ''] =
      /^label_values\((\w+)(?:\{.*\})?, (\w+)\)$/.exec(definition ?? '') ?? [];
    if (definition !== undefined) assert.ok(series.get(metric)?.includes(label), definition);
  }
});

test('the dashboard shows every metric of the list, and no two panels in one place', () => {
  const text = dashboardQueries.join('\n');
  const missing = Object.entries<Metric>(metricList)
    .map(([name, metric]) => prometheusName({ name, ...metric }))
    .filter((name) => !new RegExp(`\\b${name}(_bucket|_sum|_count)?\\b`).test(text));
  assert.deepEqual(missing, []);
  const places = dashboard.panels.map(({ gridPos: { x, y } }) => `${x} ${y}`);
  assert.equal(new Set(places).size, places.length);
  for (const { gridPos, title } of dashboard.panels) assert.ok(gridPos.x + gridPos.w <= 24, title);
});

test('servers that have done a bit of everything have each of these metrics at /metrics', async (t) => {
  const page = (await busyPage(t)) + (await clusterPage(t));
  const shown = new Set(Array.from(page.matchAll(/^([a-z_]+)[{ ]/gm), ([, name]) => name));
  const queries = [...inRules('expr'), ...dashboardQueries].join('\n');
  const named = [...series.keys()].filter((name) => new RegExp(`\\b${name}\\b`).test(queries));
  assert.ok(named.length > 25);
  assert.deepEqual(
    named.filter((name) => !shown.has(name)),
    [],
  );
});

async function busyPage(t: TestContext): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-prometheus-'));
  const contract = join(folder, 'contract.json');
  const queues = [{ queue: 'orders.fifo', contract: 'envelope', mode: 'observe' }];
  writeFileSync(contract, JSON.stringify({ queues }));
  const server = await startTestServer({ data: join(folder, 'data'), contract });
  const sqs = new SQS({ ...server.clientConfig, maxAttempts: 1 });
  const sns = new SNS({ ...server.clientConfig, maxAttempts: 1 });
  t.after(async () => {
    sqs.destroy();
    sns.destroy();
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const Attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
  const { QueueUrl } = await sqs.createQueue({ QueueName: 'orders.fifo', Attributes });
  await sqs.sendMessage({ QueueUrl, MessageBody: 'no envelope', MessageGroupId: 'a' });
  await sns.createTopic({ Name: 'prices' });
  return (await fetch(`${server.url}/metrics`)).text();
}

/** Of a server over PostgreSQL, which has metrics of its own. */
async function clusterPage(t: TestContext): Promise<string> {
  const { url: postgres } = await startPostgres();
  const server = await startTestServer({ postgres });
  const sqs = new SQS({ ...server.clientConfig, maxAttempts: 1 });
  t.after(async () => {
    sqs.destroy();
    await server.close();
  });
  await sqs.createQueue({ QueueName: 'orders' });
  return (await fetch(`${server.url}/metrics`)).text();
}

test('each alert has a unit test', () => {
  const tests = readFileSync(rulesTestFile, 'utf8');
  for (const name of inRules('alert')) assert.ok(tests.includes(`alertname: ${name}\n`), name);
});

const finder = spawnSync(process.execPath, ['.build/scripts/promtool.js', '--find'], {
  encoding: 'utf8',
});
const promtool = JSON.parse(finder.stdout) as string | null;
const missing = 'no promtool is at hand; node .build/scripts/promtool.js gets one';
const skip = promtool === null && process.env['REQUIRE_CLIENTS'] !== '1' ? missing : false;

function runPromtool(...args: string[]): string {
  assert.ok(promtool !== null, missing);
  const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: 'utf8' });
  assert.equal(status, 0, `${stdout}${stderr}`);
  return stdout;
}

test('promtool accepts the rules', { skip }, () => {
  const count = inRules('alert').length + inRules('record').length;
  assert.match(runPromtool('check', 'rules', rulesFile), new RegExp(`SUCCESS: ${count} rules`));
});

test('promtool runs the unit tests of the rules', { skip }, () => {
  assert.match(runPromtool('test', 'rules', rulesTestFile), /SUCCESS/);
});

test('promtool accepts the queries of the dashboard, as rules', { skip }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-dashboard-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'rules.yml');
  const asRules = dashboardQueries.map((expr, at) => ({ record: `panel:query:${at}`, expr }));
  // YAML takes JSON.
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: asRules }] }));
  assert.match(runPromtool('check', 'rules', file), /SUCCESS/);
});
