/**
 * Amazon's quotas on policies, each at its edge: one more is refused, and nothing is changed (6.8). What was stored before
 * there were quotas still loads, and allows nothing.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change } from '../../../src/core/changes.ts';
import type { Outcome } from '../../../src/core/commands.ts';
import { Engine } from '../../../src/core/engine.ts';
import { accepted, assertRefused, openQueue, type TestQueue } from '../fixture.ts';
import { openTopics } from '../topic/fixture.ts';

const statement = { Effect: 'Allow', Principal: '*', Action: 'sqs:SendMessage' };

function policyOf(...statements: readonly object[]): string {
  return JSON.stringify({ Version: '2012-10-17', Statement: statements });
}

function listOf(count: number, word: string): string[] {
  return Array.from({ length: count }, (_, n) => `${word}${n}`);
}

function trySet(queue: TestQueue, Policy: string): Outcome<'set-attributes'> {
  return queue.trySet({ Policy });
}

/** The policy is accepted with `limit` of something and refused with one more, by both ways to set it. */
function assertLimit(limit: number, policy: (count: number) => string, text: string): void {
  const queue = openQueue();
  accepted(trySet(queue, policy(limit)));
  assertRefused(trySet(queue, policy(limit + 1)), 'OverLimit', text);
  assert.equal(queue.attributes('Policy')['Policy'], policy(limit));
  const attributes = { Policy: policy(limit + 1) };
  const created = queue.home.apply({ type: 'create-queue', queue: 'other', attributes, tags: {} });
  assertRefused(created, 'OverLimit', text);
}

test("a queue's policy has up to 8,192 bytes (6.8)", () => {
  const padded = (bytes: number): string => {
    const text = policyOf({ Sid: 'é', ...statement });
    return text.replace('{', `{${' '.repeat(bytes - Buffer.byteLength(text))}`);
  };
  assertLimit(8_192, padded, 'Submitted policy is over max allowed size.');
});

test("a queue's policy has up to 20 statements (6.8)", () => {
  const text = '21 statements were found in the submitted policy, max allowed is 20';
  assertLimit(20, (count) => policyOf(...listOf(count, '').map(() => statement)), text);
});

test('a statement has up to 7 actions, by either name (6.8)', () => {
  const text = '8 actions were found in a statement from the submitted policy, max allowed is 7';
  const { Action: _, ...others } = statement;
  for (const name of ['Action', 'NotAction']) {
    const policy = (count: number): string =>
      policyOf({ ...others, [name]: listOf(count, 'sqs:A') });
    assertLimit(7, policy, text);
  }
});

test('a statement has up to 50 principals, of all types together (6.8)', () => {
  const text =
    '51 principals were found in a statement from the submitted policy, max allowed is 50';
  const policy = (count: number): string =>
    policyOf({ ...statement, Principal: { AWS: listOf(count - 1, '1111222233'), Service: 'x' } });
  assertLimit(50, policy, text);
});

test('a statement has up to 10 conditions, of all operators together (6.8)', () => {
  const text =
    '11 conditions were found in a statement from the submitted policy, max allowed is 10';
  const policy = (count: number): string => {
    const StringLike = Object.fromEntries(listOf(count - 1, 'aws:k').map((key) => [key, 'x']));
    const Condition = { StringLike, ArnLike: { 'aws:SourceArn': 'x' } };
    return policyOf({ ...statement, Condition }, { ...statement, Condition: { StringLike } });
  };
  assertLimit(10, policy, text);
});

test('a permission must leave the policy within its bytes (6.8)', () => {
  const queue = openQueue();
  accepted(trySet(queue, policyOf({ ...statement, Sid: 'x'.repeat(8_000) })));
  const add = {
    type: 'add-permission',
    queue: queue.name,
    label: 'one',
    accounts: ['111122223333'],
    actions: ['SendMessage'],
  } as const;
  const text = 'Submitted policy is over max allowed size.';
  assertRefused(queue.home.apply(add), 'OverLimit', text);
});

test('a longer policy that is already stored loads, is shown, and allows nothing (6.8)', () => {
  const topic = openTopics({ arePoliciesEnforced: true }).createTopic('prices');
  const Policy = policyOf(statement).padEnd(8_193);
  const { queue } = topic.subscribeQueue('jobs');
  const changes = topic.home.changes.map((change: Change) =>
    change.kind === 'queue' && change.value !== null
      ? { ...change, value: { ...change.value, attributes: { Policy } } }
      : change,
  );
  const engine = new Engine({ arePoliciesEnforced: true });
  engine.absorb(changes, topic.home.now);
  const context = { now: topic.home.now, ids: { uuid: () => 'id' } };
  const asked = { type: 'get-attributes', queue: queue.name, names: ['Policy'] } as const;
  assert.equal(accepted(engine.apply(asked, context).outcome).attributes['Policy'], Policy);
  const entries = [{ message: 'hello' }];
  const about = { topicArn: topic.arn, isBatch: false, entries, baseUrl: 'http://x' };
  const { events } = engine.apply({ type: 'publish', ...about }, context);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['published', 'delivery-failed'],
  );
});
