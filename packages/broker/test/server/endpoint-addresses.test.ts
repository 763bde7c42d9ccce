/**
 * Which addresses topics may call on a server that checks signatures: none that are not public, however they are written, unless
 * the configuration names them. Names are judged by the addresses that the connection would go to.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { SNS } from '@aws-sdk/client-sns';
import { EndpointAddresses } from '../../src/server/endpoint-addresses.ts';
import { createPoster } from '../../src/server/poster.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../../src/testing.ts';

const timed = { timeout: 30_000 };
const key = { accessKeyId: 'AKIDPARTS', secretAccessKey: 'secret' };

const refusedHosts = [
  '127.0.0.1',
  '127.8.9.1',
  '2130706433',
  '0x7f.1',
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '169.254.169.254',
  '172.31.255.255',
  '192.168.0.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:10.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[::ffff:0:7f00:1]',
  '[3fff::1]',
  '[5f00::1]',
  '[2002:7f00:1::]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fe80::1]',
  '[febf::1]',
  '[ff02::1]',
];
const publicHosts = ['1.1.1.1', '100.128.0.1', '172.32.0.1', '[2606:4700::1111]', 'hooks.example'];

test('addresses that are not public are refused in every notation, and public ones are not', () => {
  const addresses = new EndpointAddresses([]);
  const problemOf = (host: string): string | undefined =>
    addresses.problemOf(`http://${host}:80/in`);
  for (const host of refusedHosts)
    assert.match(problemOf(host) ?? '', /not a public address/, host);
  for (const host of publicHosts) assert.equal(problemOf(host), undefined, host);
});

test("the machine's own addresses are refused, whichever they are", () => {
  const addresses = new EndpointAddresses([]);
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  assert.ok(own.length > 0);
  for (const { address, family } of own) {
    const host = family === 'IPv6' ? `[${address}]` : address;
    assert.notEqual(addresses.problemOf(`http://${host}/`), undefined, address);
  }
});

test('what the configuration names may be called', () => {
  const addresses = new EndpointAddresses(['10.0.0.0/8', '::1', 'fd00::/8']);
  for (const host of ['10.255.0.1', '[::1]', '[fd00::7]', '[::ffff:10.0.0.1]']) {
    assert.equal(addresses.problemOf(`http://${host}/`), undefined, host);
  }
  for (const host of ['11.0.0.1', '127.0.0.1', '192.168.0.1', '[fe80::1]']) {
    const isPublic = host === '11.0.0.1';
    assert.equal(addresses.problemOf(`http://${host}/`) === undefined, isPublic, host);
  }
});

/** A local endpoint that counts its calls. */
async function openEndpoint(t: TestContext, status = 200, headers = {}) {
  const seen = { calls: 0 };
  const endpoint = createServer(async (request, response) => {
    seen.calls += 1;
    const body = await text(request);
    response.writeHead(status, headers).end();
    endpoint.emit('called', body);
  }).listen(0, '127.0.0.1');
  t.after(() => endpoint.close());
  await once(endpoint, 'listening');
  const { port } = endpoint.address() as AddressInfo;
  return { seen, port, endpoint };
}

test('a name is judged by its addresses at every call', timed, async (t) => {
  const { seen, port } = await openEndpoint(t);
  const { signal } = new AbortController();
  const request = { url: `http://localhost:${port}/`, headers: {}, body: 'x' };
  const refused: string[] = [];
  const guarded = createPoster({
    addresses: new EndpointAddresses([]),
    onRefused: (reason) => refused.push(reason),
  });
  const result = await guarded(request, signal);
  assert.ok(!result.ok && result.isFinal);
  assert.match(result.reason, /localhost:\d+\/ may not be called: localhost is .*127\.0\.0\.1/);
  assert.deepEqual(refused, [result.reason]);
  assert.equal(seen.calls, 0);
  for (const allowed of [['localhost'], ['LOCALHOST'], ['127.0.0.0/8', '::1']]) {
    const open = createPoster({ addresses: new EndpointAddresses(allowed) });
    assert.deepEqual(await open(request, signal), { ok: true }, allowed.join());
  }
  assert.equal(seen.calls, 3);
  const literal = await guarded({ ...request, url: `http://127.0.0.1:${port}/` }, signal);
  assert.ok(!literal.ok && literal.isFinal);
  assert.equal(seen.calls, 3);
});

