/**
 * Publish and PublishBatch (§6–§8): what is checked and in which words, message structure, sizes, attributes, batches.
 * FIFO topics have their own file, and so has what arrives.
 */

import assert from 'node:assert/strict';
import { accepted, assertRefused, test, topicArnOf } from '../fixture.ts';

const invalid = 'InvalidParameterException';

test('an empty message, an empty subject and a message that is too long are refused (6.2)', async (open) => {
  const topic = await open.topic();
  assertRefused(
    await topic.tryPublish({ message: '' }),
    invalid,
    'Invalid parameter: Empty message',
  );
  assertRefused(await topic.tryPublish({ subject: '' }), invalid, 'Invalid parameter: Subject');
  assertRefused(await topic.tryPublish({ subject: 'a\nb' }), invalid, 'Invalid parameter: Subject');
  assertRefused(await topic.tryPublish({ subject: 'x'.repeat(101) }), invalid);
  const message = 'x'.repeat(262_145);
  assertRefused(
    await topic.tryPublish({ message }),
    invalid,
    'Invalid parameter: Message too long',
  );
});

test('the size is that of the message and its attributes, to the byte (6.3)', async (open) => {
  const topic = await open.topic();
  await topic.publish({ message: 'x'.repeat(262_144) });
  const attributes = [{ name: 'n', type: 'String', stringValue: 'vv' }];
  await topic.publish({ message: 'x'.repeat(262_144 - 9), attributes });
  assertRefused(await topic.tryPublish({ message: 'x'.repeat(262_144 - 8), attributes }), invalid);
  await topic.set('MaximumMessageSize', '1024');
  assertRefused(await topic.tryPublish({ message: 'é'.repeat(513) }), invalid);
});

test('a standard topic refuses a deduplication id and passes a group to the queue (6.4)', async (open) => {
  const topic = await open.topic();
  const { queue } = await topic.subscribeQueue('jobs');
  assertRefused(
    await topic.tryPublish({ deduplicationId: 'd' }),
    invalid,
    'Invalid parameter: MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is not valid for this topic type',
  );
  await topic.publish({ groupId: 'tenant' });
  assert.equal((await queue.receiveOne()).content.groupId, 'tenant');
});

test('a message published before a subscription is not delivered to it (6.5)', async (open) => {
  const topic = await open.topic();
  await topic.publish();
  const { queue } = await topic.subscribeQueue('jobs');
  assert.deepEqual(await queue.receiveBodies(), []);
});

test('the trace header of the request reaches the queue (6.6)', async (open) => {
  const topic = await open.topic();
  const { queue } = await topic.subscribeQueue('jobs');
  await topic.publish({ traceHeader: 'Root=1-2' });
  assert.equal((await queue.receiveOne()).content.traceHeader, 'Root=1-2');
});

test('a JSON structure has a default text and texts per protocol (6.7)', async (open) => {
  const topic = await open.topic();
  const { queue } = await topic.subscribeQueue('jobs');
  const publish = async (json: object) =>
    await topic.publish({ structure: 'json', message: JSON.stringify(json) });
  await publish({ default: 'all', sqs: 'queues' });
  await publish({ default: 'all', sqs: 3, http: 'endpoints' });
  assert.deepEqual(await queue.receiveBodies(), ['queues', 'all']);
});

test('an invalid JSON structure, or one without a default text, is refused (6.7)', async (open) => {
  const topic = await open.topic();
  const structured = async (message: string) =>
    await topic.tryPublish({ structure: 'json', message });
  const noDefault = 'Invalid parameter: Message Structure - No default entry in JSON message body';
  assertRefused(await structured('{"sqs":"x"}'), invalid, noDefault);
  assertRefused(await structured('{"default":1}'), invalid, noDefault);
  const noJson = 'Invalid parameter: Message Structure - JSON message body failed to parse';
  assertRefused(await structured('{'), invalid, noJson);
  assertRefused(await topic.tryPublish({ structure: 'xml' }), invalid);
});

test('a standard topic assigns no sequence number (6.8)', async (open) => {
  assert.equal((await (await open.topic()).publish()).sequence, undefined);
});

test('one bad entry fails the whole batch (7.1)', async (open) => {
  const topic = await open.topic();
  const { queue } = await topic.subscribeQueue('jobs');
  assertRefused(await topic.tryPublishBatch([{}, { message: '' }]), invalid);
  assert.deepEqual(await queue.receiveBodies(), []);
});

test('for a batch with several errors, the first in a fixed order is reported (7.2)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const broken = { id: 'x', structure: 'json', message: '{', groupId: undefined };
  const eleven = Array.from({ length: 11 }, () => broken);
  assertRefused(
    await topic.tryPublishBatch(eleven),
    'TooManyEntriesInBatchRequestException',
    'The batch request contains more entries than permissible.',
  );
  assertRefused(
    await topic.tryPublishBatch([broken, broken]),
    'BatchEntryIdsNotDistinctException',
    'Two or more batch entries in the request have the same Id.',
  );
  assertRefused(
    await topic.tryPublishBatch([broken]),
    invalid,
    'Invalid parameter: Message Structure - JSON message body failed to parse',
  );
  const { structure: _, ...ungrouped } = broken;
  const groupMissing =
    'Invalid parameter: The MessageGroupId parameter is required for FIFO topics';
  assertRefused(await topic.tryPublishBatch([ungrouped]), invalid, groupMissing);
  // The order is one of the request: it does not matter which entry comes first.
  assertRefused(
    await topic.tryPublishBatch([{ groupId: undefined }, { structure: 'json', message: '{' }]),
    invalid,
    'Invalid parameter: Message Structure - JSON message body failed to parse',
  );
  assertRefused(
    await topic.tryPublishBatch([{ deduplicationId: undefined }, { groupId: undefined }]),
    invalid,
    groupMissing,
  );
});

