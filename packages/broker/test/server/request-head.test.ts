/**
 * The plain form of a request's head. Whatever it accepts, node:http must parse in the same way: otherwise one of them
 * could see a new request where the other sees the rest of a body.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { readPlainHead } from '../../src/server/http/request-head.ts';
import { AnswerReader } from '../fuzz/http-answer.ts';
import { Chance } from '../support/chance.ts';
import { seededRun } from '../support/seeded.ts';

const plain = ['POST / HTTP/1.1', 'Host: queue.example', 'Content-Length: 2'];

function read(...lines: string[]): ReturnType<typeof readPlainHead> {
  return readPlainHead(lines.join('\r\n'));
}

test('path, query, headers and length are read', () => {
  const lines = ['POST /a/b?c=d?e HTTP/1.1', 'HOST:x', 'Content-Length: 12', 'X-Amz-Target:  A.B '];
  assert.deepEqual(read(...lines), {
    path: '/a/b',
    query: 'c=d?e',
    headers: { host: 'x', 'content-length': '12', 'x-amz-target': 'A.B' },
    bodyBytes: 12,
  });
});

test('names are read in lower case, seen before or not, however many there are and however long', () => {
  for (let round = 0; round < 2; round += 1) {
    for (let number = 0; number < 500; number += 1) {
      const name = `X-${'Long-'.repeat(number % 20)}Name-${number}`;
      const head = read(...plain, `${name}: ${number}`);
      assert.equal(head?.headers[name.toLowerCase()], String(number));
      assert.equal(read(...plain, `${name}: 1`, `${name.toUpperCase()}: 2`), undefined);
    }
  }
});

/** `count` headers with distinct names. */
function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${index.toString(36)}:`);
}

/** The lines of a head of `count` bytes. */
function ofBytes(count: number): string[] {
  const empty = [...plain, 'X-Long: '];
  return [...plain, `X-Long: ${'a'.repeat(count - empty.join('\r\n').length)}`];
}

test('a head of 8 KiB and one of a hundred headers are plain', () => {
  assert.notEqual(read(...ofBytes(8_192)), undefined);
  assert.notEqual(read(...plain, ...numbered(98)), undefined);
});

test('a keep-alive header changes nothing', () => {
  assert.notEqual(read(...plain, 'Connection: Keep-Alive'), undefined);
});

for (const [why, lines] of Object.entries({
  'another method': ['GET / HTTP/1.1', ...plain.slice(1)],
  'another version': ['POST / HTTP/1.0', ...plain.slice(1)],
  'a whole URL': ['POST http://queue.example/ HTTP/1.1', ...plain.slice(1)],
  'no host': [plain[0], plain[2]],
  'no length': plain.slice(0, 2),
  'an odd length': [...plain.slice(0, 2), 'Content-Length: 0x2'],
  'a negative length': [...plain.slice(0, 2), 'Content-Length: -2'],
  'two lengths': [...plain, 'content-length: 2'],
  chunks: [...plain, 'Transfer-Encoding: chunked'],
  'a Connection header with close': [...plain, 'Connection: close'],
  'an Upgrade header': [...plain, 'Upgrade: h2c'],
  'an Expect header': [...plain, 'Expect: 100-continue'],
  'an Origin header': [...plain, 'Origin: http://queue.example'],
  'a Sec-Fetch-Site header': [...plain, 'Sec-Fetch-Site: same-origin'],
  trailers: [...plain, 'Trailer: X-Sum'],
  'a TE header': [...plain, 'TE: trailers'],
  'a folded header': [...plain, 'X-Long: a', ' b'],
  'a space before the colon': [...plain, 'X-Odd : a'],
  'a bare line feed': [...plain, 'X-Odd: a\nX-Other: b'],
  'a NUL byte': [...plain, 'X-Odd: \u0000'],
  'a non-ASCII letter': [...plain, 'X-Odd: \u00e9'],
  'a header named __proto__': [...plain, '__proto__: a'],
  'a header named constructor': [...plain, 'constructor: a'],
  'a tab': [...plain, 'X-Odd:\ta'],
  'a tab after a length': [...plain.slice(0, 2), 'Content-Length: 2\t'],
  'a head of over 8 KiB': ofBytes(8_193),
  'over a hundred headers': [...plain, ...numbered(99)],
})) {
  test(`it is left to node:http: ${why}`, () => {
    assert.equal(read(...(lines as string[])), undefined);
  });
}

const heads = 1_500;

const pieces: readonly ((chance: Chance) => string)[] = [
  () => 'X-Amz-Target: AmazonSQS.SendMessage',
  () => 'Connection: keep-alive',
  (chance) => `Connection: ${chance.pick(['close', 'Keep-Alive', 'keep-alive, TE', 'upgrade'])}`,
  (chance) =>
    `${chance.pick(['Content-Length', 'content-length'])}: ${chance.pick(['2', '02', '2 ', '3', '-1', '+2', '2,2', '1e1'])}`,
  (chance) => `Transfer-Encoding: ${chance.pick(['chunked', 'identity', ''])}`,
  (chance) =>
    `X-Any:${chance.pick(['', ' ', '\t', ' a b ', ' "q"', ' a:b', ' \u0001', ' \u00ff'])}`,
  (chance) => `${chance.pick(['X-A', 'x_a', 'x a', 'X-A ', '', 'x(', '*'])}: 1`,
  () => 'Host: other.example',
  () => ' folded',
  (chance) => `X-Long: ${'a'.repeat(chance.below(3 * 8_192))}`,
  (chance) => numbered(chance.below(1_200)).join('\r\n'),
];

function randomHead(chance: Chance): string {
  const line = chance.pick([
    'POST / HTTP/1.1',
    'POST /a%20b?c#d HTTP/1.1',
    'POST  / HTTP/1.1',
    'POST /"<>\\^`{|} HTTP/1.1',
  ]);
  const space = chance.isOneIn(5) ? chance.pick([' ', '\t']) : '';
  const lines = ['Host: queue.example', `Content-Length: 2${space}`];
  for (let count = chance.below(4); count > 0; count -= 1) {
    lines.splice(chance.below(lines.length + 1), 0, chance.pick(pieces)(chance));
  }
  if (chance.isOneIn(5)) lines.splice(chance.below(lines.length), 1);
  const ending = chance.isOneIn(20) ? '\n' : '\r\n';
  return [line, ...lines].join(ending);
}

