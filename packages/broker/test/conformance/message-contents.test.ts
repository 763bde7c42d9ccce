/**
 * What a message may contain: characters, size, attributes; and what of it is kept and returned. Each range is tried
 * at its end and one beyond.
 */

import assert from 'node:assert/strict';
import type { AttributeInput, SendResult } from '../../src/core/commands.ts';
import type { Refusal } from '../../src/core/errors.ts';
import { accepted, assertRefused, type Opener, test } from './fixture.ts';

const text: AttributeInput = { name: 'a', type: 'String', stringValue: 'x' };

async function sendWith(
  open: Opener,
  attribute: Partial<AttributeInput>,
): Promise<SendResult | Refusal> {
  return await (await open.queue()).trySend({ attributes: [{ ...text, ...attribute }] });
}

async function sendNumber(open: Opener, stringValue: string): Promise<SendResult | Refusal> {
  return await sendWith(open, { type: 'Number', stringValue });
}

function trace(value: Partial<AttributeInput> = {}): AttributeInput {
  return { name: 'AWSTraceHeader', type: 'String', stringValue: 'Root=1-2-3', ...value };
}

test('a body may hold every character of the allowed ranges, at both of their ends (7.1)', async (open) => {
  const body = '\t\n\r\u0020\uD7FF\uE000\uFFFD\u{10000}\u{10FFFF}';
  const queue = await open.queue();
  await queue.send({ body });
  assert.equal((await queue.receiveOne()).body, body);
});

test('a body with any other character is refused (7.1)', async (open) => {
  for (const character of [
    '\0',
    '\b',
    '\v',
    '\f',
    '\u001F',
    '\uD800',
    '\uDFFF',
    '\uFFFE',
    '\uFFFF',
  ]) {
    const outcome = await (await open.queue()).trySend({ body: `a${character}b` });
    assertRefused(outcome, 'InvalidMessageContents');
  }
});

test('an empty or missing body is refused as a missing parameter (7.1)', async (open) => {
  const missing = 'The request must contain the parameter MessageBody.';
  assertRefused(await (await open.queue()).trySend({ body: '' }), 'MissingParameter', missing);
  assertRefused(
    await (await open.queue()).trySend({ body: undefined }),
    'MissingParameter',
    missing,
  );
});

test('a body of 1 MiB is sent and one byte more is refused (7.2, 17.7)', async (open) => {
  const queue = await open.queue();
  await queue.send({ body: 'x'.repeat(1_048_576) });
  const reason =
    'One or more parameters are invalid. Reason: Message must be shorter than 1048576 bytes.';
  const outcome = await queue.trySend({ body: 'x'.repeat(1_048_577) });
  assertRefused(outcome, 'InvalidParameterValue', reason);
});

test("a message may be exactly as long as the queue's own limit (7.2)", async (open) => {
  const queue = await open.queue({ attributes: { MaximumMessageSize: '1024' } });
  await queue.send({ body: 'x'.repeat(1024) });
  const reason =
    'One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes.';
  assertRefused(await queue.trySend({ body: 'x'.repeat(1025) }), 'InvalidParameterValue', reason);
});

test('size is counted in bytes of UTF-8, not in characters (7.2)', async (open) => {
  const queue = await open.queue({ attributes: { MaximumMessageSize: '1024' } });
  await queue.send({ body: '€'.repeat(341) });
  assertRefused(await queue.trySend({ body: '€'.repeat(342) }), 'InvalidParameterValue');
  await queue.send({ body: '😀'.repeat(256) });
  assertRefused(await queue.trySend({ body: `${'😀'.repeat(256)}x` }), 'InvalidParameterValue');
});

test('names, types and values of attributes count, binary values as they are (7.2)', async (open) => {
  const queue = await open.queue({ attributes: { MaximumMessageSize: '1024' } });
  const attributes: readonly AttributeInput[] = [
    { name: 'ab', type: 'String.x', stringValue: 'é' },
    { name: 'c', type: 'Binary', binaryValue: new Uint8Array(100) },
  ];
  const size = 2 + 8 + 2 + 1 + 6 + 100;
  await queue.send({ body: 'x'.repeat(1024 - size), attributes });
  const outcome = await queue.trySend({ body: 'x'.repeat(1025 - size), attributes });
  assertRefused(outcome, 'InvalidParameterValue');
});

test('system attributes do not count (7.2)', async (open) => {
  const queue = await open.queue({ attributes: { MaximumMessageSize: '1024' } });
  await queue.send({ body: 'x'.repeat(1024), systemAttributes: [trace()] });
});

