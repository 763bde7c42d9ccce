/**
 * Clients that send without end, do not read, or do both, over real sockets: what the server holds for them is bounded, others
 * are answered meanwhile, and every refusal is an answer or is counted. Both ways of reading HTTP are tested; the header TE
 * sends a request to node:http.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { configOf, type ServerOptions } from '../../src/server/config/options.ts';
import { UnreadAnswers } from '../../src/server/http/unread-answers.ts';
import { start } from '../../src/server/start-server.ts';
import { AnswerReader, type HttpAnswer } from '../fuzz/http-answer.ts';
import { ServerProcess } from '../fuzz/server-process.ts';

const timed = { timeout: 60_000 };
const toNode = ['TE: trailers'];

interface Fixture {
  readonly port: number;
  open(): Socket;
  /** Sends a request on a connection of its own. */
  ask(bytes: string | Buffer): Promise<HttpAnswer>;
  closed(cause: string): Promise<number>;
}

/** Real time is needed for the unread rule only, and short there. */
async function serve(
  t: TestContext,
  options: ServerOptions = {},
  unreadMsMax = 30_000,
): Promise<Fixture> {
  const config = configOf({ memory: true, port: 0, log: 'silent', queues: ['jobs'], ...options });
  const server = await start(config, { unreadMsMax });
  t.after(() => server.close());
  const { port } = server;
  const open = (): Socket => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => {});
    t.after(() => socket.destroy());
    return socket;
  };
  const ask = async (bytes: string | Buffer): Promise<HttpAnswer> => {
    const socket = open();
    socket.write(bytes);
    const [answer] = await answersOn(socket, 1);
    socket.destroy();
    return answer as HttpAnswer;
  };
  const closed = async (cause: string): Promise<number> => {
    const { body } = await ask('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    const line = new RegExp(
      `^oncemq_connections_closed_total\\{.*cause="${cause}".*\\} (\\d+)$`,
      'm',
    );
    return Number(line.exec(body.toString())?.[1]);
  };
  return { port, open, ask, closed };
}

async function answersOn(socket: Socket, count: number): Promise<HttpAnswer[]> {
  const reader = new AnswerReader();
  const answers: HttpAnswer[] = [];
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    reader.push(chunk as Buffer);
    for (let answer = reader.take(); answer !== undefined; answer = reader.take())
      answers.push(answer);
    if (answers.length >= count) break;
  }
  return answers;
}

