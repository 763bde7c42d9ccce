/**
 * Connections that are read without node:http, and how they are handed over to it. What a client sees of a connection is
 * tested with both values of `--http`. The tests use bare sockets, so that they control which bytes arrive in one piece.
 */

import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { BodyBudget } from '../../src/server/http/held-bytes.ts';
import { PlainConnection, type PlainListener } from '../../src/server/http/plain-connection.ts';
import { PlainConnections } from '../../src/server/http/plain-connections.ts';
import { UnreadAnswers } from '../../src/server/http/unread-answers.ts';
import { startTestServer } from '../../src/testing.ts';
import { AnswerReader, type HttpAnswer } from '../fuzz/http-answer.ts';

class Client {
  readonly socket: Socket;
  readonly #reader: AnswerReader = new AnswerReader();
  readonly #closed: Promise<unknown>;

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#closed = once(this.socket, 'close');
    this.socket.on('data', (chunk) => this.#reader.push(chunk));
    this.socket.pause();
  }

  async write(...pieces: (string | Buffer)[]): Promise<void> {
    for (const piece of pieces) {
      // Each piece is handed to the kernel, and after the turns read by the server in this process, before the next one.
      await new Promise((resolve) => this.socket.write(piece, resolve));
      await turns(3);
    }
  }

