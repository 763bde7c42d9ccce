/**
 * Deliveries to real HTTP endpoints: confirmation by link, signatures that the served certificate verifies, retries by the
 * clock, and what the inspect endpoints show of all this. The clock stands still unless a test moves it.
 */

import assert from 'node:assert/strict';
import { createVerify, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { startTestServer, type TestServer, type TestServerOptions } from '../../src/testing.ts';
import { readXml } from '../api/xml-reader.ts';

const timed = { timeout: 30_000 };
const prices = 'arn:aws:sns:us-east-1:000000000000:prices';

// biome-ignore lint/suspicious/noExplicitAny: looked into by member names, as a client would.
type Json = any;

interface Arrived {
  readonly headers: IncomingMessage['headers'];
  readonly body: Json;
}

/** An endpoint that records what is posted to it and answers as the test says. */
class Endpoint {
  readonly arrived: Arrived[] = [];
  status = 200;
  readonly #server: Server;
  readonly #waiting: (() => void)[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = text.startsWith('{');
        this.arrived.push({ headers: request.headers, body: isJson ? JSON.parse(text) : text });
        response.writeHead(this.status).end();
        for (const tell of this.#waiting.splice(0)) tell();
      });
    });
  }

  static async open(t: TestContext): Promise<Endpoint> {
    const endpoint = new Endpoint();
    endpoint.#server.listen(0, '127.0.0.1');
    await once(endpoint.#server, 'listening');
    t.after(() => endpoint.#server.close());
    return endpoint;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/in?a=1`;
  }

  /** Waits for the nth post and returns it. */
  async nth(count: number): Promise<Arrived> {
    while (this.arrived.length < count) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.arrived[count - 1] as Arrived;
  }
}

async function open(t: TestContext, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer({ clock: 'manual', ...options });
  t.after(() => server.close());
  return server;
}

async function sns(
  server: TestServer,
  action: string,
  parameters: Record<string, string>,
): Promise<Json> {
  const body = new URLSearchParams({ Action: action, Version: '2010-03-31', ...parameters });
  const response = await fetch(server.url, { method: 'POST', body });
  const { value } = readXml(await response.text());
  assert.equal(response.status, 200, JSON.stringify(value));
  return (value as Json)[`${action}Result`];
}

async function inspect(server: TestServer, path: string): Promise<Json> {
  return (await fetch(`${server.url}/_oncemq/${path}`)).json();
}

async function subscribed(server: TestServer, endpoint: Endpoint): Promise<string> {
  await sns(server, 'CreateTopic', { Name: 'prices' });
  const target = { TopicArn: prices, Protocol: 'http', Endpoint: endpoint.url };
  const answer = await sns(server, 'Subscribe', { ...target, ReturnSubscriptionArn: 'true' });
  const { body } = await endpoint.nth(1);
  assert.equal(body.Type, 'SubscriptionConfirmation');
  const confirmed = await fetch(body.SubscribeURL);
  assert.ok((await confirmed.text()).includes(answer.SubscriptionArn));
  return answer.SubscriptionArn;
}

async function proof(arrived: Arrived, fields: readonly string[]): Promise<boolean> {
  const { body } = arrived;
  const certificate = new X509Certificate(await (await fetch(body.SigningCertURL)).text());
  const text = fields
    .filter((name) => body[name] !== undefined)
    .map((name) => `${name}\n${body[name]}\n`);
  const algorithm = body.SignatureVersion === '2' ? 'RSA-SHA256' : 'RSA-SHA1';
  const verify = createVerify(algorithm).update(text.join(''));
  return verify.verify(certificate.publicKey, body.Signature, 'base64');
}

test(
  'an endpoint confirms by the posted link and gets notifications from then on',
  timed,
  async (t) => {
    const server = await open(t);
    const endpoint = await Endpoint.open(t);
    const arn = await subscribed(server, endpoint);
    await sns(server, 'Publish', { TopicArn: prices, Message: 'hello', Subject: 's' });
    const { headers, body } = await endpoint.nth(2);
    assert.equal(headers['x-amz-sns-message-type'], 'Notification');
    assert.equal(headers['x-amz-sns-subscription-arn'], arn);
    assert.deepEqual([body.Message, body.Subject], ['hello', 's']);
    assert.equal((await fetch(body.UnsubscribeURL)).status, 200);
    assert.equal((await sns(server, 'ListSubscriptions', {})).Subscriptions, '');
  },
);

test('many calls at once do not make Node warn of a listener leak', timed, async (t) => {
  const warnings: string[] = [];
  const note = ({ name }: Error): number => warnings.push(name);
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  const server = await open(t);
  const endpoint = await Endpoint.open(t);
  await subscribed(server, endpoint);
  const entries = Array.from({ length: 10 }, (_, index) => [
    [`PublishBatchRequestEntries.member.${index + 1}.Id`, `m${index}`],
    [`PublishBatchRequestEntries.member.${index + 1}.Message`, 'hello'],
  ]);
  const batch = { TopicArn: prices, ...Object.fromEntries(entries.flat()) };
  await Promise.all([1, 2, 3].map(() => sns(server, 'PublishBatch', batch)));
  await endpoint.nth(31);
  // Other warnings, such as those of the running Node version, do not matter here.
  assert.ok(!warnings.includes('MaxListenersExceededWarning'));
});

test('the served certificate proves both versions of the signature', timed, async (t) => {
  const server = await open(t);
  const endpoint = await Endpoint.open(t);
  await subscribed(server, endpoint);
  const fields = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'];
  await sns(server, 'Publish', { TopicArn: prices, Message: 'hello', Subject: 's' });
  assert.ok(await proof(await endpoint.nth(2), fields));
  const version = { AttributeName: 'SignatureVersion', AttributeValue: '2' };
  await sns(server, 'SetTopicAttributes', { TopicArn: prices, ...version });
  await sns(server, 'Publish', { TopicArn: prices, Message: 'hello' });
  const second = await endpoint.nth(3);
  assert.equal(second.body.SignatureVersion, '2');
  assert.ok(await proof(second, fields));
  const ofHandshake = [
    'Message',
    'MessageId',
    'SubscribeURL',
    'Timestamp',
    'Token',
    'TopicArn',
    'Type',
  ];
  assert.ok(await proof(await endpoint.nth(1), ofHandshake));
});

test(
  'a failing endpoint is called again by the clock, and pending calls are shown',
  timed,
  async (t) => {
    const server = await open(t);
    const endpoint = await Endpoint.open(t);
    await subscribed(server, endpoint);
    endpoint.status = 503;
    await sns(server, 'Publish', { TopicArn: prices, Message: 'hello' });
    await endpoint.nth(2);
    await server.clock.advance(20);
    assert.equal(endpoint.arrived.length, 3);
    const shown = await inspect(server, 'topics/prices');
    const [waiting] = shown.subscriptions[0].waiting;
    assert.equal(waiting.attempts, 2);
    assert.match(waiting.failure, /answered 503$/);
    endpoint.status = 204;
    await server.clock.advance(20);
    assert.equal(endpoint.arrived.length, 4);
    await server.clock.advance(3600);
    assert.equal(endpoint.arrived.length, 4);
  },
);

test('an endpoint that refuses permanently is given up, and that is counted', timed, async (t) => {
  const server = await open(t);
  const endpoint = await Endpoint.open(t);
  await subscribed(server, endpoint);
  endpoint.status = 400;
  await sns(server, 'Publish', { TopicArn: prices, Message: 'hello' });
  await endpoint.nth(2);
  await server.clock.advance(0);
  await server.clock.advance(3600);
  assert.equal(endpoint.arrived.length, 2);
  const { topics } = await inspect(server, 'topics');
  assert.equal(topics[0].failedDeliveries, 1);
  const failed = server.events.find(({ type }) => type === 'delivery-failed');
  assert.match(String((failed as { reason?: string }).reason), /answered 400 \(1 calls\)/);
});

test(
  'an unreachable endpoint is a transient failure, and a redirect a permanent one',
  timed,
  async (t) => {
    const server = await open(t);
    const endpoint = await Endpoint.open(t);
    await subscribed(server, endpoint);
    endpoint.status = 302;
    await sns(server, 'Publish', { TopicArn: prices, Message: 'hello' });
    await endpoint.nth(2);
    await server.clock.advance(100);
    assert.equal(endpoint.arrived.length, 2);
    // Nobody listens on port 1.
    const nowhere = { TopicArn: prices, Protocol: 'http', Endpoint: 'http://127.0.0.1:1/' };
    await sns(server, 'Subscribe', nowhere);
    await server.clock.advance(1);
    const shown = await inspect(server, 'topics/prices');
    assert.match(shown.subscriptions[1].waiting[0].failure, /cannot be reached/);
    // Not a valid URL: nothing is retried.
    await sns(server, 'Subscribe', { ...nowhere, Endpoint: 'http://127.0.0.1:99999/' });
    await server.clock.advance(1);
    assert.deepEqual((await inspect(server, 'topics/prices')).subscriptions[2].waiting, []);
  },
);

test('a stopping server does not wait for an endpoint that hangs', timed, async (t) => {
  const server = await open(t);
  const hanging = createServer(() => {});
  hanging.listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  t.after(() => {
    hanging.closeAllConnections();
    hanging.close();
  });
  await sns(server, 'CreateTopic', { Name: 'prices' });
  const { port } = hanging.address() as AddressInfo;
  const called = once(hanging, 'request');
  await sns(server, 'Subscribe', {
    TopicArn: prices,
    Protocol: 'http',
    Endpoint: `http://127.0.0.1:${port}/`,
  });
  await called;
  await server.close();
});

test('with enforced policies a queue must allow its topic', timed, async (t) => {
  const server = await open(t, { enforcePolicies: true });
  const sqs = async (action: string, input: object) => {
    const headers = {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': `AmazonSQS.${action}`,
    };
    const response = await fetch(server.url, {
      method: 'POST',
      headers,
      body: JSON.stringify(input),
    });
    return response.json();
  };
  await sqs('CreateQueue', { QueueName: 'jobs' });
  await sns(server, 'CreateTopic', { Name: 'prices' });
  const Endpoint = 'arn:aws:sqs:us-east-1:000000000000:jobs';
  await sns(server, 'Subscribe', { TopicArn: prices, Protocol: 'sqs', Endpoint });
  await sns(server, 'Publish', { TopicArn: prices, Message: 'hello' });
  assert.deepEqual(await sqs('ReceiveMessage', { QueueUrl: 'jobs' }), {});
  const shown = await inspect(server, 'topics/prices');
  assert.equal(shown.failedDeliveries.count, 1);
  assert.match(shown.failedDeliveries.latest[0].reason, /does not allow sns\.amazonaws\.com/);
});
