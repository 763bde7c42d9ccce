/**
 * SNS on the wire (§1): which requests belong to SNS on a port that serves both, how lists and maps are spelled, and what
 * answers look like. Each action is called once in ../conformance/topic/every-action.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiResponse } from '../../src/api/request.ts';
import { account, type Json, requestId, TestApi } from './fixture.ts';

const prices = `arn:aws:sns:us-east-1:${account}:prices`;
const jobs = `arn:aws:sqs:us-east-1:${account}:jobs`;

describe('which service a request is for (1.1, 1.2)', () => {
  test('the API version decides', async () => {
    const api = new TestApi();
    await api.createQueue('jobs');
    await api.told('CreateTopic', { Name: 'prices' });
    const label = { Label: 'x', 'AWSAccountId.1': '111111111111', 'ActionName.1': 'SendMessage' };
    const asQueue = await api.query('AddPermission', {
      Version: '2012-11-05',
      QueueUrl: 'jobs',
      ...label,
    });
    assert.equal(asQueue.status, 200, asQueue.body);
    const asTopic = await api.sns('AddPermission', {
      TopicArn: prices,
      Label: 'x',
      'AWSAccountId.member.1': '111111111111',
      'ActionName.member.1': 'Publish',
    });
    assert.equal(asTopic.status, 200, asTopic.body);
  });

  test('without a version the credential scope decides, and then the action', async () => {
    const api = new TestApi();
    const authorization =
      'AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/sns/aws4_request, SignedHeaders=host';
    const scoped = await api.query('AddPermission', {}, { headers: { authorization } });
    assert.ok(scoped.body.includes('sns.amazonaws.com'), scoped.body);
    const byName = await api.query('ListTopics');
    assert.equal(byName.root, 'ListTopicsResponse');
    const byParameter = await api.query('RemovePermission', { TopicArn: prices, Label: 'x' });
    assert.equal(byParameter.value.Error.Code, 'NotFound');
    assert.equal((await api.query('RemovePermission', { Label: 'x' })).status, 400);
  });

  test('parameters may be in the URL, with GET or POST', async () => {
    const api = new TestApi();
    const query = 'Action=CreateTopic&Name=prices&Version=2010-03-31';
    for (const method of ['GET', 'POST']) {
      const { status, body } = await api.send({ method, query });
      assert.equal(status, 200);
      assert.ok(body.includes(`<TopicArn>${prices}</TopicArn>`));
    }
  });

  test('an SNS action that this server does not support is refused as invalid', async () => {
    const reply = await new TestApi().sns('CreatePlatformApplication');
    assert.equal(reply.status, 400);
    assert.equal(reply.value.Error.Code, 'InvalidAction');
  });
});

test('an answer has its result and the request id in the namespace of SNS (1.4)', async () => {
  const api = new TestApi();
  const reply = await api.sns('CreateTopic', { Name: 'prices' });
  assert.equal(
    reply.body,
    `<?xml version="1.0"?><CreateTopicResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><CreateTopicResult><TopicArn>${prices}</TopicArn></CreateTopicResult><ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata></CreateTopicResponse>`,
  );
});

test('actions without output have no result element, tagging has an empty one (1.4)', async () => {
  const api = new TestApi();
  await api.told('CreateTopic', { Name: 'prices' });
  const set = await api.sns('SetTopicAttributes', {
    TopicArn: prices,
    AttributeName: 'DisplayName',
    AttributeValue: 'x',
  });
  assert.deepEqual(Object.keys(set.value), ['ResponseMetadata']);
  const tag = { ResourceArn: prices, 'Tags.member.1.Key': 'k', 'Tags.member.1.Value': 'v' };
  const tagged = await api.sns('TagResource', tag);
  assert.deepEqual(Object.keys(tagged.value), ['TagResourceResult', 'ResponseMetadata']);
});

test('lists and maps have members and entries, and empty ones an empty element (1.3)', async () => {
  const api = new TestApi();
  assert.equal((await api.told('ListTopics')).Topics, '');
  await api.told('CreateTopic', {
    Name: 'prices',
    'Attributes.entry.1.key': 'DisplayName',
    'Attributes.entry.1.value': 'Prices',
    'Tags.member.1.Key': 'team',
    'Tags.member.1.Value': 'parts',
  });
  assert.deepEqual(await api.told('ListTopics'), { Topics: { member: { TopicArn: prices } } });
  assert.deepEqual(await api.told('ListTagsForResource', { ResourceArn: prices }), {
    Tags: { member: { Key: 'team', Value: 'parts' } },
  });
  const { Attributes } = await api.told('GetTopicAttributes', { TopicArn: prices });
  const shown = Attributes.entry.find(({ key }: { key: string }) => key === 'DisplayName');
  assert.equal(shown.value, 'Prices');
});

test('a page of subscriptions ends with a token, and an unknown token is refused', async () => {
  const api = new TestApi();
  await api.told('CreateTopic', { Name: 'prices' });
  for (let at = 0; at < 101; at += 1) {
    await api.told('Subscribe', { TopicArn: prices, Protocol: 'sqs', Endpoint: `${jobs}${at}` });
  }
  const first = await api.told('ListSubscriptionsByTopic', { TopicArn: prices });
  assert.equal(first.Subscriptions.member.length, 100);
  const rest = await api.told('ListSubscriptions', { NextToken: first.NextToken });
  assert.equal(rest.Subscriptions.member.Endpoint, `${jobs}100`);
  assert.equal(rest.NextToken, undefined);
  const refused = await api.sns('ListSubscriptions', { NextToken: 'bm8=' });
  assert.equal(refused.value.Error.Message, 'Invalid parameter: NextToken');
});

test('an HTTP subscription is pending, and its ARN is returned on request (5.5)', async () => {
  const api = new TestApi();
  await api.told('CreateTopic', { Name: 'prices' });
  const target = { TopicArn: prices, Protocol: 'http', Endpoint: 'http://a.example/' };
  const pending = await api.told('Subscribe', target);
  assert.equal(pending.SubscriptionArn, 'pending confirmation');
  const asked = await api.told('Subscribe', { ...target, ReturnSubscriptionArn: 'true' });
  assert.ok(asked.SubscriptionArn.startsWith(`${prices}:`));
  const { Subscriptions } = await api.told('ListSubscriptions');
  assert.equal(Subscriptions.member.SubscriptionArn, 'PendingConfirmation');
});

test('publishing to a phone number is refused, and TargetArn works like TopicArn (6.1)', async () => {
  const api = new TestApi();
  await api.told('CreateTopic', { Name: 'prices' });
  const phone = await api.sns('Publish', { PhoneNumber: '+1', Message: 'x' });
  assert.equal(phone.value.Error.Code, 'InvalidParameter');
  const { MessageId, SequenceNumber } = await api.told('Publish', {
    TargetArn: prices,
    Message: 'x',
  });
  assert.match(MessageId, /^[0-9a-f-]{36}$/);
  assert.equal(SequenceNumber, undefined);
});

test('a publication to a mobile device finds no endpoint (6.1)', async () => {
  const api = new TestApi();
  const device = `arn:aws:sns:us-east-1:${account}:endpoint/APNS/app/0f7d5971-aa8b-4bd5-b585-0826e9f93a66`;
  const refused = await api.sns('Publish', { TargetArn: device, Message: 'x' });
  assert.equal(refused.status, 400);
  assert.equal(refused.value.Error.Code, 'InvalidParameter');
  assert.equal(
    refused.value.Error.Message,
    'Invalid parameter: TargetArn Reason: No endpoint found for the target arn specified',
  );
});

test('a publication without a target names both parameters that could give one (1.6, 6.1)', async () => {
  const refused = await new TestApi().sns('Publish', { Message: 'x' });
  assert.equal(refused.status, 400);
  assert.equal(
    refused.value.Error.Message,
    'Invalid parameter: TopicArn or TargetArn Reason: no value for required parameter',
  );
});

test('a missing required parameter is refused, and an empty list is not missing (1.6)', async () => {
  const api = new TestApi();
  await api.told('CreateTopic', { Name: 'prices' });
  const missing: readonly [string, string, string][] = [
    ['TagResource', 'ResourceArn', 'Tags'],
    ['UntagResource', 'ResourceArn', 'TagKeys'],
    ['PutDataProtectionPolicy', 'ResourceArn', 'DataProtectionPolicy'],
    ['ConfirmSubscription', 'TopicArn', 'Token'],
  ];
  for (const [action, arn, name] of missing) {
    const reply = await api.sns(action, { [arn]: prices });
    assert.equal(reply.status, 400, reply.body);
    const { Code, Message } = reply.value.Error;
    const text = `Invalid parameter: ${name} Reason: no value for required parameter`;
    assert.deepEqual([Code, Message], ['InvalidParameter', text]);
  }
  // AWS clients write an empty list as a parameter without a value.
  await api.told('TagResource', { ResourceArn: prices, Tags: '' });
  await api.told('UntagResource', { ResourceArn: prices, TagKeys: '' });
});

test('a tag without a key or a value is a validation error that gives its position (1.6)', async () => {
  const api = new TestApi();
  await api.told('CreateTopic', { Name: 'prices' });
  const first = { 'Tags.member.1.Key': 'a', 'Tags.member.1.Value': '' };
  for (const [given, absent] of [
    ['Key', 'value'],
    ['Value', 'key'],
  ]) {
    const tags = { ...first, [`Tags.member.2.${given}`]: 'b' };
    for (const [action, target] of [
      ['TagResource', { ResourceArn: prices }],
      ['CreateTopic', { Name: 'others' }],
    ] as const) {
      const reply = await api.sns(action, { ...target, ...tags });
      assert.equal(reply.status, 400, reply.body);
      const { Code, Message } = reply.value.Error;
      const text = `1 validation error detected: Value null at 'tags.2.member.${absent}' failed to satisfy constraint: Member must not be null`;
      assert.deepEqual([Code, Message], ['ValidationError', text]);
    }
  }
});

test('links in an envelope start with the URL the publisher used', async () => {
  const api = new TestApi({ publicUrl: 'https://mq.example' });
  await api.told('CreateTopic', { Name: 'prices' });
  const queueUrl = await api.createQueue('jobs');
  const target = { TopicArn: prices, Protocol: 'sqs', Endpoint: jobs };
  const { SubscriptionArn } = await api.told('Subscribe', target);
  await api.told('Publish', { TopicArn: prices, Message: 'x' });
  const { UnsubscribeURL } = JSON.parse((await api.receiveOne(queueUrl)).Body);
  assert.equal(
    UnsubscribeURL,
    `https://mq.example/?Action=Unsubscribe&SubscriptionArn=${SubscriptionArn}`,
  );
});

describe('answers in JSON, as boto 2 requests them', () => {
  const asked = { Version: '2010-03-31', ContentType: 'JSON' };

  test('lists and maps are plain JSON, and an absent token is null', async () => {
    const api = new TestApi();
    const tell = async (action: string, parameters = {}): Promise<Json> => {
      const { status, body } = await sendForm(api, { Action: action, ...asked, ...parameters });
      assert.equal(status, 200, body);
      return JSON.parse(body)[`${action}Response`];
    };
    const ResponseMetadata = { RequestId: requestId };
    const none = { Topics: [], NextToken: null };
    assert.deepEqual(await tell('ListTopics'), { ListTopicsResult: none, ResponseMetadata });
    assert.deepEqual(await tell('CreateTopic', { Name: 'prices' }), {
      CreateTopicResult: { TopicArn: prices },
      ResponseMetadata,
    });
    const { ListTopicsResult } = await tell('ListTopics');
    assert.deepEqual(ListTopicsResult, { Topics: [{ TopicArn: prices }], NextToken: null });
    const { GetTopicAttributesResult } = await tell('GetTopicAttributes', { TopicArn: prices });
    assert.equal(GetTopicAttributesResult.Attributes.TopicArn, prices);
    assert.deepEqual(await tell('DeleteTopic', { TopicArn: prices }), { ResponseMetadata });
  });

  test('errors are JSON too, even for an unknown action', async () => {
    const api = new TestApi();
    for (const [Action, code] of [
      ['Publish', 'NotFound'],
      ['Broadcast', 'InvalidAction'],
    ]) {
      const form = { Action: String(Action), ...asked, TopicArn: prices, Message: 'x' };
      assert.equal(JSON.parse((await sendForm(api, form)).body).Error.Code, code);
    }
  });
});

function sendForm(api: TestApi, form: Record<string, string>): Promise<ApiResponse> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return api.send({ headers, body: new URLSearchParams(form).toString() });
}
