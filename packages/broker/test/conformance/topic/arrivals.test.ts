/**
 * What arrives in a queue, and what does not (§9, §12): the envelope and raw delivery, ids, attributes, signatures; policies,
 * queues that no longer exist, and dead-letter queues.
 */

import assert from 'node:assert/strict';
import { accepted, arnOf, baseUrl, type TestTopic, test } from '../fixture.ts';

const kind = { name: 'kind', type: 'String', stringValue: 'price' };
const bytes = { name: 'bytes', type: 'Binary.jpg', binaryValue: Uint8Array.of(0, 255) };

test('an envelope has its fields in the order of AWS, one per line (9.1)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const queue = await topic.home.createQueue('jobs.fifo');
  const subscriptionArn = await topic.subscribe(queue);
  const { messageId } = await topic.publish({ subject: 'Über', attributes: [kind] });
  const { body } = await queue.receiveOne();
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

test('fields without a value are absent (9.1)', async (open) => {
  const topic = await open.topic();
  const queue = await topic.home.createQueue('jobs');
  await topic.subscribe(queue);
  await topic.publish({ message: 'a "b"\n😀' });
  const envelope = JSON.parse((await queue.receiveOne()).body);
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

test('standard topics sign envelopes, FIFO topics do not (9.2)', async (open) => {
  const home = await open.home({ signer });
  for (const [name, isSigned] of [
    ['prices', true],
    ['prices.fifo', false],
  ] as const) {
    const topic = await home.createTopic(name);
    const queue = await home.createQueue(name.replace('prices', 'jobs'));
    await topic.subscribe(queue);
    await topic.publish();
    assert.equal('Signature' in JSON.parse((await queue.receiveOne()).body), isSigned);
  }
});

test('the signature covers six fields, with each name and value on its own line (9.4)', async (open) => {
  const home = await open.home({ signer });
  const topic = await home.createTopic('prices', { SignatureVersion: '2' });
  const queue = await home.createQueue('jobs');
  await topic.subscribe(queue);
  const { messageId } = await topic.publish({ subject: 's' });
  const { Signature, SignatureVersion, SigningCertURL } = JSON.parse(
    (await queue.receiveOne()).body,
  );
  assert.equal(SignatureVersion, '2');
  assert.equal(SigningCertURL, `${baseUrl}/cert.pem`);
  assert.equal(
    Signature,
    `2:Message\nhello\nMessageId\n${messageId}\nSubject\ns\nTimestamp\n2023-11-14T22:13:20.000Z\nTopicArn\n${topic.arn}\nType\nNotification\n`,
  );
});

test('an envelope carries attributes with type and value, and the message itself has none (9.3)', async (open) => {
  const topic = await open.topic();
  const queue = await topic.home.createQueue('jobs');
  await topic.subscribe(queue);
  await topic.publish({ attributes: [kind, bytes] });
  const { body, content } = await queue.receiveOne();
  assert.deepEqual(JSON.parse(body).MessageAttributes, {
    kind: { Type: 'String', Value: 'price' },
    bytes: { Type: 'Binary.jpg', Value: 'AP8=' },
  });
  assert.deepEqual(content.attributes, []);
});

test('a raw delivery is the message alone, with its attributes (9.5)', async (open) => {
  const topic = await open.topic();
  const { queue } = await topic.subscribeQueue('jobs');
  await topic.publish({ subject: 'dropped', attributes: [kind, bytes] });
  const { body, content } = await queue.receiveOne();
  assert.equal(body, 'hello');
  assert.deepEqual(content.attributes, [
    { name: 'kind', type: 'String', value: 'price' },
    { name: 'bytes', type: 'Binary.jpg', value: Uint8Array.of(0, 255) },
  ]);
});

test('more than ten attributes fail a raw delivery, but not an envelope (9.5)', async (open) => {
  const topic = await open.topic();
  const { queue: raw } = await topic.subscribeQueue('raw');
  const wrapped = await topic.home.createQueue('wrapped');
  await topic.subscribe(wrapped);
  const attributes = Array.from({ length: 11 }, (_, at) => ({ ...kind, name: `k${at}` }));
  await topic.publish({ attributes });
  assert.deepEqual([(await raw.receive()).length, (await wrapped.receive()).length], [0, 1]);
  const [failure] = await topic.home.told('delivery-failed');
  assert.match(failure?.reason ?? '', /Number of message attributes \[11\]/);
});

test('a raw delivery with more than ten attributes becomes a dead letter in its envelope, with all of them (9.5)', async (open) => {
  const topic = await open.topic();
  const dead = await topic.home.createQueue('dead');
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.arn });
  const { queue: raw } = await topic.subscribeQueue('raw', { RedrivePolicy });
  const attributes = Array.from({ length: 11 }, (_, at) => ({ ...kind, name: `k${at}` }));
  await topic.publish({ attributes });
  assert.equal((await raw.receive()).length, 0);
  const letter = await dead.receiveOne();
  const { Message, MessageAttributes } = JSON.parse(letter.body);
  assert.equal(Message, 'hello');
  assert.equal(Object.keys(MessageAttributes).length, 11);
  assert.equal(letter.content.attributes.length, 0);
  assert.equal((await topic.home.told('delivery-failed'))[0]?.deadLetterQueue, 'dead');
});

test('an envelope carries text that no queue accepts raw (9.1)', async (open) => {
  const topic = await open.topic();
  const queue = await topic.home.createQueue('jobs');
  await topic.subscribe(queue);
  const text = 'a\u0001\uFFFE\uFFFFb';
  await topic.publish({
    message: text,
    attributes: [{ name: 'n', type: 'String', stringValue: text }],
  });
  const { Message, MessageAttributes } = JSON.parse((await queue.receiveOne()).body);
  assert.deepEqual([Message, MessageAttributes.n.Value], [text, text]);
});

test('a message that no queue accepts raw becomes a dead letter in its envelope (9.5)', async (open) => {
  const number = { name: 'n', type: 'Number', stringValue: '1'.repeat(50) };
  const structure = { structure: 'json', message: '{"default":"d","sqs":""}' } as const;
  for (const publication of [{ attributes: [number] }, { message: 'a\u0001b' }, structure]) {
    const topic = await open.topic();
    const dead = await topic.home.createQueue('dead');
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.arn });
    const { queue: raw } = await topic.subscribeQueue('raw', { RedrivePolicy });
    await topic.publish(publication);
    assert.equal((await raw.receive()).length, 0);
    assert.equal(JSON.parse((await dead.receiveOne()).body).Type, 'Notification');
  }
});

