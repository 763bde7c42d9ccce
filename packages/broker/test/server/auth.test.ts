/**
 * A server that checks signatures, apart from SQS and SNS themselves: who may use its own endpoints, the links that SNS
 * posts to HTTP endpoints, and what is never revealed. Over real HTTP, on a manual clock.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { SNS } from '@aws-sdk/client-sns';
import { signedHeaders } from '../../src/cli/signing.ts';
import { startServer } from '../../src/index.ts';
import { startTestServer, type TestServer } from '../../src/testing.ts';

const timed = { timeout: 30_000 };
const key = { accessKeyId: 'AKIDPARTS', secretAccessKey: 'se:cret' };

async function open(t: TestContext): Promise<TestServer> {
  const server = await startTestServer({
    clock: 'manual',
    auth: 'sigv4',
    credentials: [key],
    allowEndpoints: '127.0.0.1',
  });
  t.after(() => server.close());
  return server;
}

function basic(id: string, secret: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

const good = basic(key.accessKeyId, key.secretAccessKey);

test('health and the certificate are public, everything else requires a key', async (t) => {
  const server = await open(t);
  const status = async (path: string, init: RequestInit = {}): Promise<number> =>
    (await fetch(`${server.url}/_oncemq/${path}`, init)).status;
  assert.equal(await status('health'), 200);
  assert.equal(await status('../health'), 200);
  assert.equal(await status('signing-certificate.pem'), 200);
  for (const path of [
    '',
    'queues',
    'topics',
    'events',
    'nothing',
    'health/',
    '../_oncemq/queues',
    '../metrics',
  ]) {
    assert.equal(await status(path), 401, path);
  }
  assert.equal(await status('reset', { method: 'POST' }), 401);
  assert.equal(await status('queues', { headers: good }), 200);
  assert.equal(await status('../metrics', { headers: good }), 200);
  assert.equal(await status('reset', { method: 'POST', headers: good }), 200);
});

test('a browser is asked for key id and secret, and a wrong pair is refused', async (t) => {
  const server = await open(t);
  const url = `${server.url}/_oncemq/queues`;
  const asked = await fetch(url);
  assert.match(asked.headers.get('www-authenticate') ?? '', /^Basic realm="oncemq"/);
  assert.equal(((await asked.json()) as { error: { code: string } }).error.code, 'AccessDenied');
  const wrong = [
    basic('AKIDPARTS', 'other'),
    basic('OTHER', 'se:cret'),
    basic('', ''),
    basic('AKIDPARTS', ''),
  ];
  for (const headers of wrong) assert.equal((await fetch(url, { headers })).status, 401);
});

test('a page of another site cannot use credentials that a browser remembers', async (t) => {
  const server = await open(t);
  const ask = async (site: string): Promise<number> => {
    const headers = { ...good, 'sec-fetch-site': site };
    return (await fetch(`${server.url}/_oncemq/reset`, { method: 'POST', headers })).status;
  };
  assert.equal(await ask('cross-site'), 403);
  assert.equal(await ask('same-site'), 403);
  assert.equal(await ask('same-origin'), 200);
});

test('the console works with key id and secret, and not without', async (t) => {
  const server = await open(t);
  const create = (path: string, headers: Record<string, string>): Promise<Response> =>
    fetch(`${server.url}/${path}`, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'AmazonSQS.CreateQueue',
      },
      body: JSON.stringify({ QueueName: 'made-by-hand' }),
    });
  assert.equal((await create('_oncemq/sqs', {})).status, 401);
  assert.equal((await create('_oncemq/sqs', { ...good, origin: 'http://other' })).status, 403);
  assert.equal((await create('_oncemq/sqs', good)).status, 200);
  // The credentials that a browser remembers work only below the console's path.
  assert.equal((await create('', good)).status, 400);
});

test('a query with a repeated name is verified as it was sent', async (t) => {
  const server = await open(t);
  const url = new URL(`${server.url}/_oncemq/events?queue=a&queue=b`);
  const keys = { ...key, region: 'us-east-1' };
  const headers = await signedHeaders({ url, method: 'GET', headers: {} }, keys);
  const answer = await fetch(url, { headers });
  assert.equal(answer.status, 200);
  await answer.body?.cancel();
  const changed = `${server.url}/_oncemq/events?queue=a&queue=c`;
  assert.equal((await fetch(changed, { headers })).status, 403, 'each value is signed');
});

test('without signatures pages of other sites can do nothing but follow the links of SNS', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const ask = async (query: string, headers: Record<string, string>): Promise<string> => {
    const answer = await fetch(`${server.url}/?${query}`, { method: 'POST', headers });
    const [, code = 'OK'] = /<Code>(.*?)<\/Code>/.exec(await answer.text()) ?? [];
    return `${answer.status} ${code}`;
  };
  const create = 'Action=CreateQueue&QueueName=q';
  assert.equal(await ask(create, { 'sec-fetch-site': 'cross-site' }), '403 AccessDenied');
  assert.equal(await ask(create, { origin: 'http://elsewhere.example' }), '403 AccessDenied');
  assert.equal(await ask(create, { origin: 'null' }), '403 AccessDenied');
  assert.equal(await ask(create, { origin: server.url }), '200 OK');
  assert.equal(await ask(create, {}), '200 OK');
  const unsubscribe = 'Action=Unsubscribe&Version=2010-03-31&SubscriptionArn=none';
  assert.match(await ask(unsubscribe, { 'sec-fetch-site': 'cross-site' }), /InvalidParameter/);
});

test('signed header names may be names of JavaScript object members', async (t) => {
  const server = await open(t);
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${key.accessKeyId}/${time.slice(0, 8)}/us-east-1/sqs/aws4_request`;
  for (const name of ['__proto__', 'constructor', 'tostring', 'set-cookie']) {
    const names = ['host', 'x-amz-date', name].sort().join(';');
    const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=${names}, Signature=${'0'.repeat(64)}`;
    const headers = { authorization, 'x-amz-date': time };
    for (const path of ['', '_oncemq/queues']) {
      const answer = await fetch(`${server.url}/${path}?Action=ListQueues`, { headers });
      assert.equal(answer.status, 403, `${name} ${path}`);
      assert.match(await answer.text(), /SignatureDoesNotMatch/);
    }
  }
});

test("a bad signature is reported with the AWS error code at the server's own endpoints too", async (t) => {
  const server = await open(t);
  const headers = { authorization: 'AWS4-HMAC-SHA256 Credential=a' };
  const answer = await fetch(`${server.url}/_oncemq/queues`, { headers });
  assert.equal(answer.status, 400);
  assert.equal(
    ((await answer.json()) as { error: { code: string } }).error.code,
    'IncompleteSignature',
  );
});

test(
  'an HTTP endpoint confirms and unsubscribes by its links, without a signature',
  timed,
  async (t) => {
    const server = await open(t);
    const posted: Record<string, string>[] = [];
    const endpoint = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        posted.push(JSON.parse(text));
        response.end();
        endpoint.emit('posted');
      });
    }).listen(0, '127.0.0.1');
    t.after(() => endpoint.close());
    await once(endpoint, 'listening');
    const Endpoint = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`;
    const sns = new SNS(server.clientConfig);
    t.after(() => sns.destroy());
    const { TopicArn } = await sns.createTopic({ Name: 'prices' });
    const asked = once(endpoint, 'posted');
    await sns.subscribe({ TopicArn, Protocol: 'http', Endpoint });
    await asked;
    const link = posted[0]?.['SubscribeURL'] as string;
    const owned = await fetch(`${link}&AuthenticateOnUnsubscribe=true`);
    assert.equal(owned.status, 403, 'who asks that unsubscribing takes a signature must give one');
    assert.equal((await fetch(link)).status, 200);
    const notified = once(endpoint, 'posted');
    await sns.publish({ TopicArn, Message: 'hello' });
    await notified;
    assert.equal((await fetch(posted[1]?.['UnsubscribeURL'] as string)).status, 200);
    assert.deepEqual((await sns.listSubscriptions({})).Subscriptions, []);
  },
);

test('the configuration of a started server does not show its secrets', async (t) => {
  const server = await startServer({ port: 0, memory: true, auth: 'sigv4', credentials: [key] });
  t.after(() => server.close());
  const shown = inspect(server.config, { depth: 9 }) + JSON.stringify(server.config);
  assert.ok(shown.includes(key.accessKeyId));
  assert.ok(!shown.includes(key.secretAccessKey));
});
