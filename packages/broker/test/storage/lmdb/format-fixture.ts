/**
 * A small store with one of everything, as this version writes it. Run with a directory, it creates one there:
 *
 *   node packages/broker/dist/test/storage/lmdb/format-fixture.js DIRECTORY
 *
 * It is left as by a server that was killed, with commits that are only in the journal. A new format gets a new fixture
 * beside the old ones (fixtures/format-N), which stay and must load forever.
 */

import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { SendEntry, SendResult } from '../../../src/core/commands.ts';
import { manualClock } from '../../../src/server/clock.ts';
import type { Backend, Delivered } from '../../../src/storage/backend.ts';
import { openDataBackend } from '../../../src/storage/lmdb/open.ts';
import { CountedIds } from '../../support/counted-ids.ts';
import { temporaryDirectory } from '../backends.ts';

export const startedAt = 1_800_000_000_000;
const queue = 'orders.fifo';
const deadQueue = 'dead.fifo';
const client = new AbortController();

export async function openFixture(directory: string): Promise<Backend> {
  return openDataBackend({ clock: manualClock(startedAt), ids: new CountedIds() }, { directory });
}

/** `beforeClosing` sees it as a server that is killed would leave it. */
export async function writeFixture(
  directory: string,
  beforeClosing: () => void = () => {},
): Promise<void> {
  const backend = await openFixture(directory);
  await fillFixture(backend);
  beforeClosing();
  await backend.close();
}

export async function fillFixture(backend: Backend): Promise<void> {
  const deadLetterTargetArn = `arn:aws:sqs:us-east-1:000000000000:${deadQueue}`;
  await backend.run({
    type: 'create-queue',
    queue: deadQueue,
    attributes: { FifoQueue: 'true' },
    tags: { team: 'parts' },
  });
  await backend.run({
    type: 'create-queue',
    queue,
    attributes: {
      FifoQueue: 'true',
      ContentBasedDeduplication: 'true',
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 }),
    },
  });
  await backend.run({ type: 'create-queue', queue: 'plain', attributes: { DelaySeconds: '600' } });
  await backend.run({ type: 'create-queue', queue: 'gone', attributes: {} });
  await backend.run({ type: 'delete-queue', queue: 'gone' });
  const attributes = [{ name: 'market', type: 'String', stringValue: 'retail' }];
  await send(backend, queue, { body: 'dies', groupId: 'd' });
  await receive(backend, { visibilitySeconds: 0 });
  await send(backend, queue, { body: 'dies too', groupId: 'e' });
  await receive(backend, { visibilitySeconds: 0 });
  // Together, so that they share what neighbors share.
  const together = [
    { id: '1', body: 'first äöü', groupId: 'g', attributes },
    { id: '2', body: 'second', groupId: 'g', deduplicationId: 'two' },
  ];
  await backend.run({ type: 'send', queue, isBatch: true, entries: together });
  await send(backend, 'plain', { body: 'later' });
  // This receive moves the dead letters, and one of them comes back at once.
  await receive(backend, { visibilitySeconds: 120, attemptId: 'attempt' });
  await backend.run({ type: 'start-move-task', sourceArn: deadLetterTargetArn, perSecond: 1 });
  await backend.advance(0);
}

/** Everything that the fixture has to show, whatever its format. */
export async function checkFixture(backend: Backend): Promise<void> {
  const repeated = await send(backend, queue, { body: 'first äöü', groupId: 'g' });
  assert.equal(repeated.isDuplicate, true, 'the window is there, by content');
  const second = { body: 'other', groupId: 'g', deduplicationId: 'two' };
  assert.equal((await send(backend, queue, second)).isDuplicate, true, 'and by id');

  const again = await receive(backend, { attemptId: 'attempt', visibilitySeconds: 120 });
  assert.deepEqual(
    again.map(({ content, receiveCount }) => [content.body, receiveCount]),
    [['first äöü', 1]],
    'the receive attempt is there, and the message in flight with its receipt',
  );
  const [message] = again;
  assert.deepEqual(message?.content.attributes, [
    { name: 'market', type: 'String', value: 'retail' },
  ]);
  const moved = bodiesOf(await receive(backend, {}));
  assert.deepEqual(moved, ['dies'], 'the group in flight waits');
  await backend.advance(1_000);
  const movedNext = bodiesOf(await receive(backend, {}));
  assert.deepEqual(movedNext, ['dies too'], 'the move task goes on');
  const entries = [{ receiptHandle: message?.receiptHandle }];
  const deleted = await backend.run({ type: 'delete-messages', queue, isBatch: false, entries });
  assert.equal(deleted.ok, true);

  const tags = await backend.run({ type: 'list-tags', queue: deadQueue });
  assert.deepEqual(tags.ok && tags.tags, { team: 'parts' });
  const refused = await backend.run({ type: 'create-queue', queue: 'gone', attributes: {} });
  assert.equal(refused.ok ? '' : refused.code, 'queue-deleted-recently', 'its name rests');
  assert.deepEqual(bodiesOf(await receive(backend, {})), ['second'], 'the group is free');
  await backend.advance(600_000);
  assert.deepEqual(bodiesOf(await receive(backend, {}, 'plain')), ['later'], 'the delay ended');
}

async function send(backend: Backend, to: string, entry: SendEntry): Promise<SendResult> {
  const outcome = await backend.run({ type: 'send', queue: to, isBatch: false, entries: [entry] });
  const [result] = outcome.ok ? outcome.results : [];
  assert.ok(result?.ok);
  return result;
}

async function receive(
  backend: Backend,
  options: { visibilitySeconds?: number; attemptId?: string },
  from: string = queue,
): Promise<readonly Delivered[]> {
  const received = await backend.receive({ type: 'receive', queue: from, ...options }, client);
  assert.ok(received.ok);
  return received.messages;
}

function bodiesOf(messages: readonly Delivered[]): string[] {
  return messages.map(({ content }) => content.body);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = process.argv[2] ?? assert.fail('name a directory');
  const { path, remove } = temporaryDirectory();
  const isWanted = (file: string): boolean => !file.endsWith('lock.mdb');
  await writeFixture(path, () => cpSync(path, target, { recursive: true, filter: isWanted }));
  remove();
}
