/**
 * Amazon's quotas on the policies of topics, each at its edge; those of queues are in ../policy-quotas.
 */

import type { Outcome } from '../../../src/core/commands.ts';
import { accepted, assertRefused, type TestTopic, test } from '../fixture.ts';

const statement = { Effect: 'Allow', Principal: '*', Action: 'sns:Publish' };

function policyOf(...statements: readonly object[]): string {
  return JSON.stringify({ Version: '2012-10-17', Statement: statements });
}

function listOf(count: number, word: string): string[] {
  return Array.from({ length: count }, (_, n) => `${word}${n}`);
}

async function trySetTopic(
  topic: TestTopic,
  value: string,
): Promise<Outcome<'set-topic-attribute'>> {
  return await topic.trySet('Policy', value);
}

test("a topic's policy has up to 30,720 bytes, 100 statements and 200 principals (3.6)", async (open) => {
  const topic = await open.topic();
  const code = 'InvalidParameterException';
  const prefix = 'Invalid parameter: Policy Error: ';
  const padded = (bytes: number): string => policyOf(statement).padEnd(bytes);
  accepted(await trySetTopic(topic, padded(30_720)));
  const bytes = `${prefix}30721 bytes were found, maximum allowed is 30720`;
  assertRefused(await trySetTopic(topic, padded(30_721)), code, bytes);
  const many = (count: number): string => policyOf(...listOf(count, '').map(() => statement));
  accepted(await trySetTopic(topic, many(100)));
  const statements = `${prefix}101 statements were found, maximum allowed is 100`;
  assertRefused(await trySetTopic(topic, many(101)), code, statements);
  const shared = (count: number): string =>
    policyOf({ ...statement, Principal: { AWS: listOf(count, '1111222233') } });
  accepted(await trySetTopic(topic, shared(200)));
  const principals = `${prefix}201 principals were found, maximum allowed is 200`;
  assertRefused(await trySetTopic(topic, shared(201)), code, principals);
  const created = await topic.home.tryCreateTopic('another', { Policy: many(101) });
  assertRefused(created, code, statements);
});

test('a permission must leave the policy of a topic within its statements (4.2)', async (open) => {
  const topic = await open.topic();
  accepted(await trySetTopic(topic, policyOf(...listOf(100, '').map(() => statement))));
  const added = await topic.home.run({
    type: 'add-topic-permission',
    topicArn: topic.arn,
    label: 'one',
    accounts: ['111122223333'],
    actions: ['Publish'],
  });
  const text = 'Invalid parameter: Policy Error: 101 statements were found, maximum allowed is 100';
  assertRefused(added, 'InvalidParameterException', text);
});
