/**
 * Amazon's quotas on the policies of topics, each at its edge; those of queues are in ../policy-quotas.
 */

import { test } from 'node:test';
import type { Outcome } from '../../../src/core/commands.ts';
import { accepted, assertRefused } from '../fixture.ts';
import { openTopic, type TestTopic } from './fixture.ts';

const statement = { Effect: 'Allow', Principal: '*', Action: 'sns:Publish' };

function policyOf(...statements: readonly object[]): string {
  return JSON.stringify({ Version: '2012-10-17', Statement: statements });
}

function listOf(count: number, word: string): string[] {
  return Array.from({ length: count }, (_, n) => `${word}${n}`);
}

function trySetTopic(topic: TestTopic, value: string): Outcome<'set-topic-attribute'> {
  return topic.trySet('Policy', value);
}

test("a topic's policy has up to 30,720 bytes, 100 statements and 200 principals (3.6)", () => {
  const topic = openTopic();
  const code = 'InvalidParameterException';
  const prefix = 'Invalid parameter: Policy Error: ';
  const padded = (bytes: number): string => policyOf(statement).padEnd(bytes);
  accepted(trySetTopic(topic, padded(30_720)));
  const bytes = `${prefix}30721 bytes were found, maximum allowed is 30720`;
  assertRefused(trySetTopic(topic, padded(30_721)), code, bytes);
  const many = (count: number): string => policyOf(...listOf(count, '').map(() => statement));
  accepted(trySetTopic(topic, many(100)));
  const statements = `${prefix}101 statements were found, maximum allowed is 100`;
  assertRefused(trySetTopic(topic, many(101)), code, statements);
  const shared = (count: number): string =>
    policyOf({ ...statement, Principal: { AWS: listOf(count, '1111222233') } });
  accepted(trySetTopic(topic, shared(200)));
  const principals = `${prefix}201 principals were found, maximum allowed is 200`;
  assertRefused(trySetTopic(topic, shared(201)), code, principals);
  const created = topic.home.tryCreateTopic('another', { Policy: many(101) });
  assertRefused(created, code, statements);
});

test('a permission must leave the policy of a topic within its statements (4.2)', () => {
  const topic = openTopic();
  accepted(trySetTopic(topic, policyOf(...listOf(100, '').map(() => statement))));
  const added = topic.home.apply({
    type: 'add-topic-permission',
    topicArn: topic.arn,
    label: 'one',
    accounts: ['111122223333'],
    actions: ['Publish'],
  });
  const text = 'Invalid parameter: Policy Error: 101 statements were found, maximum allowed is 100';
  assertRefused(added, 'InvalidParameterException', text);
});