  /** The next answers; fewer if the connection ends first. */
  async answers(count: number): Promise<HttpAnswer[]> {
    const answers: HttpAnswer[] = [];
    this.socket.resume();
    while (answers.length < count) {
      const hasEnded = this.socket.closed;
      const answer = this.#reader.take({ hasEnded });
      if (answer !== undefined) answers.push(answer);
      else if (hasEnded) break;
      else await Promise.race([once(this.socket, 'data'), this.#closed]);
    }
    return answers;
  }

  async end(): Promise<void> {
    this.socket.resume();
    await this.#closed;
  }
}

/** For listeners whose requests are all complete. */
function refuseTruncated(): never {
  throw new Error('no request was to be truncated');
}

function bounds(): Pick<PlainListener, 'budget' | 'unread'> {
  return {
    budget: new BodyBudget(1_000_000),
    unread: new UnreadAnswers({ msMax: 30_000, largeMsMax: 30_000, bytesMax: 1_000_000 }),
  };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

type Http = 'plain' | 'node';

/** A test of what holds whoever reads the connection. */
function both(title: string, run: (t: TestContext, http: Http) => Promise<void>): void {
  for (const http of ['plain', 'node'] as const) test(`${title} (${http})`, (t) => run(t, http));
}

interface Fixture {
  readonly open: () => Client;
  /** Opens a connection that has been accepted and answered once. */
  readonly openUsed: () => Promise<Client>;
  readonly url: string;
}

async function start(t: TestContext, http: Http): Promise<Fixture> {
  const server = await startTestServer({ clock: 'manual', http });
  t.after(() => server.close());
  const open = (): Client => {
    const client = new Client(Number(new URL(server.url).port));
    t.after(() => client.socket.destroy());
    return client;
  };
  const openUsed = async (): Promise<Client> => {
    const client = open();
    await client.write(request('CreateQueue', { QueueName: 'jobs' }));
    assert.equal((await client.answers(1))[0]?.status, 200);
    return client;
  };
  await openUsed();
  return { open, openUsed, url: server.url };
}

function request(action: string, input: object, ...headers: string[]): string {
  const body = JSON.stringify(input);
  const lines = [
    'POST / HTTP/1.1',
    'Host: queue.example',
    'Content-Type: application/x-amz-json-1.0',
    `X-Amz-Target: AmazonSQS.${action}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

function send(body: string, ...headers: string[]): string {
  return request('SendMessage', { QueueUrl: 'jobs', MessageBody: body }, ...headers);
}

function formRequest(parameters: Record<string, string>): string {
  const body = new URLSearchParams(parameters).toString();
  const lines = ['POST / HTTP/1.1', 'Host: queue.example', `Content-Length: ${body.length}`];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

const longPoll = request('ReceiveMessage', { QueueUrl: 'jobs', WaitTimeSeconds: 20 });
const receive = { QueueUrl: 'jobs', MaxNumberOfMessages: 10, VisibilityTimeout: 0 };

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into at will here
function outputOf(answer: HttpAnswer | undefined): any {
  return JSON.parse(answer?.body.toString('utf8') ?? 'null');
}

async function bodiesIn({ open }: Fixture): Promise<string[]> {
  const client = open();
  await client.write(request('ReceiveMessage', receive));
  const [answer] = await client.answers(1);
  const { Messages = [] } = outputOf(answer);
  return Messages.map(({ Body }: { Body: string }) => Body).sort();
}

test('node:http reads every request if it is to, and usual ones not at all otherwise', async (t) => {
  let read = 0;
  const count = (): number => (read += 1);
  subscribe('http.server.request.start', count);
  t.after(() => unsubscribe('http.server.request.start', count));
  // Starting asks for a queue twice, on two connections.
  await (await start(t, 'plain')).openUsed();
  assert.equal(read, 0);
  await (await start(t, 'node')).openUsed();
  assert.equal(read, 2);
});

both(
  'an empty line that an earlier request left in the shared buffer does not end the head of another',
  async (t, http) => {
    const { openUsed } = await start(t, http);
    const [one, other] = [await openUsed(), await openUsed()];
    const whole = send('whole');
    await one.write(whole);
    assert.equal((await one.answers(1))[0]?.status, 200);
    const headEnd = whole.indexOf('\r\n\r\n');
    // As long as the other's head so far; what follows is not its body yet, but as long as that.
    const rest = `\r\nX-More: 1${whole.slice(headEnd)}`;
    const bodyLength = whole.length - headEnd;
    await other.write(whole.slice(0, headEnd), rest.slice(0, bodyLength), rest.slice(bodyLength));
    assert.equal((await other.answers(1))[0]?.status, 200);
  },
);

test('an answer has the same headers in the same order as from node:http', async (t) => {
  const lists: [string, string][][] = [];
  for (const http of ['plain', 'node'] as const) {
    const { open } = await start(t, http);
    const client = open();
    await client.write(send('x'));
    const [answer] = await client.answers(1);
    assert.equal(answer?.status, 200);
    lists.push([...(answer?.headers ?? [])]);
  }
  const [ours = [], nodes = []] = lists;
  assert.deepEqual(
    ours.map(([name]) => name),
    nodes.map(([name]) => name),
  );
  const fixed = (list: [string, string][]): [string, string][] =>
    list.filter(([name]) => name !== 'x-amzn-requestid' && name !== 'date');
  assert.deepEqual(fixed(ours), fixed(nodes));
});

both('a request is parsed the same however its bytes are split', async (t, http) => {
  const fixture = await start(t, http);
  const bytes = Buffer.from(send('grüße'));
  for (let cut = 1; cut < bytes.length; cut += 7) {
    const client = fixture.open();
    await client.write(bytes.subarray(0, cut), bytes.subarray(cut));
    const [answer] = await client.answers(1);
    assert.equal(answer?.status, 200, `cut at ${cut}`);
    // The connection still works.
    await client.write(send('again'));
    assert.equal((await client.answers(1))[0]?.status, 200, `cut at ${cut}`);
    client.socket.destroy();
  }
  assert.deepEqual([...new Set(await bodiesIn(fixture))], ['again', 'grüße']);
});

both('a non-ASCII answer is sent complete', async (t, http) => {
  const { open } = await start(t, http);
  const client = open();
  await client.write(send('żółć 🐘'), request('ReceiveMessage', receive));
  const answers = await client.answers(2);
  assert.equal(outputOf(answers[1]).Messages[0].Body, 'żółć 🐘');
});

both('pipelined requests are answered in order', async (t, http) => {
  const { open } = await start(t, http);
  const missing = request('GetQueueUrl', { QueueName: 'nobody' });
  const client = open();
  await client.write([send('1'), missing, send('2'), missing].join(''));
  const statuses = (await client.answers(4)).map(({ status }) => status);
  assert.deepEqual(statuses, [200, 400, 200, 400]);
  const other = open();
  await other.write(request('ReceiveMessage', { QueueUrl: 'nobody' }), send('3') + missing);
  assert.deepEqual(
    (await other.answers(3)).map(({ status }) => status),
    [400, 200, 400],
  );
});

both(
  'a request that begins in the same chunk as the end of another is not taken for its body',
  async (t, http) => {
    const fixture = await start(t, http);
    const client = await fixture.openUsed();
    const first = send('1');
    await client.write(first.slice(0, -5), first.slice(-5) + send('2'));
    const statuses = (await client.answers(2)).map(({ status }) => status);
    assert.deepEqual(statuses, [200, 200]);
    assert.deepEqual(await bodiesIn(fixture), ['1', '2']);
  },
);

both('a request that arrives while another is in progress waits for its turn', async (t, http) => {
  const fixture = await start(t, http);
  const client = await fixture.openUsed();
  await client.write(longPoll);
  await untilWaiting(fixture, 1);
  await client.write(request('GetQueueUrl', { QueueName: 'nobody' }));
  await fixture.open().write(send('x'));
  const [first, second] = await client.answers(2);
  assert.equal(outputOf(first).Messages[0].Body, 'x');
  assert.equal(second?.status, 400);
});

// node:http sees at once that this is not HTTP, and disconnects.
test('data that a client writes during a long poll is not buffered without limit', async (t) => {
  const fixture = await start(t, 'plain');
  const client = await fixture.openUsed();
  await client.write(longPoll);
  await untilWaiting(fixture, 1);
  // More than the kernel buffers hold; without backpressure it would all be read after 500 turns.
  client.socket.write(Buffer.alloc(32_000_000));
  await turns(2_000);
  assert.ok(client.socket.writableLength > 0);
});

// On node:http, a client that pipelines this much is disconnected: client-bounds.test.ts.
test('requests of a client that does not read are paused, and all answered once it reads', async (t) => {
  const { openUsed } = await start(t, 'plain');
  const body = 'x'.repeat(1_000_000);
  await (await openUsed()).write(send(body));
  const client = await openUsed();
  await client.write(request('ReceiveMessage', receive));
  await client.answers(1);
  client.socket.pause();
  let acted = 0;
  const count = (): number => (acted += 1);
  subscribe('oncemq.request', count);
  t.after(() => unsubscribe('oncemq.request', count));
  const asked = 60;
  for (let sent = 0; sent < asked; sent += 1) {
    await client.write(request('ReceiveMessage', receive));
    await turns(10);
  }
  // The kernel buffers hold a few megabytes of unread answers; the other requests are not acted upon.
  assert.ok(acted < asked / 2, `${acted} of ${asked} were acted upon, a megabyte each`);
  for (const answer of await client.answers(asked)) {
    assert.equal(outputOf(answer).Messages[0].Body.length, body.length);
  }
  assert.equal(acted, asked);
});

both(
  'requests that only node:http handles are understood on a connection that was plain before',
  async (t, http) => {
    const fixture = await start(t, http);
    const chunked = send('').replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked');
    const head = chunked.slice(0, chunked.indexOf('\r\n\r\n'));
    const input = JSON.stringify({ QueueUrl: 'jobs', MessageBody: 'in chunks' });
    const large = 'y'.repeat(100_000);
    for (const odd of [
      `${head}\r\n\r\n${input.length.toString(16)}\r\n${input}\r\n0\r\n\r\n`,
      send('expected', 'Expect: 100-continue'),
      send(large),
      'GET /_oncemq/health HTTP/1.1\r\nHost: x\r\n\r\n',
    ]) {
      const client = fixture.open();
      await client.write(send('plain'), odd, send('plain'));
      const statuses = (await client.answers(3)).map(({ status }) => status);
      assert.deepEqual(statuses, [200, 200, 200], odd.slice(0, 300));
    }
    assert.deepEqual(
      [...new Set(await bodiesIn(fixture))],
      ['expected', 'in chunks', 'plain', large],
    );
  },
);

both('a connection that a request asks to close is closed after its answer', async (t, http) => {
  const { open } = await start(t, http);
  const client = open();
  await client.write(send('1'), send('2', 'Connection: close'));
  const answers = await client.answers(3);
  assert.deepEqual(
    answers.map(({ headers }) => headers.get('connection')),
    ['keep-alive', 'close'],
  );
  await client.end();
});

// To node:http, a client that closes its side is gone.
test('a client that half-closes the connection gets its answer', async (t) => {
  const { open } = await start(t, 'plain');
  const client = open();
  client.socket.end(send('x'));
  assert.equal((await client.answers(1))[0]?.status, 200);
  await client.end();
});

// The same.
test('a client that half-closes during a long poll gets an empty answer and is disconnected', async (t) => {
  const fixture = await start(t, 'plain');
  const client = await fixture.openUsed();
  await client.write(longPoll);
  await untilWaiting(fixture, 1);
  client.socket.end();
  const [answer] = await client.answers(1);
  assert.deepEqual(outputOf(answer), {});
  assert.equal(answer?.headers.get('connection'), 'close');
  await client.end();
});

both('a request that is not HTTP is answered with 400 and disconnected', async (t, http) => {
  const { open } = await start(t, http);
  const client = open();
  await client.write('EHLO queue.example\r\n\r\n');
  assert.equal((await client.answers(1))[0]?.status, 400);
  await client.end();
});

for (const [form, whole] of Object.entries({
  JSON: send('x'),
  Query: formRequest({ Action: 'SendMessage', QueueUrl: 'jobs', MessageBody: 'x' }),
})) {
  both(
    `a truncated body is answered in the form of its request and not acted upon (${form})`,
    async (t, http) => {
      const fixture = await start(t, http);
      const longer = whole.replace(/(?<=Content-Length: )\d+/, (bytes) =>
        String(Number(bytes) + 1),
      );
      // The header TE sends the second one to node:http.
      for (const broken of [longer, longer.replace('\r\n\r\n', '\r\nTE: trailers\r\n\r\n')]) {
        const client = await fixture.openUsed();
        await client.write(broken);
        const received = text(client.socket);
        client.socket.end();
        const [head = '', body = ''] = (await received).split('\r\n\r\n');
        assert.match(head, /^HTTP\/1\.1 400 Bad Request\r\n(.*\r\n)*connection: close$/im);
        assert.match(
          body,
          form === 'JSON' ? /"message":"The request ended/ : /<Message>The request e/,
        );
      }
      assert.deepEqual(await bodiesIn(fixture), []);
      const client = fixture.open();
      await client.write(whole);
      assert.equal((await client.answers(1))[0]?.status, 200);
      assert.deepEqual(await bodiesIn(fixture), ['x']);
    },
  );
}

for (const leave of ['destroy', 'resetAndDestroy', 'end'] as const) {
  for (const [how, pieces] of Object.entries({ '': [], ', having written on': ['\r\n', '\r\n'] })) {
    both(
      `a long poll whose client disconnects takes no message (${leave}${how})`,
      async (t, http) => {
        const fixture = await start(t, http);
        const client = await fixture.openUsed();
        await client.write(longPoll);
        await untilWaiting(fixture, 1);
        await client.write(...pieces);
        client.socket[leave]();
        await untilWaiting(fixture, 0);
        const sender = fixture.open();
        await sender.write(send('x'));
        await sender.answers(1);
        assert.deepEqual(await bodiesIn(fixture), ['x']);
      },
    );
  }
}

/** Resolves when `count` receives are waiting. */
async function untilWaiting({ url }: Fixture, count: number): Promise<void> {
  for (let times = 0; times < 1_000; times += 1) {
    const page = await (await fetch(`${url}/metrics`)).text();
    if (Number(/^oncemq_long_polls(?:\{.*\})? (\d+)$/m.exec(page)?.[1]) === count) return;
  }
  assert.fail(`not ${count} receives wait`);
}

/** One connection of a listener whose sweeps are counted by hand. */
async function swept(
  t: TestContext,
  headers: Record<string, string> = {},
): Promise<{
  client: Client;
  connection: PlainConnection;
  sweepTo: (sweeps: number) => void;
}> {
  let sweeps = 0;
  const listener: PlainListener = {
    ...bounds(),
    isPlain: () => true,
    answer: async () => ({ status: 200, headers, body: '{}' }),
    handOver: (socket) => socket.destroy(),
    refuseTruncated,
    onError: (error) => assert.fail(String(error)),
    isClosing: false,
    get sweeps() {
      return sweeps;
    },
    keepAliveSeconds: 75,
  };
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const connected = once(server, 'connection');
  const client = new Client((server.address() as AddressInfo).port);
  t.after(() => client.socket.destroy());
  const [socket] = await connected;
  const connection = new PlainConnection(socket as Socket, listener, () => {});
  return {
    client,
    connection,
    sweepTo: (count) => {
      sweeps = count;
      connection.sweep(count - 5);
    },
  };
}

test('an idle connection ends, but not before its timeout', async (t) => {
  const { client, sweepTo } = await swept(t);
  sweepTo(5);
  await client.write(send('x'));
  assert.equal((await client.answers(1))[0]?.status, 200);
  sweepTo(10);
  await client.write(send('y'));
  assert.equal((await client.answers(1))[0]?.status, 200);
  sweepTo(16);
  await client.end();
});

test('a request that never completes ends with 408', async (t) => {
  const { client, connection, sweepTo } = await swept(t);
  await client.write(send('x').slice(0, -3));
  while (connection.isIdle) await new Promise((resolve) => setImmediate(resolve));
  sweepTo(6);
  assert.equal((await client.answers(1))[0]?.status, 408);
  await client.end();
});

test('a header value of an answer cannot inject another header', async (t) => {
  const { client } = await swept(t, { 'x-told': 'a\r\nx-forged: b\u00e9' });
  await client.write(send('x'));
  const [answer] = await client.answers(1);
  assert.equal(answer?.headers.get('x-told'), 'a??x-forged: b?');
  assert.equal(answer?.headers.has('x-forged'), false);
});

test('an answer sent while the server stops is the last of its connection', async (t) => {
  const server = createHttpServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  let answer = (): void => {};
  const connections = new PlainConnections(server, {
    ...bounds(),
    isPlain: () => true,
    refuseTruncated,
    answer: () =>
      new Promise((resolve) => {
        answer = () => resolve({ status: 200, headers: {}, body: '{}' });
      }),
    onError: (error) => assert.fail(String(error)),
  });
  await once(server, 'listening');
  const client = new Client((server.address() as AddressInfo).port);
  t.after(() => client.socket.destroy());
  await client.write(send('x'));
  connections.close();
  await turns(5);
  answer();
  const [last] = await client.answers(1);
  assert.equal(last?.headers.get('connection'), 'close');
  await client.end();
});

test('a body stays as it is while other connections are read', async (t) => {
  const server = createHttpServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  const waiting: (() => void)[] = [];
  new PlainConnections(server, {
    ...bounds(),
    isPlain: () => true,
    refuseTruncated,
    answer: ({ body }) =>
      new Promise((resolve) => {
        waiting.push(() =>
          resolve({ status: 200, headers: {}, body: Buffer.from(body).toString() }),
        );
        if (waiting.length === 2) for (const answer of waiting) answer();
      }),
    onError: (error) => assert.fail(String(error)),
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clients = ['first', 'other'].map((body) => ({ body, client: new Client(port) }));
  t.after(() => {
    for (const { client } of clients) client.socket.destroy();
  });
  for (const { body, client } of clients) await client.write(send(body));
  for (const { body, client } of clients) {
    const [answer] = await client.answers(1);
    assert.equal(outputOf(answer).MessageBody, body);
  }
});