test('a message has up to ten attributes (7.3)', async (open) => {
  const attributes = Array.from({ length: 11 }, (_, at) => ({ ...text, name: `a${at}` }));
  await (await open.queue()).send({ attributes: attributes.slice(0, 10) });
  const reason = 'Number of message attributes [11] exceeds the allowed maximum [10].';
  assertRefused(
    await (await open.queue()).trySend({ attributes }),
    'InvalidParameterValue',
    reason,
  );
});

test('an attribute name has up to 256 letters, digits, hyphens, underscores and single dots (7.3)', async (open) => {
  const good = ['a', 'A-1_b.c', 'a.b.c', 'x'.repeat(256), 'øßä', 'AWSome', 'amazonia', 'x.AWS.y'];
  for (const name of good) accepted(await sendWith(open, { name }));
  const bad = ['', '.a', 'a.', 'a..b', 'a b', 'a/b', 'a\n', 'x'.repeat(257), 'a*', '名前'];
  for (const name of bad) assertRefused(await sendWith(open, { name }), 'InvalidParameterValue');
});

test('attribute names in AWS. and Amazon. are reserved in any case (7.3)', async (open) => {
  for (const name of ['AWS.x', 'aws.x', 'Amazon.x', 'aMaZoN.x']) {
    assertRefused(await sendWith(open, { name }), 'InvalidParameterValue');
  }
});

test('an attribute name is given once (7.3)', async (open) => {
  const outcome = await (await open.queue()).trySend({ attributes: [text, text] });
  assertRefused(outcome, 'InvalidParameterValue');
});

test('an attribute type is String, Number or Binary, with an optional label (7.3)', async (open) => {
  for (const type of ['String', 'String.json', 'String.a b', `String.${'x'.repeat(249)}`]) {
    accepted(await sendWith(open, { type }));
  }
  const reason =
    "The type of message (user) attribute 'a' is invalid. You must use only the following supported type prefixes: Binary, Number, String.";
  for (const type of ['string', 'Text', 'Stringy', 'String.', `String.${'x'.repeat(250)}`]) {
    assertRefused(await sendWith(open, { type }), 'InvalidParameterValue', reason);
  }
});

test('an attribute needs a type (7.4)', async (open) => {
  const reason =
    "The message (user) attribute 'a' must contain a non-empty message attribute type.";
  assertRefused(await sendWith(open, { type: '' }), 'InvalidParameterValue', reason);
  assertRefused(await sendWith(open, { type: undefined }), 'InvalidParameterValue', reason);
});

test('an attribute needs a value of its own type (7.4)', async (open) => {
  const reason = (type: string): string =>
    `Message (user) attribute 'a' must contain a non-empty value of type '${type}'.`;
  const cases: readonly [string, Partial<AttributeInput>][] = [
    ['String', { stringValue: '' }],
    ['String', { stringValue: undefined }],
    ['Number', { stringValue: '' }],
    ['Binary', { stringValue: undefined, binaryValue: new Uint8Array() }],
    ['Binary', { stringValue: 'x' }],
    ['String', { stringValue: undefined, binaryValue: Uint8Array.of(1) }],
    ['String.label', { stringValue: '' }],
  ];
  for (const [type, value] of cases) {
    assertRefused(await sendWith(open, { type, ...value }), 'InvalidParameterValue', reason(type));
  }
});

test('an attribute has one value, not two (7.4)', async (open) => {
  const outcome = await sendWith(open, { stringValue: 'x', binaryValue: Uint8Array.of(1) });
  assertRefused(outcome, 'InvalidParameterValue');
});

test('a text value allows the characters of a body, and is refused with another code (7.4)', async (open) => {
  accepted(await sendWith(open, { stringValue: '\t\n\r\u{10FFFF}' }));
  for (const stringValue of ['\0', '\uFFFE', '\uD800']) {
    assertRefused(await sendWith(open, { stringValue }), 'InvalidParameterValue');
  }
});

test('a binary value may be any bytes (7.4)', async (open) => {
  const queue = await open.queue();
  const binaryValue = Uint8Array.of(0, 255, 254);
  await queue.send({ attributes: [{ name: 'a', type: 'Binary.raw', binaryValue }] });
  const [attribute] = (await queue.receiveOne()).content.attributes;
  assert.deepEqual(attribute, { name: 'a', type: 'Binary.raw', value: binaryValue });
});