test('an entry id has up to 80 letters, digits, hyphens and underscores (7.3)', async (open) => {
  const topic = await open.topic();
  const text = 'The Id of a batch entry in the batch request';
  assertRefused(
    await topic.tryPublishBatch([{ id: 'a.b' }]),
    'InvalidBatchEntryIdException',
    `${text} contains an impermissible character: a.b`,
  );
  const long = 'x'.repeat(81);
  assertRefused(
    await topic.tryPublishBatch([{ id: long }]),
    'InvalidBatchEntryIdException',
    `${text} is too long: ${long}`,
  );
  assertRefused(await topic.tryPublishBatch([]), 'EmptyBatchRequestException');
});

test('the size limit applies to all entries of a batch together (7.4)', async (open) => {
  const topic = await open.topic();
  const message = 'x'.repeat(131_072);
  accepted(await topic.tryPublishBatch([{ message }, { message }]));
  assertRefused(
    await topic.tryPublishBatch([{ message }, { message: `${message}x` }]),
    'BatchRequestTooLongException',
    'The length of all the messages put together is more than the limit.',
  );
});

test('entries are published in the order of the request, and duplicates among them only once (7.5)', async (open) => {
  const topic = await open.topic({ fifo: true });
  const { queue } = await topic.subscribeQueue('jobs.fifo');
  const entries = ['a', 'b', 'a'].map((message) => ({ message, deduplicationId: message }));
  const { results } = accepted(await topic.tryPublishBatch(entries));
  assert.deepEqual(await queue.receiveBodies(), ['a', 'b']);
  assert.deepEqual(
    results.map(({ isDuplicate }) => isDuplicate),
    [false, false, true],
  );
  assert.equal(results[2]?.messageId, results[0]?.messageId);
});

test('invalid attribute names and values are refused with specific texts (8.1)', async (open) => {
  const topic = await open.topic();
  const wrong = 'InvalidParameterValueException';
  const tryNamed = async (name: string) =>
    await topic.tryPublish({ attributes: [{ name, type: 'String', stringValue: 'v' }] });
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
  for (const [name, text] of names) assertRefused(await tryNamed(name), wrong, text);
  const value = async (type: string, given: { stringValue?: string; binaryValue?: Uint8Array }) =>
    await topic.tryPublish({ attributes: [{ name: 'n', type, ...given }] });
  const empty =
    "The message attribute 'n' must contain non-empty message attribute value for message attribute type 'String'.";
  assertRefused(await value('String', {}), wrong, empty);
  assertRefused(await value('String', { stringValue: '' }), wrong, empty);
  assertRefused(
    await value('Binary', { stringValue: 'x' }),
    wrong,
    "The message attribute 'n' with type 'Binary' must use field 'Binary'.",
  );
  for (const type of ['string', 'Text', 'String.', '']) {
    assertRefused(
      await value(type, { stringValue: 'x' }),
      wrong,
      "The message attribute 'n' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.",
    );
  }
});

test('an attribute without a type is a validation error that gives its position (1.6)', async (open) => {
  const topic = await open.topic();
  const attributes = [{ name: 'n', stringValue: 'v' }];
  const text = (path: string) =>
    `1 validation error detected: Value null at '${path}messageAttributes.n.member.dataType' failed to satisfy constraint: Member must not be null`;
  assertRefused(await topic.tryPublish({ attributes }), 'ValidationException', text(''));
  assertRefused(
    await topic.tryPublishBatch([{}, { attributes }]),
    'ValidationException',
    text('publishBatchRequestEntries.2.member.'),
  );
});

test('reserved names and invalid numbers are refused (8.2)', async (open) => {
  const topic = await open.topic();
  const attribute = async (name: string, type: string, stringValue: string) =>
    await topic.tryPublish({ attributes: [{ name, type, stringValue }] });
  const wrong = 'InvalidParameterValueException';
  assertRefused(await attribute('aws.x', 'String', 'v'), wrong);
  assertRefused(await attribute('Amazon.x', 'String', 'v'), wrong);
  assertRefused(await attribute('n', 'Number', 'ten'), wrong);
  accepted(await attribute('n', 'Number.int', '-1.5e3'));
});

test('a Number too precise for filter policies and an invalid String.Array are published (8.2)', async (open) => {
  const topic = await open.topic();
  const { queue } = await topic.subscribeQueue('jobs');
  const FilterPolicy = JSON.stringify({ a: [{ exists: true }] });
  const { queue: picky } = await topic.subscribeQueue('picky', { FilterPolicy });
  await topic.publish({
    attributes: [
      { name: 'n', type: 'Number', stringValue: '10000000000.123456789' },
      { name: 'a', type: 'String.Array', stringValue: '["x", ' },
    ],
  });
  assert.equal((await queue.receiveOne()).content.attributes.length, 2);
  assert.equal((await picky.receive()).length, 0, 'for a filter policy such an array is not there');
});

test('a missing topic and a missing ARN are refused (1.6, 2.4)', async (open) => {
  const topic = await open.topic();
  const entries = [{ message: 'x' }];
  const publish = async (topicArn: string | undefined) =>
    await topic.home.run({ type: 'publish', topicArn, isBatch: false, entries, baseUrl: '' });
  assertRefused(await publish(topicArnOf('none')), 'NotFoundException', 'Topic does not exist');
  assertRefused(
    await publish(undefined),
    invalid,
    'Invalid parameter: TopicArn Reason: no value for required parameter',
  );
});
