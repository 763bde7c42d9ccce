/**
 * Publish and PublishBatch (§6–§8): what is checked and in which words, message structure, sizes, attributes, batches.
 * FIFO topics have their own file, and so has what arrives.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accepted, assertRefused } from '../fixture.ts';
import { openTopic, topicArnOf } from './fixture.ts';

const invalid = 'InvalidParameterException';

test('an empty message, an empty subject and a message that is too long are refused (6.2)', () => {
  const topic = openTopic();
  assertRefused(topic.tryPublish({ message: '' }), invalid, 'Invalid parameter: Empty message');
  assertRefused(topic.tryPublish({ subject: '' }), invalid, 'Invalid parameter: Subject');
  assertRefused(topic.tryPublish({ subject: 'a\nb' }), invalid, 'Invalid parameter: Subject');
  assertRefused(topic.tryPublish({ subject: 'x'.repeat(101) }), invalid);
  const message = 'x'.repeat(262_145);
  assertRefused(topic.tryPublish({ message }), invalid, 'Invalid parameter: Message too long');
});

test('the size is that of the message and its attributes, to the byte (6.3)', () => {
  const topic = openTopic();
  topic.publish({ message: 'x'.repeat(262_144) });
  const attributes = [{ name: 'n', type: 'String', stringValue: 'vv' }];
  topic.publish({ message: 'x'.repeat(262_144 - 9), attributes });
  assertRefused(topic.tryPublish({ message: 'x'.repeat(262_144 - 8), attributes }), invalid);
  topic.set('MaximumMessageSize', '1024');
  assertRefused(topic.tryPublish({ message: 'é'.repeat(513) }), invalid);
});

test('a standard topic refuses a deduplication id and passes a group to the queue (6.4)', () => {
  const topic = openTopic();
  const { queue } = topic.subscribeQueue('jobs');
  assertRefused(
    topic.tryPublish({ deduplicationId: 'd' }),
    invalid,
    'Invalid parameter: MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is not valid for this topic type',
  );
  topic.publish({ groupId: 'tenant' });
  assert.equal(queue.receiveOne().content.groupId, 'tenant');
});

test('a message published before a subscription is not delivered to it (6.5)', () => {
  const topic = openTopic();
  topic.publish();
  const { queue } = topic.subscribeQueue('jobs');
  assert.deepEqual(queue.receiveBodies(), []);
});

test('the trace header of the request reaches the queue (6.6)', () => {
  const topic = openTopic();
  const { queue } = topic.subscribeQueue('jobs');
  topic.publish({ traceHeader: 'Root=1-2' });
  assert.equal(queue.receiveOne().content.traceHeader, 'Root=1-2');
});

test('a JSON structure has a default text and texts per protocol (6.7)', () => {
  const topic = openTopic();
  const { queue } = topic.subscribeQueue('jobs');
  const publish = (json: object) =>
    topic.publish({ structure: 'json', message: JSON.stringify(json) });
  publish({ default: 'all', sqs: 'queues' });
  publish({ default: 'all', sqs: 3, http: 'endpoints' });
  assert.deepEqual(queue.receiveBodies(), ['queues', 'all']);
});

test('an invalid JSON structure, or one without a default text, is refused (6.7)', () => {
  const topic = openTopic();
  const structured = (message: string) => topic.tryPublish({ structure: 'json', message });
  const noDefault = 'Invalid parameter: Message Structure - No default entry in JSON message body';
  assertRefused(structured('{"sqs":"x"}'), invalid, noDefault);
  assertRefused(structured('{"default":1}'), invalid, noDefault);
  const noJson = 'Invalid parameter: Message Structure - JSON message body failed to parse';
  assertRefused(structured('{'), invalid, noJson);
  assertRefused(topic.tryPublish({ structure: 'xml' }), invalid);
});

test('a standard topic assigns no sequence number (6.8)', () => {
  assert.equal(openTopic().publish().sequence, undefined);
});

test('one bad entry fails the whole batch (7.1)', () => {
  const topic = openTopic();
  const { queue } = topic.subscribeQueue('jobs');
  assertRefused(topic.tryPublishBatch([{}, { message: '' }]), invalid);
  assert.deepEqual(queue.receiveBodies(), []);
});

test('for a batch with several errors, the first in a fixed order is reported (7.2)', () => {
  const topic = openTopic({ fifo: true });
  const broken = { id: 'x', structure: 'json', message: '{', groupId: undefined };
  const eleven = Array.from({ length: 11 }, () => broken);
  assertRefused(
    topic.tryPublishBatch(eleven),
    'TooManyEntriesInBatchRequestException',
    'The batch request contains more entries than permissible.',
  );
  assertRefused(
    topic.tryPublishBatch([broken, broken]),
    'BatchEntryIdsNotDistinctException',
    'Two or more batch entries in the request have the same Id.',
  );
  assertRefused(
    topic.tryPublishBatch([broken]),
    invalid,
    'Invalid parameter: Message Structure - JSON message body failed to parse',
  );
  const { structure: _, ...ungrouped } = broken;
  const groupMissing =
    'Invalid parameter: The MessageGroupId parameter is required for FIFO topics';
  assertRefused(topic.tryPublishBatch([ungrouped]), invalid, groupMissing);
  // The order is one of the request: it does not matter which entry comes first.
  assertRefused(
    topic.tryPublishBatch([{ groupId: undefined }, { structure: 'json', message: '{' }]),
    invalid,
    'Invalid parameter: Message Structure - JSON message body failed to parse',
  );
  assertRefused(
    topic.tryPublishBatch([{ deduplicationId: undefined }, { groupId: undefined }]),
    invalid,
    groupMissing,
  );
});

test('an entry id has up to 80 letters, digits, hyphens and underscores (7.3)', () => {
  const topic = openTopic();
  const text = 'The Id of a batch entry in the batch request';
  assertRefused(
    topic.tryPublishBatch([{ id: 'a.b' }]),
    'InvalidBatchEntryIdException',
    `${text} contains an impermissible character: a.b`,
  );
  const long = 'x'.repeat(81);
  assertRefused(
    topic.tryPublishBatch([{ id: long }]),
    'InvalidBatchEntryIdException',
    `${text} is too long: ${long}`,
  );
  assertRefused(topic.tryPublishBatch([]), 'EmptyBatchRequestException');
});

test('the size limit applies to all entries of a batch together (7.4)', () => {
  const topic = openTopic();
  const message = 'x'.repeat(131_072);
  accepted(topic.tryPublishBatch([{ message }, { message }]));
  assertRefused(
    topic.tryPublishBatch([{ message }, { message: `${message}x` }]),
    'BatchRequestTooLongException',
    'The length of all the messages put together is more than the limit.',
  );
});

test('entries are published in the order of the request, and duplicates among them only once (7.5)', () => {
  const topic = openTopic({ fifo: true });
  const { queue } = topic.subscribeQueue('jobs.fifo');
  const entries = ['a', 'b', 'a'].map((message) => ({ message, deduplicationId: message }));
  const { results } = accepted(topic.tryPublishBatch(entries));
  assert.deepEqual(queue.receiveBodies(), ['a', 'b']);
  assert.deepEqual(
    results.map(({ isDuplicate }) => isDuplicate),
    [false, false, true],
  );
  assert.equal(results[2]?.messageId, results[0]?.messageId);
});

test('invalid attribute names and values are refused with specific texts (8.1)', () => {
  const topic = openTopic();
  const wrong = 'InvalidParameterValueException';
  const tryNamed = (name: string) =>
    topic.tryPublish({ attributes: [{ name, type: 'String', stringValue: 'v' }] });
  const names: readonly [string, string][] = [
    ['x'.repeat(257), 'Length of message attribute name must be less than 256 bytes.'],
    [
      'a^b',
      "Invalid non-alphanumeric character '#x5E' was found in the message attribute name. Can only include alphanumeric characters, hyphens, underscores, or dots.",
    ],
    ['.a', "Invalid message attribute name starting with character '.' was found."],
    ['a.', "Invalid message attribute name ending with character '.' was found."],
    ['a..b', "Message attribute name can not have successive '.' character."],
  ];
  for (const [name, text] of names) assertRefused(tryNamed(name), wrong, text);
  const value = (type: string, given: { stringValue?: string; binaryValue?: Uint8Array }) =>
    topic.tryPublish({ attributes: [{ name: 'n', type, ...given }] });
  const empty =
    "The message attribute 'n' must contain non-empty message attribute value for message attribute type 'String'.";
  assertRefused(value('String', {}), wrong, empty);
  assertRefused(value('String', { stringValue: '' }), wrong, empty);
  assertRefused(
    value('Binary', { stringValue: 'x' }),
    wrong,
    "The message attribute 'n' with type 'Binary' must use field 'Binary'.",
  );
  for (const type of ['string', 'Text', 'String.', '']) {
    assertRefused(
      value(type, { stringValue: 'x' }),
      wrong,
      "The message attribute 'n' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.",
    );
  }
});

test('an attribute without a type is a validation error that gives its position (1.6)', () => {
  const topic = openTopic();
  const attributes = [{ name: 'n', stringValue: 'v' }];
  const text = (path: string) =>
    `1 validation error detected: Value null at '${path}messageAttributes.n.member.dataType' failed to satisfy constraint: Member must not be null`;
  assertRefused(topic.tryPublish({ attributes }), 'ValidationException', text(''));
  assertRefused(
    topic.tryPublishBatch([{}, { attributes }]),
    'ValidationException',
    text('publishBatchRequestEntries.2.member.'),
  );
});

test('reserved names and invalid numbers are refused (8.2)', () => {
  const topic = openTopic();
  const attribute = (name: string, type: string, stringValue: string) =>
    topic.tryPublish({ attributes: [{ name, type, stringValue }] });
  const wrong = 'InvalidParameterValueException';
  assertRefused(attribute('aws.x', 'String', 'v'), wrong);
  assertRefused(attribute('Amazon.x', 'String', 'v'), wrong);
  assertRefused(attribute('n', 'Number', 'ten'), wrong);
  accepted(attribute('n', 'Number.int', '-1.5e3'));
});

test('a Number too precise for filter policies and an invalid String.Array are published (8.2)', () => {
  const topic = openTopic();
  const { queue } = topic.subscribeQueue('jobs');
  const FilterPolicy = JSON.stringify({ a: [{ exists: true }] });
  const { queue: picky } = topic.subscribeQueue('picky', { FilterPolicy });
  topic.publish({
    attributes: [
      { name: 'n', type: 'Number', stringValue: '10000000000.123456789' },
      { name: 'a', type: 'String.Array', stringValue: '["x", ' },
    ],
  });
  assert.equal(queue.receiveOne().content.attributes.length, 2);
  assert.equal(picky.receive().length, 0, 'for a filter policy such an array is not there');
});

test('a missing topic and a missing ARN are refused (1.6, 2.4)', () => {
  const topic = openTopic();
  const entries = [{ message: 'x' }];
  const publish = (topicArn: string | undefined) =>
    topic.home.apply({ type: 'publish', topicArn, isBatch: false, entries, baseUrl: '' });
  assertRefused(publish(topicArnOf('none')), 'NotFoundException', 'Topic does not exist');
  assertRefused(
    publish(undefined),
    invalid,
    'Invalid parameter: TopicArn Reason: no value for required parameter',
  );
});