test('a redirect is not followed', timed, async (t) => {
  const inner = await openEndpoint(t);
  const Location = `http://127.0.0.1:${inner.port}/`;
  const outer = await openEndpoint(t, 307, { Location });
  const open = createPoster({ addresses: new EndpointAddresses(['localhost']) });
  const request = { url: `http://localhost:${outer.port}/`, headers: {}, body: 'x' };
  const result = await open(request, new AbortController().signal);
  assert.ok(!result.ok && /answered 307/.test(result.reason));
  assert.equal(inner.seen.calls, 0);
});

async function openServer(t: TestContext, options: TestServerOptions = {}) {
  const server: TestServer = await startTestServer({ clock: 'manual', ...options });
  const sns = new SNS({ ...server.clientConfig, maxAttempts: 1 });
  t.after(async () => {
    sns.destroy();
    await server.close();
  });
  const { TopicArn } = await sns.createTopic({ Name: 'prices' });
  const subscribe = (Endpoint: string) => sns.subscribe({ TopicArn, Protocol: 'http', Endpoint });
  return { server, sns, TopicArn, subscribe };
}

test('with signatures an address that is not public cannot be subscribed', timed, async (t) => {
  const { subscribe } = await openServer(t, { auth: 'sigv4', credentials: [key] });
  for (const host of refusedHosts) {
    await assert.rejects(subscribe(`http://${host}/`), (error: Error) => {
      assert.equal(error.name, 'InvalidParameterException', host);
      assert.match(error.message, /^Invalid parameter: Endpoint Reason: .*not a public address/);
      return true;
    });
  }
  await subscribe('http://hooks.invalid/');
});

test(
  'a delivery to an address that is no longer allowed fails with the reason',
  timed,
  async (t) => {
    const { seen, port, endpoint } = await openEndpoint(t);
    const data = await mkdtemp(join(tmpdir(), 'oncemq-endpoints-'));
    t.after(() => rm(data, { recursive: true }));
    const guarded = { data, auth: 'sigv4', credentials: [key] } as const;
    const before = await openServer(t, { ...guarded, allowEndpoints: 'localhost' });
    const called = once(endpoint, 'called');
    await before.subscribe(`http://localhost:${port}/`);
    const [body] = (await called) as [string];
    await fetch(JSON.parse(body).SubscribeURL);
    await before.server.close();
    const { server, sns, TopicArn } = await openServer(t, guarded);
    await sns.publish({ TopicArn, Message: 'hello' });
    let reason: string | undefined;
    // The call is made in the background.
    while (reason === undefined) {
      await server.clock.advance(1);
      const failed = server.events.find(({ type }) => type === 'delivery-failed');
      reason = (failed as { reason?: string } | undefined)?.reason;
    }
    assert.match(reason, /may not be called: localhost is .*127\.0\.0\.1, not a public address/);
    assert.equal(seen.calls, 1, 'only to confirm');
  },
);

test(
  'without signatures, or if the configuration allows it, this machine is called',
  timed,
  async (t) => {
    const allowed = { auth: 'sigv4', credentials: [key], allowEndpoints: ['127.0.0.1'] } as const;
    for (const options of [{}, allowed]) {
      const { endpoint, port } = await openEndpoint(t);
      const { subscribe } = await openServer(t, options);
      const called = once(endpoint, 'called');
      await subscribe(`http://127.0.0.1:${port}/`);
      await called;
    }
  },
);
