/**
 * The toolkit's rule about attributes compared with the server's: what one refuses, the other refuses too.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAttributes } from '../../src/contract/attributes.ts';
import { openQueue } from '../support/server.ts';

const long = 'x'.repeat(256);
const many = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`name${index}`, 'x']));

const taken: readonly Record<string, string>[] = [
  {},
  many(10),
  { 'a.b-c_1': 'x' },
  { [long]: 'x' },
  { awsome: 'x' },
  { text: 'a\tb\n\u{1F600}' },
];

const refused: readonly Record<string, string>[] = [
  many(11),
  { [`${long}x`]: 'x' },
  { 'a b': 'x' },
  { '.a': 'x' },
  { 'a..b': 'x' },
  { 'AWS.a': 'x' },
  { 'amazon.a': 'x' },
  { a: '' },
  { a: '\u0007' },
  { a: '\uFFFE' },
];

test('attributes are accepted and refused as by the server', async (t) => {
  const { client, queueUrl: QueueUrl } = await openQueue(t);
  const isTaken = (attributes: Record<string, string>): Promise<boolean> => {
    const MessageAttributes = Object.fromEntries(
      Object.entries(attributes).map(([name, StringValue]) => [
        name,
        { DataType: 'String', StringValue },
      ]),
    );
    const message = { QueueUrl, MessageBody: 'x', MessageGroupId: 'g', MessageAttributes };
    return client.sendMessage(message).then(
      () => true,
      () => false,
    );
  };
  for (const attributes of [...taken, ...refused]) {
    const isExpected = taken.includes(attributes);
    const shown = JSON.stringify(attributes);
    assert.equal(checkAttributes(attributes) === undefined, isExpected, `rule: ${shown}`);
    assert.equal(await isTaken(attributes), isExpected, `server: ${shown}`);
  }
});
