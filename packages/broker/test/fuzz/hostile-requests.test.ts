/**
 * 20,000 malformed and hostile requests from a printed seed, against `oncemq serve` in a separate process: every answer is
 * complete and a 4xx (or 200, if a request happens to be valid), the server stays up, its memory does not grow, and a good
 * client beside it never notices.
 *
 * Request n depends only on the seed and n. Flags: `--seed N`, `--path n` for that one request, and `--commands N` for a
 * shorter or longer run; the text of a failure says which to use.
 */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { seededRun } from '../support/seeded.ts';
import { Attack, requests } from './attack.ts';
import { KeptConnection } from './connection.ts';
import { GoodClient } from './good-client.ts';
import { prototypeNames } from './hostile-values.ts';
import type { Input } from './inputs.ts';
import { ServerProcess } from './server-process.ts';
import { jsonRequest } from './whole-request.ts';

/** Enough for every kind, including the large ones, so that code is compiled and buffers exist when measuring begins. */
const warmUpRequests = 3_000;

const mebibyte = 2 ** 20;
/**
 * Heap in use after a garbage collection that 17,000 requests may leave behind once their queues are deleted. Half of it is
 * compiled code, and the names of queues stay taken for a minute; a kilobyte for each request would be 17 MiB.
 */
const heapGrowthMax = 8 * mebibyte;
/** Memory held by the process: V8 and malloc keep some of what they allocated for bodies of 8 MiB from twelve clients. */
const rssGrowthMax = 256 * mebibyte;

/** Fewer: what differs is only that every request is signed, that policies decide, and that bodies are judged. */
const guardedRequests = 6_000;
/** Of the signed requests, these may have a signature that the server does not accept: strange headers and paths. */
const turnedAwayShareMax = 0.1;

const file = 'packages/broker/dist/test/fuzz/hostile-requests.test.js';

test('20,000 hostile requests get a well-formed 4xx, and a good client never notices', (t) =>
  withstand(t, { isGuarded: false, total: requests }));

test('so do 6,000 signed ones, at a server that checks signatures, policies and contracts', (t) =>
  withstand(t, { isGuarded: true, total: guardedRequests }));

async function withstand(
  t: TestContext,
  { isGuarded, total: usual }: { readonly isGuarded: boolean; readonly total: number },
): Promise<void> {
  const run = seededRun();
  console.log(`seed ${run.seed}: ${t.name}`);
  const again = `Again: npm run build && node ${file} --seed ${run.seed}`;
  const server = await ServerProcess.start({ isGuarded });
  t.after(() => server.stop());
  const attack = new Attack(server, run.seed, again);
  if (run.path !== undefined) {
    await attack.one(Number(run.path));
    return;
  }
  const total = run.commands ?? usual;
  const warmUp = Math.min(warmUpRequests, total >> 1);
  const good = [new GoodClient(server, 'good.fifo'), new GoodClient(server, 'good')];
  for (const client of good) await client.start();
  const stop = new AbortController();
  // A failure of a good client ends the run immediately.
  const failed = Promise.all(
    good.map((client) =>
      client.run(stop.signal).catch((cause: unknown) => {
        const text = `the good client noticed, in turn ${client.turns}: ${String(cause)}`;
        throw new Error(`${text}\n${again}\n${server.log}`, { cause });
      }),
    ),
  );
  await Promise.race([attack.run(0, warmUp), failed]);
  await attack.cleanUp();
  const before = await server.memoryUse();
  await Promise.race([attack.run(warmUp, total), failed]);
  await attack.cleanUp();
  stop.abort();
  await failed;
  for (const client of good) await client.finish();
  const after = await server.memoryUse();

  const heapGrowth = after.heapBytes - before.heapBytes;
  const rssGrowth = after.rssBytes - before.rssBytes;
  t.diagnostic(`${total} requests: ${attack.summary}`);
  for (const client of good) {
    t.diagnostic(
      `good client: ${client.turns} messages, slowest ${client.slowestMs.toFixed(0)} ms`,
    );
  }
  t.diagnostic(
    `memory in use: ${inMebibytes(before.heapBytes)}, then ${inMebibytes(heapGrowth)} more`,
  );
  t.diagnostic(`memory held: ${inMebibytes(before.rssBytes)}, then ${inMebibytes(rssGrowth)} more`);
  assert.equal(server.log, '', 'the server has logged no failure');
  assert.ok(heapGrowth < heapGrowthMax, `${inMebibytes(heapGrowth)} more in use\n${again}`);
  assert.ok(rssGrowth < rssGrowthMax, `${inMebibytes(rssGrowth)} more held\n${again}`);
  const turnedAway = `${attack.turnedAway} of ${total} requests were turned away`;
  assert.ok(attack.turnedAway < total * turnedAwayShareMax, turnedAway);
  assert.equal(await server.stop(), 0, 'the server stops when it is asked to');
}

test('names of JavaScript object members are ordinary names', async (t) => {
  const server = await ServerProcess.start();
  t.after(() => server.stop());
  const connection = new KeptConnection(server);
  t.after(() => connection.close());
  const ask = async (action: string, input: Input): Promise<Record<string, unknown>> => {
    const { status, body } = await connection.ask(jsonRequest(action, JSON.stringify(input)));
    assert.equal(status, 200, `${action}: ${body}`);
    return body.length === 0 ? {} : (JSON.parse(body.toString()) as Record<string, unknown>);
  };
  for (const name of prototypeNames) {
    const QueueUrl = `http://localhost/000000000000/${name}.fifo`;
    const tags = Object.fromEntries(prototypeNames.map((key) => [key, name]));
    const Attributes = { FifoQueue: 'true' };
    await ask('CreateQueue', { QueueName: `${name}.fifo`, Attributes, tags });
    assert.deepEqual((await ask('ListQueueTags', { QueueUrl }))['Tags'], tags);
    const value = { StringValue: name, DataType: `String.${name}` };
    const MessageAttributes = Object.fromEntries(
      [name, 'other'].map((key) => [key.replace(/^__|__$/g, ''), value]),
    );
    const sent = await ask('SendMessageBatch', {
      QueueUrl,
      Entries: prototypeNames.map((id) => ({
        Id: id,
        MessageBody: name,
        MessageGroupId: id,
        MessageDeduplicationId: id,
        MessageAttributes,
      })),
    });
    assert.equal((sent['Successful'] as unknown[]).length, prototypeNames.length);
    const { Messages: messages } = await ask('ReceiveMessage', {
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageAttributeNames: ['All'],
      ReceiveRequestAttemptId: name,
    });
    const received = messages as { MessageAttributes: unknown }[];
    assert.equal(received.length, prototypeNames.length);
    for (const message of received) assert.deepEqual(message.MessageAttributes, MessageAttributes);
  }
});

function inMebibytes(bytes: number): string {
  return `${(bytes / mebibyte).toFixed(1)} MiB`;
}