function headOf(action: string, framing: string, headers: readonly string[] = []): string {
  const lines = [
    'POST / HTTP/1.1',
    'Host: x',
    'Content-Type: application/x-amz-json-1.0',
    `X-Amz-Target: AmazonSQS.${action}`,
    framing,
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function request(action: string, input: object, headers: readonly string[] = []): string {
  const body = JSON.stringify(input);
  return headOf(action, `Content-Length: ${Buffer.byteLength(body)}`, headers) + body;
}

const send = (body: string, headers: readonly string[] = []): string =>
  request('SendMessage', { QueueUrl: 'jobs', MessageBody: body }, headers);
const receive = { QueueUrl: 'jobs', VisibilityTimeout: 0 };

test('a body in chunks of one byte takes no more memory than its bytes', timed, async (t) => {
  const server = await ServerProcess.start();
  t.after(() => server.stop());
  const { rssBytes: before } = await server.memoryUse();
  const socket = connect(server.port, '127.0.0.1');
  t.after(() => socket.destroy());
  const input = JSON.stringify({ QueueUrl: 'none', MessageBody: 'x'.repeat(500_000) });
  socket.write(headOf('SendMessage', 'Transfer-Encoding: chunked'));
  for (const byte of input) socket.write(`1\r\n${byte}\r\n`);
  socket.write('0\r\n\r\n');
  const [answer] = await answersOn(socket, 1);
  assert.match(answer?.body.toString() ?? '', /QueueDoesNotExist/);
  const { peakBytes } = await server.memoryUse();
  const grown = (peakBytes - before) / 1e6;
  // As a list of pieces it was 190 MB.
  assert.ok(grown < 100, `${grown} MB`);
});

test(
  'beyond the bound for bodies a request gets 503, small ones work, and all do when there is room',
  timed,
  async (t) => {
    const { open, ask } = await serve(t, { bodiesMaxBytes: 10_000_000 });
    const holders: Socket[] = [];
    /** Sends a request but for its last byte. */
    const hold = (headers: readonly string[]): void => {
      const size = 16_000;
      const socket = open();
      socket.write(
        headOf('SendMessage', `Content-Length: ${size}`, headers) + ' '.repeat(size - 1),
      );
      holders.push(socket);
    };
    const large = send('x'.repeat(200_000));
    const plain = send('x'.repeat(60_000));
    let [refused, alike] = [await ask(large), await ask(plain)];
    // The server reads what is held soon, but not immediately; and a request that gets in between may keep some of it out.
    while (refused.status === 200 || alike.status === 200) {
      for (let count = 0; count < 10; count += 1) {
        hold([]);
        hold(toNode);
      }
      [refused, alike] = [await ask(large), await ask(plain)];
    }
    for (const answer of [refused, alike]) {
      assert.equal(answer.status, 503);
      assert.equal(answer.headers.get('retry-after'), '1');
      assert.match(answer.body.toString(), /ServiceUnavailableException.*too many large requests/);
    }
    const form = `Action=SendMessage&MessageBody=${'x'.repeat(100_000)}`;
    const xml = await ask(
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${form.length}\r\n\r\n${form}`,
    );
    assert.match(xml.body.toString(), /<Code>ServiceUnavailable<\/Code>/);
    const metrics = await ask('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.match(
      metrics.body.toString(),
      /oncemq_requests_total\{.*code="ServiceUnavailable".*\} [3-9]/,
    );
    assert.equal((await ask(send('small'))).status, 200);
    assert.equal((await ask(send('x'.repeat(3_000), toNode))).status, 200);
    for (const socket of holders) socket.destroy();
    for (const bytes of [large, plain]) {
      let answer = await ask(bytes);
      while (answer.status === 503) answer = await ask(bytes);
      assert.equal(answer.status, 200);
    }
  },
);

for (const [how, headers] of Object.entries({ plain: [], 'node:http': toNode })) {
  test(`bodies that end too early give their memory back (${how})`, timed, async (t) => {
    const { open, ask } = await serve(t, { bodiesMaxBytes: 10_000_000 });
    const size = how === 'plain' ? 60_000 : 1_000_000;
    const truncated =
      headOf('SendMessage', `Content-Length: ${size}`, headers) + ' '.repeat(size - 1);
    // Together they have twice as much as there may be.
    for (let count = 0; count < 20_000_000 / size; count += 1) {
      const socket = open();
      socket.end(truncated);
      const [answer] = await answersOn(socket, 1);
      assert.equal(answer?.status, 400, `${count}`);
      assert.match(answer.body.toString(), /ended before its body/, `${count}`);
    }
    assert.equal((await ask(send('x'.repeat(1_000_000)))).status, 200);
  });
}

test('long polls with large bodies count until they are answered', timed, async (t) => {
  const { open, ask } = await serve(t, { bodiesMaxBytes: 10_000_000, clock: 'manual' });
  const padded = { ...receive, WaitTimeSeconds: 20, padding: 'x'.repeat(60_000) };
  const polls = Array.from({ length: 200 }, () => open());
  for (const socket of polls) socket.write(request('ReceiveMessage', padded));
  const large = send('x'.repeat(60_000));
  let refused = await ask(large);
  while (refused.status === 200) refused = await ask(large);
  assert.equal(refused.status, 503);
  for (const socket of polls) socket.destroy();
  let answer = await ask(large);
  while (answer.status === 503) answer = await ask(large);
  assert.equal(answer.status, 200);
});

for (const [way, headers] of Object.entries({ plain: [], 'node:http': toNode })) {
  test(`a client that does not read its answers is disconnected (${way})`, timed, async (t) => {
    const { open, ask, closed } = await serve(t, {}, 100);
    assert.equal((await ask(send('x'.repeat(1_000_000)))).status, 200);
    const socket = open();
    socket.pause();
    const gone = once(socket, 'close');
    // More megabytes than the kernel buffers; the requests themselves fit into one read.
    socket.write(request('ReceiveMessage', receive, headers).repeat(30));
    while ((await closed('unread')) === 0) await ask(send('others are served'));
    socket.resume();
    await gone;
    assert.equal(await closed('unread'), 1);
  });

  test(`a client that reads slowly, but reads, gets everything (${way})`, timed, async (t) => {
    const { open, ask, closed } = await serve(t, {}, 1_000);
    assert.equal((await ask(send('x'.repeat(1_000_000)))).status, 200);
    const socket = open();
    socket.pause();
    socket.write(request('ReceiveMessage', receive, headers).repeat(30));
    await ask(send('a turn later'));
    assert.equal((await answersOn(socket, 30)).length, 30);
    assert.equal(await closed('unread'), 0);
  });
}

/** Adds an answer of so many bytes that its client does not read, and returns the socket of the server. */
type Leave = (bytes: number, writtenBytes?: number) => Promise<Socket>;

async function leaving(t: TestContext, unread: UnreadAnswers): Promise<Leave> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  // As a rule more than the kernel takes.
  return async (bytes, writtenBytes = 20_000_000) => {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = connect(port, '127.0.0.1').pause();
    const [socket] = await accepted;
    t.after(() => {
      for (const each of [client, socket]) each.destroy();
    });
    socket.on('error', () => {});
    socket.write(Buffer.alloc(writtenBytes));
    unread.watch(socket, bytes);
    return socket;
  };
}

test(
  'beyond the bound for unread answers the oldest large ones are closed first',
  timed,
  async (t) => {
    let closed = 0;
    const bounds = { msMax: 60_000, largeMsMax: 60_000, bytesMax: 25_000_000 };
    const leave = await leaving(t, new UnreadAnswers({ ...bounds, onClose: () => (closed += 1) }));
    const sockets: Socket[] = [];
    for (const bytes of [2_000_000, 20_000_000, 20_000_000, 2_000_000])
      sockets.push(await leave(bytes));
    const left = (): number[] => sockets.flatMap(({ destroyed }, at) => (destroyed ? [] : [at]));
    assert.deepEqual(left(), [0, 2, 3]);
    sockets.push(await leave(4_000_000), await leave(4_000_000));
    assert.deepEqual(left(), [0, 3, 4, 5]);
    for (let count = 0; count < 4; count += 1) sockets.push(await leave(4_000_000));
    assert.deepEqual(left(), [4, 5, 6, 7, 8, 9]);
    assert.equal(closed, 4);
    // Node lets it pass twice before it says that a client has not read anything.
    assert.equal(sockets.at(-1)?.timeout, 30_000);
  },
);

test('who leaves much unread has less time while others wait too', timed, async (t) => {
  const bounds = { msMax: 60_000, largeMsMax: 50, bytesMax: 100_000_000 };
  const unread = new UnreadAnswers(bounds);
  const leave = await leaving(t, unread);
  const alone = await leave(20_000_000);
  await once(alone, 'timeout');
  assert.equal(alone.destroyed, false);
  assert.equal(alone.timeout, 30_000);
  const small = await leave(1_000);
  assert.equal(small.timeout, 30_000);
  const large = await leave(20_000_000);
  await once(large, 'close');
  assert.deepEqual([alone.destroyed, small.destroyed], [false, false]);
  const betweenParts = await leave(20_000_000, 1_000);
  await once(betweenParts, 'timeout');
  assert.equal(betweenParts.destroyed, false);
  unread.forget(alone);
  assert.equal(alone.timeout, 0);
});

test('what waits for many readers of events is in memory once', timed, async (t) => {
  const server = await ServerProcess.start();
  t.after(() => server.stop());
  const ask = async (bytes: string): Promise<Socket> => {
    const socket = connect(server.port, '127.0.0.1');
    t.after(() => socket.destroy());
    socket.write(bytes);
    await once(socket, 'readable');
    return socket;
  };
  (await ask(request('CreateQueue', { QueueName: 'jobs' }))).destroy();
  const before = (await server.memoryUse()).heapBytes;
  const events = 'GET /_oncemq/events?bodies=true HTTP/1.1\r\nHost: x\r\n\r\n';
  for (let count = 0; count < 50; count += 1) await ask(events);
  const StringValue = '€'.repeat(4_096);
  const names = Array.from({ length: 10 }, (_, at) => `a${at}`);
  const attributes = names.map((name) => [name, { DataType: 'String', StringValue }]);
  const MessageAttributes = Object.fromEntries(attributes);
  const large = { QueueUrl: 'jobs', MessageBody: 'x', MessageAttributes };
  // 19 MB of events, more than the kernel buffers for a reader and the server may keep.
  for (let count = 0; count < 160; count += 1) (await ask(request('SendMessage', large))).destroy();
  (await ask(request('PurgeQueue', { QueueUrl: 'jobs' }))).destroy();
  const grown = ((await server.memoryUse()).heapBytes - before) / 1e6;
  // With a copy for each reader it was 400 MB.
  assert.ok(grown < 80, `${grown} MB`);
});

test(
  'any number of plain requests may be pipelined, and are answered in order',
  timed,
  async (t) => {
    const { open } = await serve(t);
    const socket = open();
    const count = 2_000;
    const numbers = Array.from({ length: count }, (_, at) => at);
    // The client ends its side at once: all that it asked before is answered.
    socket.end(numbers.map((at) => request('GetQueueUrl', { QueueName: `q${at}` })).join(''));
    const answers = await answersOn(socket, count + 1);
    assert.equal(answers.length, count);
    assert.ok(answers.every(({ status }) => status === 400));
  },
);

test(
  'other requests may be pipelined up to 32, beyond which the connection is closed',
  timed,
  async (t) => {
    const { open, closed } = await serve(t);
    const get = 'GET /_oncemq/health HTTP/1.1\r\nHost: x\r\n\r\n';
    const polite = open();
    polite.write(get.repeat(33));
    assert.equal((await answersOn(polite, 33)).length, 33);
    polite.write(get.repeat(33));
    assert.equal((await answersOn(polite, 33)).length, 33);
    assert.equal(await closed('pipelined'), 0);
    const greedy = open();
    greedy.write(get.repeat(1_000));
    await answersOn(greedy, 1_000);
    assert.equal(await closed('pipelined'), 1);
  },
);

test(
  'a body can be as large as its form makes a message of 1 MiB, and no larger',
  timed,
  async (t) => {
    const { ask } = await serve(t);
    const message = 1024 * 1024;
    const json = `{"QueueUrl":"jobs","MessageBody":"${'\\u0041'.repeat(message)}"}`;
    const sent = await ask(headOf('SendMessage', `Content-Length: ${json.length}`) + json);
    assert.equal(sent.status, 200, sent.body.toString());
    const text = '%41'.repeat(message);
    const post = (form: string): Promise<HttpAnswer> =>
      ask(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${form.length}\r\n\r\n${form}`);
    assert.equal((await post(`Action=SendMessage&QueueUrl=jobs&MessageBody=${text}`)).status, 200);
    // Base64 of the bytes FF is all slashes, each of which a form escapes.
    const value = '%2F'.repeat(((message - 100) / 3) * 4);
    const attribute = `MessageAttribute.1.Name=a&MessageAttribute.1.Value.DataType=Binary&MessageAttribute.1.Value.BinaryValue=${value}`;
    const binary = await post(`Action=SendMessage&QueueUrl=jobs&MessageBody=x&${attribute}`);
    assert.equal(binary.status, 200, binary.body.toString());
    const [jsonLimit, formLimit] = [7 * 1024 * 1024, 5 * 1024 * 1024];
    const refused = await ask(
      headOf('SendMessage', `Content-Length: ${jsonLimit + 1}`) + ' '.repeat(jsonLimit + 1),
    );
    assert.equal(refused.status, 413);
    assert.match(refused.body.toString(), /larger than 7340032 bytes/);
    assert.equal((await post('x'.repeat(formLimit + 1))).status, 413);
  },
);