test('a number is decimal (7.4)', async (open) => {
  for (const value of ['0', '-1', '+1', '1.5', '.5', '5.', '1e3', '1E-3', '-0.0', '007']) {
    accepted(await sendNumber(open, value));
  }
  const reason = "Can't cast the value of message (user) attribute 'a' to a number.";
  for (const value of ['x', '1x', '0x10', 'NaN', 'Infinity', '1,5', ' 1', '.', '1e', '--1']) {
    assertRefused(await sendNumber(open, value), 'InvalidParameterValue', reason);
  }
});

test('a number has up to 38 digits (7.4)', async (open) => {
  accepted(await sendNumber(open, '1'.repeat(38)));
  accepted(await sendNumber(open, `0.${'1'.repeat(38)}`));
  accepted(await sendNumber(open, `${'1'.repeat(38)}000`));
  assertRefused(await sendNumber(open, '1'.repeat(39)), 'InvalidParameterValue');
  assertRefused(await sendNumber(open, `1.${'0'.repeat(37)}1`), 'InvalidParameterValue');
});

test('a number lies between 10^-128 and 10^126 (7.4)', async (open) => {
  for (const value of ['1e126', '-1e126', '9.9e125', '1e-128', '0e999']) {
    accepted(await sendNumber(open, value));
  }
  for (const value of ['1e127', '1.1e126', '-2e126', '1e-129', '9.9e-129']) {
    assertRefused(await sendNumber(open, value), 'InvalidParameterValue');
  }
});

test('list values are not supported (7.4)', async (open) => {
  const outcome = await sendWith(open, { stringValue: undefined, hasListValues: true });
  const reason = 'Message attribute list values in SendMessage operation are not supported.';
  assertRefused(outcome, 'UnsupportedOperation', reason);
});

test('AWSTraceHeader is the only system attribute, and it is text (7.5)', async (open) => {
  const queue = await open.queue();
  await queue.send({ systemAttributes: [trace()] });
  assert.equal((await queue.receiveOne()).content.traceHeader, 'Root=1-2-3');
  const wrong = [
    trace({ name: 'AWSTrace' }),
    trace({ type: 'Number' }),
    trace({ type: 'Binary', stringValue: undefined, binaryValue: Uint8Array.of(1) }),
    trace({ stringValue: '' }),
    trace({ stringValue: '\0' }),
  ];
  for (const attribute of wrong) {
    const outcome = await queue.trySend({ systemAttributes: [attribute] });
    assertRefused(outcome, 'InvalidParameterValue');
  }
});

test('a received message carries its sender, times, receive count and sent attributes (7.9)', async (open) => {
  const queue = await open.queue();
  const sentAt = queue.home.now;
  const systemAttributes = [trace()];
  const { messageId } = await queue.send({
    senderId: 'AIDA',
    systemAttributes,
    attributes: [text],
  });
  await queue.advance(3);
  const message = await queue.receiveOne();
  assert.equal(message.messageId, messageId);
  assert.equal(message.sentAt, sentAt);
  assert.equal(message.firstReceivedAt, sentAt + 3000);
  assert.equal(message.receiveCount, 1);
  assert.equal(message.content.senderId, 'AIDA');
  assert.equal(message.content.traceHeader, 'Root=1-2-3');
  assert.deepEqual(message.content.attributes, [{ name: 'a', type: 'String', value: 'x' }]);
});

test('a FIFO message also carries its group, deduplication id and sequence number (7.9)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const { sequence } = await queue.send({ groupId: 'blue', deduplicationId: 'order-1' });
  const message = await queue.receiveOne();
  assert.equal(message.groupId, 'blue');
  assert.equal(message.content.deduplicationId, 'order-1');
  assert.equal(message.sequence, sequence);
});

test('a message of a standard queue carries its group if it was sent with one (7.9)', async (open) => {
  const queue = await open.queue();
  await queue.send({ groupId: 'tenant' });
  await queue.send();
  assert.deepEqual(
    (await queue.receive()).map(({ content }) => content.groupId),
    ['tenant', undefined],
  );
});

test('a dead letter names the queue it came from (7.9)', async (open) => {
  const { queue, dead } = await open.queueWithDeadLetters();
  await queue.send();
  assert.equal((await queue.receiveOne({ visibilitySeconds: 0 })).deadLetterSource, undefined);
  await queue.receive();
  assert.equal((await dead.receiveOne()).deadLetterSource, queue.arn);
});

test('a message id is a lower-case UUID (1.7)', async (open) => {
  const { messageId } = await (await open.queue()).send();
  assert.match(messageId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});
