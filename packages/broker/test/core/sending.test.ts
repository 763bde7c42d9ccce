/**
 * SendMessage: ids, delays, what each kind of queue asks for, and in which order a request is checked. What a message
 * may contain is in message-contents.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SendResult } from '../../src/core/commands.ts';
import type { Refusal } from '../../src/core/errors.ts';
import { accepted, assertRefused, openQueue } from './fixture.ts';

const punctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
const ids = ['MessageGroupId', 'MessageDeduplicationId'] as const;

function badIdText(name: string, value: string): string {
  return `Value ${value} for parameter ${name} is invalid. Reason: ${name} can only include alphanumeric and punctuation characters. 1 to 128 in length.`;
}

test('a delay is 0 to 900 seconds (8.1)', () => {
  const queue = openQueue();
  for (const delaySeconds of [0, 900]) queue.send({ delaySeconds });
  for (const delaySeconds of [-1, 901, 1.5]) {
    const text = `Value ${delaySeconds} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.`;
    assertRefused(queue.trySend({ delaySeconds }), 'InvalidParameterValue', text);
  }
});

function sendWithId(id: (typeof ids)[number], value: string, fifo: boolean): SendResult | Refusal {
  const entry = id === 'MessageGroupId' ? { groupId: value } : { deduplicationId: value };
  return openQueue({ fifo }).trySend(entry);
}

test('groups and deduplication ids have 1 to 128 letters, digits and punctuation characters (8.2)', () => {
  for (const id of ids) {
    for (const value of ['a', 'Z9', punctuation, 'x'.repeat(128)]) {
      accepted(sendWithId(id, value, true));
    }
    for (const value of ['', 'a b', 'é', 'a\n', 'x'.repeat(129), '\u007F']) {
      const outcome = sendWithId(id, value, true);
      assertRefused(outcome, 'InvalidParameterValue', badIdText(id, value));
    }
  }
});

test('a malformed id on a standard queue is reported as malformed (8.2)', () => {
  for (const id of ids) {
    assertRefused(sendWithId(id, '', false), 'InvalidParameterValue', badIdText(id, ''));
  }
});

test('the form of an id is checked before the requirements of the queue (8.2, 14.2)', () => {
  const queue = openQueue({ fifo: true });
  const outcome = queue.trySend({ groupId: undefined, deduplicationId: '' });
  const text = badIdText('MessageDeduplicationId', '');
  assertRefused(outcome, 'InvalidParameterValue', text);
});

test('a group on a standard queue neither orders nor blocks, and assigns no sequence number (8.3)', () => {
  const queue = openQueue();
  const { sequence } = queue.send({ body: 'one', groupId: 'g' });
  assert.equal(sequence, undefined);
  queue.send({ body: 'two', groupId: 'g' });
  assert.equal(queue.receiveOne().body, 'one');
  assert.equal(queue.receiveOne().body, 'two');
});

test('a deduplication id on a standard queue is refused (8.3)', () => {
  const outcome = openQueue().trySend({ deduplicationId: 'd' });
  const text = 'The request include parameter that is not valid for this queue type';
  assertRefused(outcome, 'InvalidParameterValue', text);
});

test('a FIFO queue requires a group (8.4)', () => {
  const outcome = openQueue({ fifo: true }).trySend({ groupId: undefined });
  const text = 'The request must contain the parameter MessageGroupId.';
  assertRefused(outcome, 'MissingParameter', text);
});

test('a FIFO queue requires a deduplication id unless it is content-based (8.4)', () => {
  const outcome = openQueue({ fifo: true }).trySend({ deduplicationId: undefined });
  const text =
    'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly';
  assertRefused(outcome, 'InvalidParameterValue', text);
  const attributes = { ContentBasedDeduplication: 'true' };
  openQueue({ fifo: true, attributes }).send({ deduplicationId: undefined });
});

test('when group and deduplication id are both missing, the group is named (8.4)', () => {
  const queue = openQueue({ fifo: true });
  const outcome = queue.trySend({ groupId: undefined, deduplicationId: undefined });
  const text = 'The request must contain the parameter MessageGroupId.';
  assertRefused(outcome, 'MissingParameter', text);
});

test('a FIFO message cannot have its own delay (8.5)', () => {
  const queue = openQueue({ fifo: true });
  const text =
    'Value 1 for parameter DelaySeconds is invalid. Reason: The request include parameter that is not valid for this queue type.';
  assertRefused(queue.trySend({ delaySeconds: 1 }), 'InvalidParameterValue', text);
});

test("a delay of 0 on a FIFO queue is accepted, and the queue's own delay applies (8.5)", () => {
  const queue = openQueue({ fifo: true, attributes: { DelaySeconds: '5' } });
  queue.send({ delaySeconds: 0 });
  assert.deepEqual(queue.counts(), [0, 0, 1]);
});

test('a refused send leaves neither a message nor an id behind (8.4)', () => {
  const queue = openQueue({ fifo: true });
  assertRefused(queue.trySend({ deduplicationId: 'd', delaySeconds: 1 }), 'InvalidParameterValue');
  assert.equal(queue.send({ deduplicationId: 'd' }).isDuplicate, false);
  assert.deepEqual(queue.counts(), [1, 0, 0]);
});

test('for a message with several errors, the first in a fixed order is reported (14.2)', () => {
  const queue = openQueue({ fifo: true, attributes: { MaximumMessageSize: '1024' } });
  const wrong = {
    body: '\0'.repeat(1025),
    attributes: [{ name: 'a', type: 'Text', stringValue: 'x' }],
    systemAttributes: [{ name: 'Other', type: 'String', stringValue: 'x' }],
    groupId: '',
    deduplicationId: undefined,
  };
  const code = (entry: object): string => {
    const outcome = queue.trySend({ ...wrong, ...entry });
    return outcome.ok ? 'sent' : outcome.code;
  };
  assert.equal(code({ body: '' }), 'parameter-missing');
  assert.equal(code({}), 'message-too-long');
  assert.equal(code({ body: '\0' }), 'body-characters');
  assert.equal(code({ body: 'x' }), 'attribute-type-invalid');
  assert.equal(code({ body: 'x', attributes: [] }), 'system-attribute-invalid');
  const fit = { body: 'x', attributes: [], systemAttributes: [] };
  assert.equal(code(fit), 'id-invalid');
  assert.equal(code({ ...fit, groupId: 'g' }), 'deduplication-id-missing');
  assert.equal(code({ ...fit, groupId: 'g', deduplicationId: 'd' }), 'sent');
});
