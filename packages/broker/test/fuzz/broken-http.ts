/**
 * Hostile bytes that are not complete HTTP requests: requests that cannot be parsed, break off, continue with garbage,
 * arrive a few bytes at a time, or whose client disconnects. Each uses a connection of its own.
 */

import type { Source } from './hostile.ts';
import { hostileText } from './hostile-values.ts';
import { actionNames, goodInput, type Targets } from './inputs.ts';
import { bytesOf, formRequest, jsonRequest } from './whole-request.ts';

export interface Broken {
  /** Written one after the other. */
  readonly pieces: readonly Buffer[];
  /** The pause between two pieces; only used to test slow clients. */
  readonly pauseMs: number;
  /**
   * What follows the last piece. finish: our side ends, and the server must answer or close; answer: the request is
   * complete, so one answer must come first; leave: we disconnect; hold: the connection stays open to the end of the run.
   */
  readonly ending: 'finish' | 'answer' | 'leave' | 'hold';
  /** How many complete requests are among the bytes: at most that many answers may be 200. */
  readonly wholes: number;
}

type Maker = (source: Source) => Broken;

export const brokenKinds: readonly (readonly [string, number, Maker])[] = [
  ['bad request line', 3, badRequestLine],
  ['bad header', 3, badHeader],
  ['wrong length', 3, wrongLength],
  ['truncated', 3, truncated],
  ['bad chunks', 3, badChunks],
  ['garbage behind good requests', 2, garbageBehind],
  ['client that leaves', 3, leaving],
  ['slow body', 1, slow],
  ['body that never ends', 1, unending],
];

function broken(...pieces: (string | Buffer)[]): Broken {
  const bytes = pieces.map((piece) => Buffer.from(piece as string, 'latin1'));
  return { pieces: bytes, pauseMs: 0, ending: 'finish', wholes: 0 };
}

function badRequestLine({ chance }: Source): Broken {
  const line = chance.pick([
    'GET',
    'GET /',
    'GET / HTTP/9.9',
    'GET / HTTP/0.9',
    'GET / HTTQ/1.1',
    'get / HTTP/1.1',
    ' GET / HTTP/1.1',
    'GET  HTTP/1.1',
    'POST / / HTTP/1.1',
    'GET /\0 HTTP/1.1',
    'GET /\xe9\xff HTTP/1.1',
    'SEND / HTTP/1.1',
    'CONNECT localhost:1 HTTP/1.1',
    'PRI * HTTP/2.0\r\n\r\nSM',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    '{"Action":"SendMessage"}',
    `GET /${'x'.repeat(20_000)} HTTP/1.1`,
    `${'\r\n'.repeat(500)}X`,
    '\0'.repeat(chance.below(500) + 1),
    Buffer.from(hostileText(chance)).toString('latin1').slice(0, 5_000),
  ]);
  return broken(`${line}\r\nHost: localhost\r\n\r\n`);
}

function badHeader({ chance }: Source): Broken {
  const header = chance.pick([
    'No colon here',
    ': no name',
    'Bad Name: x',
    'X-Nul: a\0b',
    'X-Bare: a\rb',
    'X-Del: \x7f',
    `X-Long: ${'x'.repeat(20_000)}`,
    Array.from({ length: 3_000 }, (_, index) => `X-${index}: ${index}`).join('\r\n'),
    'X-Folded: a\r\n b',
    'Content-Length: x',
    'Content-Length: -1',
    'Content-Length: 1e3',
    'Content-Length: 99999999999999999999999',
    'Content-Length: 1\r\nContent-Length: 2',
    'Content-Length: 5\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: gzip',
    'Transfer-Encoding: chunked, chunked',
    'Transfer-Encoding:\x0bchunked',
    'Host: second',
    Buffer.from(hostileText(chance)).toString('latin1').slice(0, 5_000),
  ]);
  const request = chance.isOneIn(4) ? 'POST / HTTP/1.1\r\n' : 'POST / HTTP/1.1\r\nHost: a\r\n';
  // Some of these headers are valid, and the request is then one without an action.
  return { ...broken(`${request}${header}\r\n\r\n`), wholes: 1 };
}

