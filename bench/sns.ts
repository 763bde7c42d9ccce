/**
 * What does fan-out cost? Measures publications per second and microseconds per subscription for a topic with 10 to 1,000
 * subscriptions: with filter policies of which none matches, on attributes and on the message, and with queues that all
 * get the message. Also measures matching alone, compared with the floor of one Map lookup and one comparison.
 *
 * In one process on one core, without HTTP or disk; changes are produced and discarded.
 */

import type { Command } from '#broker/core/commands.js';
import { Engine } from '#broker/core/engine.js';
import { matches, readFilterPolicy } from '#broker/core/topic/filter-policy/filter-policy.js';
import { PublicationValues } from '#broker/core/topic/filter-policy/publication-values.js';
import { print } from './report/results.ts';
import { median, spreadOf, spreadText } from './report/statistics.ts';

interface Scenario {
  readonly title: string;
  readonly subscriptions: number;
  /** The attributes of the nth subscription. */
  readonly attributes: (nth: number) => Readonly<Record<string, string>>;
}

const rounds = 5;
const roundMs = 300;
const baseUrl = 'http://127.0.0.1';
const topicArn = 'arn:aws:sns:us-east-1:000000000000:bench';
const message = JSON.stringify({ store: 'north', price: { value: 5 }, parts: [{ id: 7 }] });
const attributes = [{ name: 'store', type: 'String', stringValue: 'north' }];

export async function benchSns(flags: readonly string[]): Promise<void> {
  const sizes = flags.includes('--quick') ? [10, 1_000] : [10, 100, 1_000];
  print(`\nmatching one policy: ${spreadText(spreadOf(matchingRates()))} /s`);
  print(`floor (Map lookup, comparison): ${spreadText(spreadOf(floorRates()))} /s\n`);
  print('subscriptions  what            publications/s        µs a subscription');
  for (const subscriptions of sizes) {
    for (const scenario of scenariosFor(subscriptions)) {
      const rates = publishRates(scenario);
      const each = 1e6 / median(rates) / subscriptions;
      const row = [
        String(subscriptions).padEnd(13),
        scenario.title.padEnd(14),
        spreadText(spreadOf(rates)).padEnd(20),
      ];
      print(`${row.join('  ')}  ${each.toFixed(2)}`);
    }
  }
}

function scenariosFor(subscriptions: number): Scenario[] {
  const byAttribute = (nth: number) => ({ FilterPolicy: `{"store":["south-${nth}"]}` });
  const byMessage = (nth: number) => ({
    FilterPolicy: `{"price":{"value":[{"numeric":[">",${nth + 10}]}]}}`,
    FilterPolicyScope: 'MessageBody',
  });
  return [
    { title: 'by attribute', subscriptions, attributes: byAttribute },
    { title: 'by message', subscriptions, attributes: byMessage },
    { title: 'all delivered', subscriptions, attributes: () => ({ RawMessageDelivery: 'true' }) },
  ];
}

function publishRates({ subscriptions, attributes: attributesOf }: Scenario): number[] {
  const engine = new Engine();
  let uuids = 0;
  let now = 1_700_000_000_000;
  const ids = {
    uuid: () => `00000000-0000-4000-8000-${(uuids++).toString(16).padStart(12, '0')}`,
  };
  const apply = (command: Command): void => {
    now += 1;
    const { outcome } = engine.apply(command, { now, ids });
    if (!outcome.ok) throw new Error(JSON.stringify(outcome));
  };
  apply({ type: 'create-topic', name: 'bench' });
  for (let at = 0; at < subscriptions; at += 1) {
    // The shortest retention, so that delivered messages do not accumulate.
    apply({ type: 'create-queue', queue: `q${at}`, attributes: { MessageRetentionPeriod: '60' } });
    apply({
      type: 'subscribe',
      topicArn,
      protocol: 'sqs',
      endpoint: `arn:aws:sqs:us-east-1:000000000000:q${at}`,
      attributes: attributesOf(at),
      baseUrl,
    });
  }
  return ratesOf(() => {
    now += 1_000;
    apply({
      type: 'publish',
      topicArn,
      isBatch: false,
      entries: [{ message, attributes }],
      baseUrl,
    });
  });
}

function matchingRates(): number[] {
  const policy = readFilterPolicy('{"store":["south",{"prefix":"nor"}]}', 'MessageAttributes');
  if ('wrong' in policy) throw new Error(policy.wrong);
  const list = [{ name: 'store', type: 'String', value: 'north' }];
  const values = new PublicationValues(message, list);
  return ratesOf(() => matches(policy, values));
}

function floorRates(): number[] {
  const map = new Map([['store', 'north']]);
  return ratesOf(() => map.get('store') === 'south');
}

/** Calls per second, for each round. */
function ratesOf(run: () => unknown): number[] {
  const rates: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const start = performance.now();
    let count = 0;
    let elapsed = 0;
    while (elapsed < roundMs) {
      for (let at = 0; at < 10; at += 1) run();
      count += 10;
      elapsed = performance.now() - start;
    }
    // The first round warms up.
    if (round > 0) rates.push((count / elapsed) * 1000);
  }
  return rates;
}
