/**
 * What arrives in a queue, and what does not (§9, §12): the envelope and raw delivery, ids, attributes, signatures; policies,
 * queues that no longer exist, and dead-letter queues.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAllowed } from '../../../src/core/policy/is-allowed.ts';
import { type Policy, parsePolicy } from '../../../src/core/policy/policy.ts';
import { accepted, arnOf, startedAt } from '../fixture.ts';
import { baseUrl, openTopic, openTopics, type TestTopic, topicArnOf } from './fixture.ts';

const kind = { name: 'kind', type: 'String', stringValue: 'price' };
const bytes = { name: 'bytes', type: 'Binary.jpg', binaryValue: Uint8Array.of(0, 255) };

test('an envelope has its fields in the order of AWS, one per line (9.1)', () => {
  const topic = openTopic({ fifo: true });
  const queue = topic.home.createQueue('jobs.fifo');
  const subscriptionArn = topic.subscribe(queue);
  const { messageId } = topic.publish({ subject: 'Über', attributes: [kind] });
  const { body } = queue.receiveOne();
  assert.equal(
    body,
    `{
  "Type" : "Notification",
  "MessageId" : "${messageId}",
  "SequenceNumber" : "18800000000000000002",
  "TopicArn" : "${topic.arn}",
  "Subject" : "Über",
  "Message" : "hello",
  "Timestamp" : "2023-11-14T22:13:20.000Z",
  "UnsubscribeURL" : "${baseUrl}/?Action=Unsubscribe&SubscriptionArn=${subscriptionArn}",
  "MessageAttributes" : {
    "kind" : {"Type":"String","Value":"price"}
  }
}`,
  );
});

test('fields without a value are absent (9.1)', () => {
  const topic = openTopic();
  const queue = topic.home.createQueue('jobs');
  topic.subscribe(queue);
  topic.publish({ message: 'a "b"\n😀' });
  const envelope = JSON.parse(queue.receiveOne().body);
  assert.deepEqual(Object.keys(envelope), [
    'Type',
    'MessageId',
    'TopicArn',
    'Message',
    'Timestamp',
    'UnsubscribeURL',
  ]);
  assert.equal(envelope.Message, 'a "b"\n😀');
});

const signer = {
  certificatePath: '/cert.pem',
  sign: (text: string, version: '1' | '2') => `${version}:${text}`,
};

test('standard topics sign envelopes, FIFO topics do not (9.2)', () => {
  const home = openTopics({ signer });
  for (const [name, isSigned] of [
    ['prices', true],
    ['prices.fifo', false],
  ] as const) {
    const topic = home.createTopic(name);
    const queue = home.createQueue(name.replace('prices', 'jobs'));
    topic.subscribe(queue);
    topic.publish();
    assert.equal('Signature' in JSON.parse(queue.receiveOne().body), isSigned);
  }
});

test('the signature covers six fields, with each name and value on its own line (9.4)', () => {
  const home = openTopics({ signer });
  const topic = home.createTopic('prices', { SignatureVersion: '2' });
  const queue = home.createQueue('jobs');
  topic.subscribe(queue);
  const { messageId } = topic.publish({ subject: 's' });
  const { Signature, SignatureVersion, SigningCertURL } = JSON.parse(queue.receiveOne().body);
  assert.equal(SignatureVersion, '2');
  assert.equal(SigningCertURL, `${baseUrl}/cert.pem`);
  assert.equal(
    Signature,
    `2:Message\nhello\nMessageId\n${messageId}\nSubject\ns\nTimestamp\n2023-11-14T22:13:20.000Z\nTopicArn\n${topic.arn}\nType\nNotification\n`,
  );
});

test('an envelope carries attributes with type and value, and the message itself has none (9.3)', () => {
  const topic = openTopic();
  const queue = topic.home.createQueue('jobs');
  topic.subscribe(queue);
  topic.publish({ attributes: [kind, bytes] });
  const { body, content } = queue.receiveOne();
  assert.deepEqual(JSON.parse(body).MessageAttributes, {
    kind: { Type: 'String', Value: 'price' },
    bytes: { Type: 'Binary.jpg', Value: 'AP8=' },
  });
  assert.deepEqual(content.attributes, []);
});

test('a raw delivery is the message alone, with its attributes (9.5)', () => {
  const topic = openTopic();
  const { queue } = topic.subscribeQueue('jobs');
  topic.publish({ subject: 'dropped', attributes: [kind, bytes] });
  const { body, content } = queue.receiveOne();
  assert.equal(body, 'hello');
  assert.deepEqual(content.attributes, [
    { name: 'kind', type: 'String', value: 'price' },
    { name: 'bytes', type: 'Binary.jpg', value: Uint8Array.of(0, 255) },
  ]);
});

test('more than ten attributes fail a raw delivery, but not an envelope (9.5)', () => {
  const topic = openTopic();
  const { queue: raw } = topic.subscribeQueue('raw');
  const wrapped = topic.home.createQueue('wrapped');
  topic.subscribe(wrapped);
  const attributes = Array.from({ length: 11 }, (_, at) => ({ ...kind, name: `k${at}` }));
  topic.publish({ attributes });
  assert.deepEqual([raw.receive().length, wrapped.receive().length], [0, 1]);
  const [failure] = topic.home.told('delivery-failed');
  assert.match(failure?.reason ?? '', /Number of message attributes \[11\]/);
});

test('a raw delivery with more than ten attributes becomes a dead letter in its envelope, with all of them (9.5)', () => {
  const topic = openTopic();
  const dead = topic.home.createQueue('dead');
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.arn });
  const { queue: raw } = topic.subscribeQueue('raw', { RedrivePolicy });
  const attributes = Array.from({ length: 11 }, (_, at) => ({ ...kind, name: `k${at}` }));
  topic.publish({ attributes });
  assert.equal(raw.receive().length, 0);
  const letter = dead.receiveOne();
  const { Message, MessageAttributes } = JSON.parse(letter.body);
  assert.equal(Message, 'hello');
  assert.equal(Object.keys(MessageAttributes).length, 11);
  assert.equal(letter.content.attributes.length, 0);
  assert.equal(topic.home.told('delivery-failed')[0]?.deadLetterQueue, 'dead');
});

test('an envelope carries text that no queue accepts raw (9.1)', () => {
  const topic = openTopic();
  const queue = topic.home.createQueue('jobs');
  topic.subscribe(queue);
  const text = 'a\u0001\uFFFE\uFFFFb';
  topic.publish({
    message: text,
    attributes: [{ name: 'n', type: 'String', stringValue: text }],
  });
  const { Message, MessageAttributes } = JSON.parse(queue.receiveOne().body);
  assert.deepEqual([Message, MessageAttributes.n.Value], [text, text]);
});

test('a message that no queue accepts raw becomes a dead letter in its envelope (9.5)', () => {
  const number = { name: 'n', type: 'Number', stringValue: '1'.repeat(50) };
  const structure = { structure: 'json', message: '{"default":"d","sqs":""}' } as const;
  for (const publication of [{ attributes: [number] }, { message: 'a\u0001b' }, structure]) {
    const topic = openTopic();
    const dead = topic.home.createQueue('dead');
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.arn });
    const { queue: raw } = topic.subscribeQueue('raw', { RedrivePolicy });
    topic.publish(publication);
    assert.equal(raw.receive().length, 0);
    assert.equal(JSON.parse(dead.receiveOne().body).Type, 'Notification');
  }
});

test('group and deduplication id reach a FIFO queue, but not a standard queue of a FIFO topic (9.6)', () => {
  const topic = openTopic({ fifo: true });
  const fifo = topic.home.createQueue('jobs.fifo', { ContentBasedDeduplication: 'true' });
  topic.subscribe(fifo);
  const { queue: standard } = topic.subscribeQueue('jobs');
  topic.publish({ groupId: 'part', deduplicationId: 'd' });
  const inFifo = fifo.receiveOne();
  assert.deepEqual([inFifo.groupId, inFifo.content.deduplicationId], ['part', 'd']);
  const { groupId, deduplicationId } = standard.receiveOne().content;
  assert.deepEqual([groupId, deduplicationId], [undefined, undefined]);
});

test('a delivered message gets its sequence number from the queue, not from the topic (9.7)', () => {
  const topic = openTopic({ fifo: true });
  const { queue } = topic.subscribeQueue('jobs.fifo');
  queue.send();
  queue.send();
  const { sequence } = topic.publish({ groupId: 'other' });
  const message = queue.receive().find(({ groupId }) => groupId === 'other');
  assert.notEqual(message?.sequence, sequence);
});

function policyFor(topic: TestTopic, condition?: object): string {
  const statement = {
    Effect: 'Allow',
    Principal: { Service: 'sns.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Resource: arnOf('jobs'),
    Condition: condition ?? { ArnEquals: { 'aws:SourceArn': topic.arn } },
  };
  return JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
}

function policyOf(...statements: object[]): Policy {
  const read = parsePolicy(JSON.stringify({ Statement: statements }));
  assert.ok(read.ok);
  return read.policy;
}

test('where policies are enforced, the queue must allow the topic to send (12.1, 12.2)', () => {
  const home = openTopics({ arePoliciesEnforced: true });
  const topic = home.createTopic('prices');
  const { queue } = topic.subscribeQueue('jobs');
  const { queue: other } = topic.subscribeQueue('open');
  other.set({ Policy: '{"Statement":{"Effect":"Allow","Principal":"*","Action":"sqs:*"}}' });
  topic.publish({ message: 'lost' });
  queue.set({ Policy: policyFor(topic) });
  topic.publish({ message: 'kept' });
  assert.deepEqual(queue.receiveBodies(), ['kept']);
  assert.deepEqual(other.receiveBodies(), ['lost', 'kept']);
  const failures = home.told('delivery-failed');
  assert.equal(failures.length, 1);
  assert.match(failures[0]?.reason ?? '', /policy of jobs does not allow/);
});

test('where policies are not enforced, no policy is needed (12.1)', () => {
  const topic = openTopic();
  const { queue } = topic.subscribeQueue('jobs');
  topic.publish();
  assert.equal(queue.receive().length, 1);
});

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

test('a deleted queue loses only its own messages, and its subscription stays (12.2, 12.6)', () => {
  const topic = openTopic();
  const { queue, subscriptionArn } = topic.subscribeQueue('jobs');
  const { queue: other } = topic.subscribeQueue('other');
  queue.delete();
  topic.publish();
  assert.equal(other.receive().length, 1);
  const [failure] = topic.home.told('delivery-failed');
  assert.deepEqual(
    [failure?.reason, failure?.deadLetterQueue],
    [`there is no queue ${queue.arn}`, undefined],
  );
  assert.equal(topic.attributesOf(subscriptionArn)['Endpoint'], queue.arn);
});

test('an undeliverable message goes to the dead-letter queue in the form it would have arrived (12.4, 12.5)', () => {
  const topic = openTopic({ fifo: true });
  const dead = topic.home.createQueue('dead.fifo');
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.arn });
  const { queue } = topic.subscribeQueue('jobs.fifo', { RedrivePolicy });
  queue.delete();
  topic.publish({ message: '1', groupId: 'a', deduplicationId: 'd1', attributes: [kind] });
  topic.publish({ message: '2', groupId: 'a', deduplicationId: 'd2' });
  const messages = dead.receive();
  assert.deepEqual(
    messages.map(({ body, groupId, content }) => [body, groupId, content.deduplicationId]),
    [
      ['1', 'a', 'd1'],
      ['2', 'a', 'd2'],
    ],
  );
  assert.equal(messages[0]?.content.attributes[0]?.name, 'kind');
  assert.equal(topic.home.told('delivery-failed')[0]?.deadLetterQueue, 'dead.fifo');
});

test('a failure of the dead-letter queue is reported after the first reason (12.4)', () => {
  const topic = openTopic();
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arnOf('dead') });
  const { queue } = topic.subscribeQueue('jobs', { RedrivePolicy });
  queue.delete();
  topic.publish();
  const [failure] = topic.home.told('delivery-failed');
  assert.equal(
    failure?.reason,
    `there is no queue ${queue.arn}; its dead-letter queue: there is no queue ${arnOf('dead')}`,
  );
});

test('the time in an envelope is the time of publication (9.1)', () => {
  const topic = openTopic();
  const queue = topic.home.createQueue('jobs');
  accepted(topic.trySubscribe({ endpoint: queue.arn }));
  topic.home.now = startedAt + 86_400_000 + 1;
  topic.publish();
  assert.equal(JSON.parse(queue.receiveOne().body).Timestamp, '2023-11-15T22:13:20.001Z');
});
