/**
 * Bodies that arrive at the same time: together they have a bound. A real HTTP server reads them, and counts the bytes that
 * have arrived, so that every body ends only after all of them have filled the space as far as they can.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { Bodies } from '../../src/server/http/bodies.ts';

const bodyBytes = 8 * 1024 * 1024;
const head = `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${bodyBytes}\r\n\r\n`;
const allButOne = 'x'.repeat(bodyBytes - 1);

async function openReader(t: TestContext) {
  const bodies = new Bodies();
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
    bodies.read(request, response, (body, refusal) => {
      response.end(refusal === undefined ? `${body.length}` : `${refusal.detail['reason']}`);
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
  return { hold, finish, leave };
}

const whole = /\b8388608\b/;

test('bodies beyond 256 MiB in flight are refused, and accepted again when there is room', async (t) => {
  const { hold, finish } = await openReader(t);
  const answers = await finish(await hold(40));
  const accepted = answers.filter((answer) => whole.test(answer));
  // A body that is refused frees its space, up to 8 MiB, and the others may stop short of filling it again.
  assert.ok(accepted.length === 31 || accepted.length === 32, `${accepted.length}`);
  const refused = answers.filter((answer) => /too many large requests/.test(answer));
  assert.equal(accepted.length + refused.length, 40);
  const later = await finish(await hold(2));
  assert.ok(later.every((answer) => whole.test(answer)));
});

test('bodies of clients that disconnect before the end free their room', async (t) => {
  const { hold, finish, leave } = await openReader(t);
  await leave(await hold(40));
  const later = await finish(await hold(2));
  assert.ok(later.every((answer) => whole.test(answer)));
});
