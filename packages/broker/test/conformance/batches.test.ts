/**
 * Batches: what fails a whole request, what fails one entry, and that entries go in order. The three kinds of batch
 * share one set of checks, so each check is tried on all of them. Duplicates inside a batch are in fifo-deduplication.
 */

import assert from 'node:assert/strict';
import type { SendEntry } from '../../src/core/commands.ts';
import type { ErrorShape } from '../../src/core/errors.ts';
import { accepted, assertRefused, type TestQueue, test } from './fixture.ts';

function repeat(count: number): SendEntry[] {
  return Array.from({ length: count }, (_, at) => ({ body: `body ${at}` }));
}

async function assertNothingSent(
  queue: TestQueue,
  entries: readonly SendEntry[],
  shape: ErrorShape,
  text: string,
): Promise<void> {
  assertRefused(await queue.trySendBatch(entries), shape, text);
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
}

test('a batch has at least one entry (8.6)', async (open) => {
  const queue = await open.queue();
  const text = (entry: string): string => `There should be at least one ${entry} in the request.`;
  const shape = 'EmptyBatchRequest';
  assertRefused(await queue.trySendBatch([]), shape, text('SendMessageBatchRequestEntry'));
  assertRefused(await queue.tryRemoveBatch([]), shape, text('DeleteMessageBatchRequestEntry'));
  const entry = 'ChangeMessageVisibilityBatchRequestEntry';
  assertRefused(await queue.tryChangeVisibilityBatch([]), shape, text(entry));
});

test('a batch has up to ten entries (8.6)', async (open) => {
  assert.equal((await (await open.queue()).sendBatch(repeat(10))).length, 10);
  const text = 'Maximum number of entries per request are 10. You have sent 11.';
  await assertNothingSent(await open.queue(), repeat(11), 'TooManyEntriesInBatchRequest', text);
  const eleven = Array.from({ length: 11 }, () => ({}));
  assertRefused(
    await (await open.queue()).tryRemoveBatch(eleven),
    'TooManyEntriesInBatchRequest',
    text,
  );
  assertRefused(
    await (await open.queue()).tryChangeVisibilityBatch(eleven),
    'TooManyEntriesInBatchRequest',
    text,
  );
});

test('an entry id has 1 to 80 letters, digits, hyphens and underscores (8.6)', async (open) => {
  await (await open.queue()).sendBatch([{ id: 'aZ0-_' }, { id: 'x'.repeat(80) }]);
  const text =
    'A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.';
  for (const id of ['', 'a b', 'a.b', 'é', 'x'.repeat(81)]) {
    await assertNothingSent(await open.queue(), [{}, { id }], 'InvalidBatchEntryId', text);
  }
  assertRefused(
    await (await open.queue()).tryRemoveBatch([{ id: 'a b' }]),
    'InvalidBatchEntryId',
    text,
  );
  const change = await (await open.queue()).tryChangeVisibilityBatch([{ id: 'a b' }]);
  assertRefused(change, 'InvalidBatchEntryId', text);
});

test('an entry without an id fails the whole batch and is named by its position (8.6)', async (open) => {
  const entries = [{}, { id: undefined }];
  const text = (entry: string): string => `The request must contain the parameter ${entry}.2.Id.`;
  const shape = 'MissingParameter';
  await assertNothingSent(await open.queue(), entries, shape, text('SendMessageBatchRequestEntry'));
  const removal = await (await open.queue()).tryRemoveBatch(entries);
  assertRefused(removal, shape, text('DeleteMessageBatchRequestEntry'));
  const change = await (await open.queue()).tryChangeVisibilityBatch(entries);
  assertRefused(change, shape, text('ChangeMessageVisibilityBatchRequestEntry'));
});

test('the first repeated entry id is named (8.6)', async (open) => {
  const entries = ['a', 'b', 'c', 'b', 'a'].map((id) => ({ id }));
  await assertNothingSent(
    await open.queue(),
    entries,
    'BatchEntryIdsNotDistinct',
    'Id b repeated.',
  );
  const removal = await (await open.queue()).tryRemoveBatch(entries);
  assertRefused(removal, 'BatchEntryIdsNotDistinct', 'Id b repeated.');
  const change = await (await open.queue()).tryChangeVisibilityBatch(entries);
  assertRefused(change, 'BatchEntryIdsNotDistinct', 'Id b repeated.');
});

