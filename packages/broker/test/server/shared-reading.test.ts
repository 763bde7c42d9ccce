/**
 * Accepted connections that read into one shared buffer, how they become ordinary streams, and those that cannot do
 * either and are read as usual.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import net, { type AddressInfo, connect, createServer, type Server, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { type OnRead, SharedReading } from '../../src/server/http/shared-reading.ts';

/** Both sides of a connection. */
async function pair(t: TestContext): Promise<{ client: Socket; accepted: Socket; server: Server }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [accepted] = (await once(server, 'connection')) as [Socket];
  t.after(() => {
    client.destroy();
    server.close();
  });
  return { client, accepted, server };
}

test('two connections read into the same memory', async (t) => {
  const memory = new Set<ArrayBufferLike>();
  for (const word of ['first', 'second']) {
    const { client, accepted } = await pair(t);
    const read = new Promise<Buffer>((resolve) => {
      new SharedReading(accepted, asSlice(resolve));
    });
    client.write(word);
    const bytes = await read;
    assert.equal(bytes.toString(), word);
    memory.add(bytes.buffer);
  }
  assert.equal(memory.size, 1);
});

test('what arrives after the end of shared reading goes through the stream, to its last byte', async (t) => {
  const { client, accepted } = await pair(t);
  let reading: SharedReading | undefined;
  const read = new Promise<Buffer>((resolve) => {
    reading = new SharedReading(accepted, asSlice(resolve));
  });
  client.write('shared');
  await read;
  reading?.end();
  const streamed = text(reading?.socket as Socket);
  // More than a stream holds before it asks its source to wait.
  client.end('x'.repeat(1_000_000));
  assert.equal((await streamed).length, 1_000_000);
});

test('a server does not count a connection any more once its socket has closed', async (t) => {
  const { accepted, server } = await pair(t);
  const { socket } = new SharedReading(accepted, () => {});
  socket.destroy();
  await once(accepted, 'close');
  await new Promise((resolve) => server.close(resolve));
});

test('a connection is read as usual if a new socket does not take its handle', async (t) => {
  const { client, accepted } = await pair(t);
  const { Socket: usual } = net;
  const read = new Promise<Buffer>((resolve) => {
    // What a later version of Node.js may do.
    net.Socket = class extends usual {
      constructor(_: object) {
        super({});
      }
    };
    syncBuiltinESMExports();
    assert.equal(new SharedReading(accepted, asSlice(resolve)).socket, accepted);
  });
  net.Socket = usual;
  syncBuiltinESMExports();
  client.write('as usual');
  assert.equal((await read).toString(), 'as usual');
});

test('a socket without a handle is read as usual', async () => {
  const accepted = Object.assign(new Socket(), { _handle: undefined });
  const read = new Promise<Buffer>((resolve) => {
    assert.equal(new SharedReading(accepted, asSlice(resolve)).socket, accepted);
  });
  accepted.push('as usual');
  assert.equal((await read).toString(), 'as usual');
});

function asSlice(resolve: (bytes: Buffer) => void): OnRead {
  return (buffer, length) => resolve(buffer.subarray(0, length));
}
