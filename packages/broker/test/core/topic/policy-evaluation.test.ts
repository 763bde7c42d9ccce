/**
 * How a policy is evaluated, and that one which would be refused today allows nothing. Whether it is asked at all is in
 * conformance/topic/arrivals.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAllowed } from '../../../src/core/policy/is-allowed.ts';
import { type Policy, parsePolicy } from '../../../src/core/policy/policy.ts';
import { arnOf, startedAt } from '../fixture.ts';
import { openTopics, topicArnOf } from './fixture.ts';

function policyOf(...statements: object[]): Policy {
  const read = parsePolicy(JSON.stringify({ Statement: statements }));
  assert.ok(read.ok);
  return read.policy;
}

test('a policy is evaluated by principal, action, resource and conditions (12.1)', () => {
  const asked = {
    service: 'sns.amazonaws.com',
    action: 'sqs:SendMessage',
    resource: arnOf('jobs'),
    sourceArn: topicArnOf('prices'),
    sourceAccount: '000000000000',
  };
  const allow = { Effect: 'Allow', Principal: { Service: 'sns.amazonaws.com' }, Action: 'SQS:*' };
  const judge = (...statements: object[]) => isAllowed(policyOf(...statements), asked);
  assert.ok(judge(allow));
  assert.ok(judge({ ...allow, Principal: { AWS: '*' }, Resource: 'arn:aws:sqs:*:*:jobs' }));
  assert.ok(judge({ ...allow, Condition: { ArnLike: { 'aws:SourceArn': 'arn:aws:sns:*:*:p*' } } }));
  assert.ok(
    judge({
      ...allow,
      Condition: { StringEquals: { 'AWS:SourceAccount': ['1', asked.sourceAccount] } },
    }),
  );
  assert.ok(judge({ ...allow, Condition: { StringNotLike: { 'aws:SourceArn': '*other' } } }));
  assert.equal(judge({ ...allow, Effect: 'Deny' }, allow), false);
  assert.equal(judge({ ...allow, Principal: { Service: 's3.amazonaws.com' } }), false);
  assert.equal(judge({ ...allow, Action: 'sqs:ReceiveMessage' }), false);
  assert.equal(judge({ ...allow, Resource: arnOf('other') }), false);
  assert.equal(judge({ ...allow, Condition: { ArnEquals: { 'aws:SourceArn': 'x' } } }), false);
  const secure = (is: string) => ({ Condition: { Bool: { 'aws:SecureTransport': is } } });
  assert.ok(judge({ ...allow, ...secure('true') }));
  assert.ok(judge({ ...allow, Condition: { Bool: { 'aws:SecureTransport': true } } }));
  assert.ok(judge(allow, { ...allow, Effect: 'Deny', ...secure('false') }));
  assert.equal(judge(allow, { ...allow, Effect: 'Deny', ...secure('true') }), false);
  assert.equal(isAllowed(undefined, asked), false);
});

test('a Deny with a Not element applies to all others, and an unknown condition denies and never allows (12.1)', () => {
  const resource = arnOf('jobs');
  const asked = {
    service: 'sns.amazonaws.com',
    action: 'sqs:SendMessage',
    resource,
    sourceArn: topicArnOf('prices'),
    sourceAccount: '000000000000',
  };
  const allow = { Effect: 'Allow', Principal: '*', Action: 'sqs:*', Resource: resource };
  const deny = { ...allow, Effect: 'Deny' };
  const { Principal: _, ...denyWhom } = deny;
  const { Action: __, ...denyWhat } = deny;
  const { Resource: ___, ...denyWhere } = deny;
  const isDenied = (statement: object) => !isAllowed(policyOf(allow, statement), asked);
  const root = { AWS: 'arn:aws:iam::000000000000:root' };
  assert.ok(isDenied({ ...denyWhom, NotPrincipal: root }));
  assert.ok(!isDenied({ ...denyWhom, NotPrincipal: { Service: asked.service } }));
  assert.ok(isDenied({ ...denyWhat, NotAction: 'sqs:ReceiveMessage' }));
  assert.ok(!isDenied({ ...denyWhat, NotAction: 'sqs:SendMessage' }));
  assert.ok(isDenied({ ...denyWhere, NotResource: arnOf('other') }));
  assert.ok(!isDenied({ ...denyWhere, NotResource: resource }));
  for (const Condition of [
    { StringNotEquals: { 'aws:PrincipalOrgID': 'o-1' } },
    { 'ForAnyValue:ArnEquals': { 'aws:SourceArn': asked.sourceArn } },
    { 'ForAnyValue:StringEqualsIfExists': { 'aws:SourceAccount': asked.sourceAccount } },
  ]) {
    assert.ok(isDenied({ ...deny, Condition }));
    assert.equal(isAllowed(policyOf({ ...allow, Condition }), asked), false);
  }
});

test('a policy that was stored before it would be refused allows nothing (12.1)', () => {
  const home = openTopics({ arePoliciesEnforced: true });
  const topic = home.createTopic('prices');
  const { queue } = topic.subscribeQueue('jobs');
  const allow = { Effect: 'Allow', Principal: '*', Action: 'sqs:*' };
  for (const other of [
    { ...allow, Effect: 'deny' },
    { ...allow, Condition: { constructor: { 'aws:SourceArn': topic.arn } } },
    JSON.parse(
      `{"Effect":"Allow","Principal":"*","Action":"*","Condition":{"__proto__":{"a":"b"}}}`,
    ),
    { ...allow, Condition: [] },
    { ...allow, Principle: '*' },
  ]) {
    const Policy = JSON.stringify({ Statement: [allow, other] });
    const value = { createdAt: 1, modifiedAt: 1, secret: 's', attributes: { Policy }, tags: {} };
    home.engine.absorb([{ kind: 'queue', queue: 'jobs', value }], startedAt);
    topic.publish();
    assert.equal(queue.receive().length, 0, Policy);
  }
  assert.equal(home.told('delivery-failed').length, 5);
});