test('a batch has up to 1 MiB in all, attributes included (8.6)', async (open) => {
  const half = 'x'.repeat(524_288);
  accepted(await (await open.queue()).trySendBatch([{ body: half }, { body: half }]));
  const text = 'Batch requests cannot be longer than 1048576 bytes. You have sent 1048577 bytes.';
  const over = [{ body: half }, { body: `${half}x` }];
  await assertNothingSent(await open.queue(), over, 'BatchRequestTooLong', text);
  const attributes = [{ name: 'a', type: 'String', stringValue: 'x' }];
  const heavy = [{ body: half }, { body: half.slice(7), attributes }];
  await assertNothingSent(await open.queue(), heavy, 'BatchRequestTooLong', text);
});

test("the size limit of a batch is independent of the queue's own limit (8.6)", async (open) => {
  const queue = await open.queue({ attributes: { MaximumMessageSize: '1024' } });
  await queue.sendBatch(Array.from({ length: 10 }, () => ({ body: 'x'.repeat(1024) })));
  assert.deepEqual(await queue.counts(), [10, 0, 0]);
});

test('an entry without a group fails the whole batch on a FIFO queue (8.6, 17.2)', async (open) => {
  const text = 'The request must contain the parameter MessageGroupId.';
  const entries = [{}, { groupId: undefined }];
  await assertNothingSent(await open.queue({ fifo: true }), entries, 'InvalidParameterValue', text);
});

test('an entry without a deduplication id fails the whole batch on a FIFO queue (8.6, 17.2)', async (open) => {
  const text =
    'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly';
  const entries = [{}, { deduplicationId: undefined }];
  await assertNothingSent(await open.queue({ fifo: true }), entries, 'InvalidParameterValue', text);
});

test('on a content-based queue entries need no deduplication id (8.6)', async (open) => {
  const queue = await open.queue({ fifo: true, attributes: { ContentBasedDeduplication: 'true' } });
  await queue.sendBatch([
    { body: 'a', deduplicationId: undefined },
    { body: 'b', deduplicationId: undefined },
  ]);
  assert.deepEqual(await queue.counts(), [2, 0, 0]);
});

test('an entry that cannot be sent fails alone, and the others are sent (8.7)', async (open) => {
  const queue = await open.queue({ attributes: { MaximumMessageSize: '1024' } });
  const results = await queue.sendBatch([
    { body: 'first' },
    { body: '\0' },
    { body: 'x'.repeat(1025) },
    { body: '' },
    { attributes: [{ name: 'a', type: 'Text', stringValue: 'x' }] },
    { delaySeconds: 901 },
    { deduplicationId: 'd' },
    { body: 'last' },
  ]);
  assertRefused(results[1], 'InvalidMessageContents');
  assertRefused(
    results[2],
    'InvalidParameterValue',
    'One or more parameters cannot be validated. Reason: Message must be shorter than 1024 bytes.',
  );
  assertRefused(
    results[3],
    'MissingParameter',
    'The request must contain the parameter SendMessageBatchRequestEntry.4.MessageBody.',
  );
  for (const at of [4, 5, 6]) assertRefused(results[at], 'InvalidParameterValue');
  assert.deepEqual(await queue.receiveBodies(), ['first', 'last']);
});

test('a malformed id or a delay fails only its own entry on a FIFO queue (8.7)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const results = await queue.sendBatch([
    { groupId: '' },
    { deduplicationId: '' },
    { delaySeconds: 1 },
    { body: 'last' },
  ]);
  for (const at of [0, 1]) assertRefused(results[at], 'InvalidParameterValue');
  const text =
    'Value 1 for parameter DelaySeconds is invalid. Reason: The request include parameter that is not valid for this queue type.';
  assertRefused(results[2], 'InvalidParameterValue', text);
  assert.deepEqual(await queue.receiveBodies(), ['last']);
});

