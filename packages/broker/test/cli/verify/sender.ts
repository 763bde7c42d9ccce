/**
 * A program that sends messages, for the tests of `oncemq verify --exec`, with nothing but fetch, as it could be in any
 * language. Its argument selects how it sends; each way but the first breaks the contract, or the program.
 */

import { createHash } from 'node:crypto';

type Message = Record<string, unknown>;

function envelope(key: string, eventId: string, payload: object = { key }): string {
  return JSON.stringify({
    event_id: eventId,
    event_source: 'kfm.parts.orders',
    event_time: '2025-12-04T00:00:00Z',
    dedupe_key: key,
    payload,
  });
}

function idOf(text: string): string {
  const hex = createHash('md5').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

const stable = (key: string): Message => ({ MessageBody: envelope(key, idOf(key)) });
const attribute = (value: string): Message => ({
  MessageAttributes: { shop: { DataType: 'String', StringValue: value } },
});

const ways: Readonly<Record<string, () => Message[]>> = {
  well: () => [stable('a'), stable('b')],
  'and-receives': () => [stable('a'), stable('b')],
  'with-new-ids': () => [{ MessageBody: envelope('a', idOf(String(Math.random()))) }],
  'with-bare-bodies': () => [{ MessageBody: '{"order":1}' }],
  'with-large-bodies': () => [{ MessageBody: `{"order":"${'x'.repeat(100_000)}"}` }],
  'with-attributes': () => [
    { ...stable('a'), ...attribute('north') },
    { ...stable('a'), ...attribute('south') },
  ],
  'with-attempts': () => [{ ...stable('a'), ...attribute(String(Math.random())) }],
  'with-ids-and-new-bodies': () => [
    { MessageBody: envelope('a', idOf(String(Math.random()))), MessageDeduplicationId: 'a' },
  ],
  'of-its-input': () => [],
};

const way = process.argv[2] ?? '';
if (way === 'fail') {
  console.error('the disk is full');
  process.exit(3);
}
if (way === 'hang') setInterval(() => {}, 1000);
const messages = way === 'of-its-input' ? await fromInput() : (ways[way]?.() ?? []);
for (const message of messages) {
  await call('SendMessage', { MessageGroupId: 'g', ...message });
}
// Receives and deletes its own messages, so that none is left in the queue.
if (way === 'and-receives') {
  const { Messages = [] } = await call('ReceiveMessage', { MaxNumberOfMessages: 10 });
  for (const { ReceiptHandle } of Messages) await call('DeleteMessage', { ReceiptHandle });
}

async function call(
  action: string,
  input: Message,
): Promise<{ Messages?: { ReceiptHandle: string }[] }> {
  const response = await fetch(process.env['AWS_ENDPOINT_URL'] as string, {
    method: 'POST',
    headers: { 'X-Amz-Target': `AmazonSQS.${action}` },
    body: JSON.stringify({ QueueUrl: process.env['QUEUE_URL'], ...input }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text === '' ? {} : JSON.parse(text);
}

async function fromInput(): Promise<Message[]> {
  const lines: string[] = [];
  for await (const chunk of process.stdin) lines.push(...String(chunk).split('\n'));
  return lines.filter((line) => line !== '').map(stable);
}