test('group and deduplication id reach a FIFO queue, but not a standard queue of a FIFO topic (9.6)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const fifo = await topic.home.createQueue('jobs.fifo', { ContentBasedDeduplication: 'true' });
  await topic.subscribe(fifo);
  const { queue: standard } = await topic.subscribeQueue('jobs');
  await topic.publish({ groupId: 'part', deduplicationId: 'd' });
  const inFifo = await fifo.receiveOne();
  assert.deepEqual([inFifo.groupId, inFifo.content.deduplicationId], ['part', 'd']);
  const { groupId, deduplicationId } = (await standard.receiveOne()).content;
  assert.deepEqual([groupId, deduplicationId], [undefined, undefined]);
});

test('a delivered message gets its sequence number from the queue, not from the topic (9.7)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const { queue } = await topic.subscribeQueue('jobs.fifo');
  await queue.send();
  await queue.send();
  const { sequence } = await topic.publish({ groupId: 'other' });
  const message = (await queue.receive()).find(({ groupId }) => groupId === 'other');
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

test('where policies are enforced, the queue must allow the topic to send (12.1, 12.2)', async (open) => {
  const home = await open.home({ arePoliciesEnforced: true });
  const topic = await home.createTopic('prices');
  const { queue } = await topic.subscribeQueue('jobs');
  const { queue: other } = await topic.subscribeQueue('open');
  await other.set({ Policy: '{"Statement":{"Effect":"Allow","Principal":"*","Action":"sqs:*"}}' });
  await topic.publish({ message: 'lost' });
  await queue.set({ Policy: policyFor(topic) });
  await topic.publish({ message: 'kept' });
  assert.deepEqual(await queue.receiveBodies(), ['kept']);
  assert.deepEqual(await other.receiveBodies(), ['lost', 'kept']);
  const failures = await home.told('delivery-failed');
  assert.equal(failures.length, 1);
  assert.match(failures[0]?.reason ?? '', /policy of jobs does not allow/);
});

test('where policies are not enforced, no policy is needed (12.1)', async (open) => {
  const topic = await open.topic();
  const { queue } = await topic.subscribeQueue('jobs');
  await topic.publish();
  assert.equal((await queue.receive()).length, 1);
});

test('a deleted queue loses only its own messages, and its subscription stays (12.2, 12.6)', async (open) => {
  const topic = await open.topic();
  const { queue, subscriptionArn } = await topic.subscribeQueue('jobs');
  const { queue: other } = await topic.subscribeQueue('other');
  await queue.delete();
  await topic.publish();
  assert.equal((await other.receive()).length, 1);
  const [failure] = await topic.home.told('delivery-failed');
  assert.deepEqual(
    [failure?.reason, failure?.deadLetterQueue],
    [`there is no queue ${queue.arn}`, undefined],
  );
  assert.equal((await topic.attributesOf(subscriptionArn))['Endpoint'], queue.arn);
});

test('an undeliverable message goes to the dead-letter queue in the form it would have arrived (12.4, 12.5)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const dead = await topic.home.createQueue('dead.fifo');
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.arn });
  const { queue } = await topic.subscribeQueue('jobs.fifo', { RedrivePolicy });
  await queue.delete();
  await topic.publish({ message: '1', groupId: 'a', deduplicationId: 'd1', attributes: [kind] });
  await topic.publish({ message: '2', groupId: 'a', deduplicationId: 'd2' });
  const messages = await dead.receive();
  assert.deepEqual(
    messages.map(({ body, groupId, content }) => [body, groupId, content.deduplicationId]),
    [
      ['1', 'a', 'd1'],
      ['2', 'a', 'd2'],
    ],
  );
  assert.equal(messages[0]?.content.attributes[0]?.name, 'kind');
  assert.equal((await topic.home.told('delivery-failed'))[0]?.deadLetterQueue, 'dead.fifo');
});

test('a failure of the dead-letter queue is reported after the first reason (12.4)', async (open) => {
  const topic = await open.topic();
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arnOf('dead') });
  const { queue } = await topic.subscribeQueue('jobs', { RedrivePolicy });
  await queue.delete();
  await topic.publish();
  const [failure] = await topic.home.told('delivery-failed');
  assert.equal(
    failure?.reason,
    `there is no queue ${queue.arn}; its dead-letter queue: there is no queue ${arnOf('dead')}`,
  );
});

test('the time in an envelope is the time of publication (9.1)', async (open) => {
  const topic = await open.topic();
  const queue = await topic.home.createQueue('jobs');
  accepted(await topic.trySubscribe({ endpoint: queue.arn }));
  await topic.home.advance(86_400.001);
  await topic.publish();
  assert.equal(JSON.parse((await queue.receiveOne()).body).Timestamp, '2023-11-15T22:13:20.001Z');
});
