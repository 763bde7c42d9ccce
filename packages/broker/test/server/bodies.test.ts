/**
 * Bodies of requests that are under way at the same time: together they have a bound, which counts the memory they take until
 * they are answered. A real HTTP server reads them, and counts the bytes that have arrived, so that every body ends only after
 * all of them have filled the space as far as they can.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { readBody } from '../../src/server/http/bodies.ts';
import { BodyBudget, HeldBytes, uncountedBytes } from '../../src/server/http/held-bytes.ts';

const bodyBytes = 4 * 1024 * 1024;
const budgetBytes = 8 * bodyBytes;
const head = `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${bodyBytes}\r\n\r\n`;
const allButOne = 'x'.repeat(bodyBytes - 1);

async function openReader(t: TestContext) {
  const budget = new BodyBudget(budgetBytes);
  const releases: (() => void)[] = [];
  let arrived = 0;
  let awaited = 0;
  let open = 0;
  const server = createServer((request, response) => {
    open += 1;
    request.on('data', (chunk: Buffer) => {
      arrived += chunk.length;
      if (arrived === awaited) server.emit('all-arrived');
    });
    request.on('close', () => {
      open -= 1;
      if (open === 0) server.emit('all-gone');
    });
    readBody(request, response, budget, ({ bytes, refusal, release }) => {
      releases.push(release);
      response.end(refusal === undefined ? `${bytes.length}` : `${refusal.detail['reason']}`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;

  /** Sends so many bodies, each but for its last byte; resolves when all these bytes have been read. */
  const hold = async (count: number): Promise<Socket[]> => {
    awaited = arrived + count * allButOne.length;
    const allArrived = once(server, 'all-arrived');
    const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
    for (const socket of sockets) socket.write(head + allButOne);
    await allArrived;
    return sockets;
  };
  const finish = (sockets: readonly Socket[]): Promise<string[]> =>
    Promise.all(
      sockets.map(async (socket) => {
        socket.write('x');
        return (await text(socket)).split('\r\n\r\n')[1] ?? '';
      }),
    );
  const leave = async (sockets: readonly Socket[]): Promise<void> => {
    const allGone = once(server, 'all-gone');
    for (const socket of sockets) socket.destroy();
    await allGone;
  };
  const releaseAll = (): void => {
    for (const release of releases.splice(0)) release();
  };
  return { budget, hold, finish, leave, releaseAll };
}

const whole = /\b4194304\b/;

test('bodies beyond the bound are refused, and accepted again when there is room', async (t) => {
  const { budget, hold, finish, releaseAll } = await openReader(t);
  const answers = await finish(await hold(12));
  const accepted = answers.filter((answer) => whole.test(answer));
  // A body that is refused frees its space, and the others may stop short of filling it again.
  assert.ok(accepted.length >= 4 && accepted.length <= 8, `${accepted.length}`);
  const refused = answers.filter((answer) => /too many large requests/.test(answer));
  assert.equal(accepted.length + refused.length, 12);
  assert.equal(budget.bytes, accepted.length * bodyBytes, 'a body counts until it is answered');
  releaseAll();
  const later = await finish(await hold(2));
  assert.ok(later.every((answer) => whole.test(answer)));
});

test('bodies of clients that disconnect before the end free their room', async (t) => {
  const { budget, hold, finish, leave } = await openReader(t);
  await leave(await hold(12));
  assert.equal(budget.bytes, 0);
  const later = await finish(await hold(2));
  assert.ok(later.every((answer) => whole.test(answer)));
});

test('bytes that arrive one by one take a buffer of at most twice their number', () => {
  const budget = new BodyBudget(budgetBytes);
  const held = new HeldBytes(budget);
  const piece = Buffer.from('x');
  for (let count = 0; count < 100_000; count += 1) assert.ok(held.add(piece, bodyBytes));
  assert.equal(held.bytes.length, 100_000);
  assert.ok(budget.bytes >= 100_000 && budget.bytes < 200_000, `${budget.bytes}`);
  held.release();
  assert.equal(budget.bytes, 0);
});

test('a small body is accepted when the bound is reached, a larger one is not', () => {
  const budget = new BodyBudget(10_000);
  const [large, small, other] = [0, 1, 2].map(() => new HeldBytes(budget)) as [
    HeldBytes,
    HeldBytes,
    HeldBytes,
  ];
  assert.ok(large.add(Buffer.alloc(10_000), 10_000));
  assert.ok(small.add(Buffer.alloc(uncountedBytes), uncountedBytes));
  assert.ok(!other.add(Buffer.alloc(uncountedBytes + 1), uncountedBytes + 1));
  assert.equal(other.length, 0);
  large.release();
  assert.ok(other.add(Buffer.alloc(uncountedBytes + 1), uncountedBytes + 1));
});