/** How a bare node:http server reads a request with this head and a body of two bytes; undefined if it refuses it. */
async function readByNode(server: Server, head: string): Promise<unknown> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const reader = new AnswerReader();
  socket.on('data', (chunk: Buffer) => {
    reader.push(chunk);
    socket.end();
  });
  socket.on('error', () => {});
  socket.end(Buffer.from(`${head}\r\n\r\n{}`, 'latin1'));
  await once(socket, 'close');
  const answer = reader.take({ hasEnded: true });
  return answer?.status === 200 ? JSON.parse(answer.body.toString()) : undefined;
}

async function bareServer(): Promise<Server> {
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const { url, headers } = request;
      const body = Buffer.concat(chunks).toString();
      response.end(JSON.stringify({ url, headers, body }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

test('a head accepted as plain is read the same by node:http', async (t) => {
  const { seed } = seededRun();
  console.log(`seed ${seed}: ${t.name}`);
  const server = await bareServer();
  t.after(() => server.close());
  let taken = 0;
  for (let number = 0; number < heads; number += 1) {
    const head = randomHead(new Chance(seed, number));
    const ours = readPlainHead(head);
    if (ours === undefined || ours.bodyBytes !== 2) continue;
    taken += 1;
    const url = ours.query === '' ? ours.path : `${ours.path}?${ours.query}`;
    const expected = { url, headers: ours.headers, body: '{}' };
    assert.deepEqual(await readByNode(server, head), expected, JSON.stringify(head));
  }
  // Otherwise this test would prove nothing.
  assert.ok(taken > heads / 20, `${taken} of ${heads} are plain`);
});
