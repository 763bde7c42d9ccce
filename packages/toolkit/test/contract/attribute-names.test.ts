/**
 * Which attributes seem to distinguish events, by the words of their names, and how a contract's own lists change that.
 * The names are those that the contract's pages give as examples, and neighbors of them.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isCriticalName,
  namesAttempt,
  namesKey,
  wordsOf,
} from '../../src/contract/attribute-names.ts';

const none = { critical: [], harmless: [] };

test('a name is split into its words, however it is written', () => {
  for (const name of ['site_id', 'site-id', 'site.id', 'siteId', 'SiteID', 'SITE_ID']) {
    assert.deepEqual(wordsOf(name), ['site', 'id'], name);
  }
  assert.deepEqual(wordsOf('APIVersion2'), ['api', 'version', '2']);
  assert.deepEqual(wordsOf('größeKm'), ['größe', 'km']);
});

test('names that tell events apart are critical', () => {
  const names = [
    ...['SiteID', 'site', 'event_timestamp', 'aoi', 'scene', 'tenant_id', 'dataset-version'],
    ...['orderKey', 'dataset.uuid', 'OrderVersion', 'unique_key', 'IdempotencyKey', 'AOIKey'],
  ];
  for (const name of names) assert.equal(isCriticalName(name, none), true, name);
});

test('names about software, routing and attempts are not', () => {
  const names = [
    ...['api_version', 'app_version', 'routing_key', 'partition_key', 'region_id', 'schemaVersion'],
    ...['trace_id', 'SpanID', 'correlation-id', 'priority', 'grid', 'valid', 'monkey', 'obscene'],
  ];
  for (const name of names) assert.equal(isCriticalName(name, none), false, name);
});

test('a word within a word does not count', () => {
  assert.equal(isCriticalName('spanish_id', none), true);
  assert.equal(isCriticalName('application_id', none), true);
});

test("a contract's lists extend ours, and the longer entry counts", () => {
  const lists = { critical: ['shelf', 'region_id'], harmless: ['batch_id', 'old shelf'] };
  assert.equal(isCriticalName('Shelf', lists), true);
  assert.equal(isCriticalName('regionId', lists), true);
  assert.equal(isCriticalName('batchID', lists), false);
  assert.equal(isCriticalName('print_batch_id', lists), false);
  assert.equal(isCriticalName('old-shelf', lists), false);
  assert.equal(isCriticalName('batch_version', lists), true);
});

test('attributes of attempts are not compared, and routing is', () => {
  assert.equal(namesAttempt('request_id', none), true);
  assert.equal(namesAttempt('region_id', none), false);
  assert.equal(namesAttempt('tenant_id', none), false);
  assert.equal(namesAttempt('tenant_id', { critical: [], harmless: ['tenant_id'] }), true);
  assert.equal(namesAttempt('request_id', { critical: ['request_id'], harmless: [] }), false);
});

test('names of a key are recognized', () => {
  for (const name of ['dedupe_key', 'uniqueKey', 'Idempotency-Key', 'x_dedup_id', 'UNIQUENESS_KEY'])
    assert.equal(namesKey(name), true, name);
  for (const name of ['key', 'unique', 'order_key']) assert.equal(namesKey(name), false, name);
});
