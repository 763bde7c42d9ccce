/**
 * SendMessage: ids, delays, what each kind of queue asks for, and in which order a request is checked. What a message
 * may contain is in message-contents.
 */

import assert from 'node:assert/strict';
import type { SendResult } from '../../src/core/commands.ts';
import type { Refusal } from '../../src/core/errors.ts';
import { accepted, assertRefused, type Opener, test } from './fixture.ts';

const punctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
const ids = ['MessageGroupId', 'MessageDeduplicationId'] as const;

function badIdText(name: string, value: string): string {
  return `Value ${value} for parameter ${name} is invalid. Reason: ${name} can only include alphanumeric and punctuation characters. 1 to 128 in length.`;
}

test('a delay is 0 to 900 seconds (8.1)', async (open) => {
  const queue = await open.queue();
  for (const delaySeconds of [0, 900]) await queue.send({ delaySeconds });
  for (const delaySeconds of [-1, 901, 1.5]) {
    const text = `Value ${delaySeconds} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.`;
    assertRefused(await queue.trySend({ delaySeconds }), 'InvalidParameterValue', text);
  }
});

async function sendWithId(
  open: Opener,
  id: (typeof ids)[number],
  value: string,
  fifo: boolean,
): Promise<SendResult | Refusal> {
  const entry = id === 'MessageGroupId' ? { groupId: value } : { deduplicationId: value };
  return await (await open.queue({ fifo })).trySend(entry);
}

test('groups and deduplication ids have 1 to 128 letters, digits and punctuation characters (8.2)', async (open) => {
  for (const id of ids) {
    for (const value of ['a', 'Z9', punctuation, 'x'.repeat(128)]) {
      accepted(await sendWithId(open, id, value, true));
    }
    for (const value of ['', 'a b', 'é', 'a\n', 'x'.repeat(129), '\u007F']) {
      const outcome = await sendWithId(open, id, value, true);
      assertRefused(outcome, 'InvalidParameterValue', badIdText(id, value));
    }
  }
});

test('a malformed id on a standard queue is reported as malformed (8.2)', async (open) => {
  for (const id of ids) {
    assertRefused(
      await sendWithId(open, id, '', false),
      'InvalidParameterValue',
      badIdText(id, ''),
    );
  }
});

test('the form of an id is checked before the requirements of the queue (8.2, 14.2)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const outcome = await queue.trySend({ groupId: undefined, deduplicationId: '' });
  const text = badIdText('MessageDeduplicationId', '');
  assertRefused(outcome, 'InvalidParameterValue', text);
});

test('a group on a standard queue neither orders nor blocks, and assigns no sequence number (8.3)', async (open) => {
  const queue = await open.queue();
  const { sequence } = await queue.send({ body: 'one', groupId: 'g' });
  assert.equal(sequence, undefined);
  await queue.send({ body: 'two', groupId: 'g' });
  assert.equal((await queue.receiveOne()).body, 'one');
  assert.equal((await queue.receiveOne()).body, 'two');
});

test('a deduplication id on a standard queue is refused (8.3)', async (open) => {
  const outcome = await (await open.queue()).trySend({ deduplicationId: 'd' });
  const text = 'The request include parameter that is not valid for this queue type';
  assertRefused(outcome, 'InvalidParameterValue', text);
});

test('a FIFO queue requires a group (8.4)', async (open) => {
  const outcome = await (await open.queue({ fifo: true })).trySend({ groupId: undefined });
  const text = 'The request must contain the parameter MessageGroupId.';
  assertRefused(outcome, 'MissingParameter', text);
});

test('a FIFO queue requires a deduplication id unless it is content-based (8.4)', async (open) => {
  const outcome = await (await open.queue({ fifo: true })).trySend({ deduplicationId: undefined });
  const text =
    'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly';
  assertRefused(outcome, 'InvalidParameterValue', text);
  const attributes = { ContentBasedDeduplication: 'true' };
  await (await open.queue({ fifo: true, attributes })).send({ deduplicationId: undefined });
});

test('when group and deduplication id are both missing, the group is named (8.4)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const outcome = await queue.trySend({ groupId: undefined, deduplicationId: undefined });
  const text = 'The request must contain the parameter MessageGroupId.';
  assertRefused(outcome, 'MissingParameter', text);
});

test('a FIFO message cannot have its own delay (8.5)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const text =
    'Value 1 for parameter DelaySeconds is invalid. Reason: The request include parameter that is not valid for this queue type.';
  assertRefused(await queue.trySend({ delaySeconds: 1 }), 'InvalidParameterValue', text);
});

test("a delay of 0 on a FIFO queue is accepted, and the queue's own delay applies (8.5)", async (open) => {
  const queue = await open.queue({ fifo: true, attributes: { DelaySeconds: '5' } });
  await queue.send({ delaySeconds: 0 });
  assert.deepEqual(await queue.counts(), [0, 0, 1]);
});

test('a refused send leaves neither a message nor an id behind (8.4)', async (open) => {
  const queue = await open.queue({ fifo: true });
  assertRefused(
    await queue.trySend({ deduplicationId: 'd', delaySeconds: 1 }),
    'InvalidParameterValue',
  );
  assert.equal((await queue.send({ deduplicationId: 'd' })).isDuplicate, false);
  assert.deepEqual(await queue.counts(), [1, 0, 0]);
});

test('for a message with several errors, the first in a fixed order is reported (14.2)', async (open) => {
  const queue = await open.queue({ fifo: true, attributes: { MaximumMessageSize: '1024' } });
  const wrong = {
    body: '\0'.repeat(1025),
    attributes: [{ name: 'a', type: 'Text', stringValue: 'x' }],
    systemAttributes: [{ name: 'Other', type: 'String', stringValue: 'x' }],
    groupId: '',
    deduplicationId: undefined,
  };
  const code = async (entry: object): Promise<string> => {
    const outcome = await queue.trySend({ ...wrong, ...entry });
    return outcome.ok ? 'sent' : outcome.code;
  };
  assert.equal(await code({ body: '' }), 'parameter-missing');
  assert.equal(await code({}), 'message-too-long');
  assert.equal(await code({ body: '\0' }), 'body-characters');
  assert.equal(await code({ body: 'x' }), 'attribute-type-invalid');
  assert.equal(await code({ body: 'x', attributes: [] }), 'system-attribute-invalid');
  const fit = { body: 'x', attributes: [], systemAttributes: [] };
  assert.equal(await code(fit), 'id-invalid');
  assert.equal(await code({ ...fit, groupId: 'g' }), 'deduplication-id-missing');
  assert.equal(await code({ ...fit, groupId: 'g', deduplicationId: 'd' }), 'sent');
});