test('a missing member of a delete or visibility entry is named by its position (8.7)', async (open) => {
  const queue = await open.queue();
  const text = (name: string): string => `The request must contain the parameter ${name}.`;
  const changes = accepted(
    await queue.tryChangeVisibilityBatch([{ visibilitySeconds: 1 }, { receiptHandle: 'x' }]),
  ).results;
  const change = 'ChangeMessageVisibilityBatchRequestEntry';
  assertRefused(changes[0], 'MissingParameter', text(`${change}.1.ReceiptHandle`));
  assertRefused(changes[1], 'MissingParameter', text(`${change}.2.VisibilityTimeout`));
  const [removal] = accepted(await queue.tryRemoveBatch([{}])).results;
  const missing = text('DeleteMessageBatchRequestEntry.1.ReceiptHandle');
  assertRefused(removal, 'MissingParameter', missing);
});

test('entries are enqueued and answered in the order of the request (8.8)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const results = (await queue.sendBatch(repeat(10))).map(
    (result) => accepted(result).sequence as number,
  );
  assert.deepEqual(
    results,
    results.toSorted((a, b) => a - b),
  );
  assert.deepEqual(
    await queue.receiveBodies(),
    repeat(10).map(({ body }) => body),
  );
});

test('each entry of a delete has its own result (8.7)', async (open) => {
  const queue = await open.queue();
  await queue.sendBatch(repeat(2));
  const [one, two] = await queue.receive();
  const { results } = accepted(
    await queue.tryRemoveBatch([
      { receiptHandle: one?.receiptHandle as string },
      { receiptHandle: 'nonsense' },
      {},
      { receiptHandle: two?.receiptHandle as string },
      { receiptHandle: two?.receiptHandle as string },
    ]),
  );
  assert.deepEqual(
    results.map(({ ok }) => ok),
    [true, false, false, true, true],
  );
  assertRefused(results[1], 'ReceiptHandleIsInvalid');
  assertRefused(results[2], 'MissingParameter');
  assert.deepEqual(await queue.counts(), [0, 0, 0]);
});

test('each entry of a visibility change has its own result (8.7)', async (open) => {
  const queue = await open.queue();
  await queue.sendBatch(repeat(2));
  const [one, two] = await queue.receive();
  const { results } = accepted(
    await queue.tryChangeVisibilityBatch([
      { receiptHandle: one?.receiptHandle as string, visibilitySeconds: 0 },
      { receiptHandle: 'nonsense', visibilitySeconds: 0 },
      { receiptHandle: two?.receiptHandle as string, visibilitySeconds: 43_201 },
      { receiptHandle: two?.receiptHandle as string, visibilitySeconds: 0 },
    ]),
  );
  assert.deepEqual(
    results.map(({ ok }) => ok),
    [true, false, false, true],
  );
  assertRefused(results[1], 'ReceiptHandleIsInvalid');
  assertRefused(results[2], 'InvalidParameterValue');
  assert.deepEqual(await queue.counts(), [2, 0, 0]);
});

test('for a batch with several errors, the first in a fixed order is reported (14.3)', async (open) => {
  const queue = await open.queue({ fifo: true });
  const code = async (entries: readonly SendEntry[]): Promise<string> => {
    const outcome = await queue.trySendBatch(entries);
    return outcome.ok ? 'sent' : outcome.code;
  };
  const big = { body: 'x'.repeat(1_048_576), groupId: undefined };
  assert.equal(await code([]), 'batch-empty');
  assert.equal(
    await code(Array.from({ length: 11 }, () => ({ ...big, id: '!' }))),
    'batch-too-many',
  );
  assert.equal(await code([{ ...big, id: '!' }, { id: undefined }]), 'parameter-missing');
  assert.equal(
    await code([{ ...big, id: 'a' }, { ...big, id: 'a' }, { id: '!' }]),
    'batch-id-invalid',
  );
  assert.equal(
    await code([
      { ...big, id: 'a' },
      { ...big, id: 'a' },
    ]),
    'batch-id-repeated',
  );
  assert.equal(await code([big, big]), 'group-id-missing-in-batch');
  const grouped = { ...big, groupId: 'g' };
  assert.equal(
    await code([grouped, { ...grouped, deduplicationId: undefined }]),
    'deduplication-id-missing',
  );
  assert.equal(await code([grouped, { body: '\0' }]), 'batch-too-long');
  assert.equal(await code([{ body: '\0' }]), 'sent');
});
