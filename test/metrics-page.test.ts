// The page about metrics matches the list in the code. If this fails after a change to the list, `npm run docs` rewrites
// the page.
//
// The tests of the server check that it measures what the list says (packages/broker/test/server/telemetry).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { metricList } from '#broker/server/telemetry/metric-list.js';
import { metricsPage, withMetrics } from '../scripts/metrics-page.ts';

const page = readFileSync(metricsPage, 'utf8');

test(`${metricsPage} lists the metrics of the code; otherwise run \`npm run docs\``, () => {
  assert.equal(page, withMetrics(page));
  for (const name of Object.keys(metricList)) assert.ok(page.includes(`| \`${name}\`<br>`), name);
});

test('the page gives the Prometheus names of the four metrics of the contract', () => {
  const names = [
    'sqs_fifo_dedupe_collisions_detected_total',
    'sqs_fifo_producer_violations_total',
    'sqs_fifo_body_hash_length_bytes',
    'sqs_fifo_dedupe_window_hits_total',
  ];
  for (const name of names) assert.ok(page.includes(`<br>\`${name}\``), name);
});