/** If too short, the rest of the body is taken for the next request; if too long, the body breaks off. */
function wrongLength({ chance, targets }: Source): Broken {
  const bytes = bytesOf(someRequest({ chance, targets })).toString('latin1');
  const change = chance.pick([-1, 1, -20, 20, 1_000_000, 8_000_000]);
  const wrong = bytes.replace(/Content-Length: (\d+)/, (_, length: string) => {
    return `Content-Length: ${Math.max(0, Number(length) + change)}`;
  });
  return { ...broken(wrong), wholes: 1 };
}

function someRequest({ chance, targets }: { chance: Source['chance']; targets: Targets }) {
  const action = chance.pick(actionNames);
  return chance.isOneIn(3)
    ? formRequest(`Action=${action}&QueueUrl=${targets.standard}`)
    : jsonRequest(action, JSON.stringify(goodInput(action, targets, chance.isOneIn(2))));
}

function truncated(source: Source): Broken {
  const { chance } = source;
  const request = someRequest(source);
  const bytes = bytesOf(chance.isOneIn(2) ? { ...request, framing: 'chunked' } : request);
  const part = bytes.subarray(0, 1 + chance.below(bytes.length - 1));
  return { ...broken(part), ending: chance.isOneIn(2) ? 'leave' : 'finish' };
}

function badChunks({ chance, targets }: Source): Broken {
  const head =
    'POST / HTTP/1.1\r\nHost: a\r\nX-Amz-Target: AmazonSQS.ListQueues\r\nTransfer-Encoding: chunked\r\n\r\n';
  const chunks = chance.pick([
    'x\r\n',
    '-1\r\n{}\r\n0\r\n\r\n',
    'ffffffffffffffffff\r\n{}',
    '2\r\n{}{}{}\r\n0\r\n\r\n',
    '5\r\n{}\r\n0\r\n\r\n',
    '0x2\r\n{}\r\n0\r\n\r\n',
    '2\n{}\n0\n\n',
    '2 \r\n{}\r\n0\r\n\r\n',
    `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
    `2\r\n{}\r\n0\r\n${'X-T: x\r\n'.repeat(3_000)}\r\n`,
    '2\r\n{}\r\n0\r\n bad trailer\r\n\r\n',
    `${'1\r\n \r\n'.repeat(2_000)}2\r\n{}\r\n`,
    `2\r\n{}\r\n0\r\n\r\n${targets.unique}`,
  ]);
  return { ...broken(head, chunks), wholes: 1 };
}

function garbageBehind(source: Source): Broken {
  const { chance } = source;
  const wholes = 1 + chance.below(5);
  const good = Array.from({ length: wholes }, () => bytesOf(someRequest(source)));
  const garbage = chance.pick(['\0\0\0', 'GET\r\n\r\n', '{}', hostileText(chance)]);
  const all = Buffer.concat([...good, Buffer.from(garbage)]);
  return { ...broken(all), wholes };
}

/** Disconnects in the middle of a long poll, of an answer, or of nothing at all. */
function leaving(source: Source): Broken {
  const { chance, targets } = source;
  const poll = jsonRequest(
    'ReceiveMessage',
    JSON.stringify({
      QueueUrl: chance.pick([targets.fifo, targets.standard]),
      WaitTimeSeconds: 20,
    }),
  );
  const bytes = bytesOf(chance.isOneIn(2) ? poll : someRequest(source));
  return {
    ...broken(chance.pick([bytes, Buffer.concat([bytes, bytes]), Buffer.alloc(0)])),
    ending: 'leave',
    wholes: 2,
  };
}

/** The pauses are the input: a body that takes dozens of reads, with other clients served between them. */
function slow(source: Source): Broken {
  const { chance } = source;
  const bytes = bytesOf(someRequest(source));
  const size = Math.ceil(bytes.length / (5 + chance.below(25)));
  const count = Math.ceil(bytes.length / size);
  const pieces = Array.from({ length: count }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
  return { pieces, pauseMs: 1 + chance.below(10), ending: 'answer', wholes: 1 };
}

function unending(source: Source): Broken {
  const bytes = bytesOf(someRequest(source));
  return { ...broken(bytes.subarray(0, bytes.length - 1)), ending: 'hold' };
}
