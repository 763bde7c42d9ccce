/**
 * Pages of other sites that are open in a user's browser: their requests to a server on the same machine, or in the
 * network, are refused; programs are let through.
 */

import assert from 'node:assert/strict';
import { get, request } from 'node:http';
import { test } from 'node:test';
import { startServer } from '../../src/index.ts';
import { startTestServer } from '../../src/testing.ts';

test('pages that reach a local server under a foreign host name are refused; programs are not', async (t) => {
  const server = await startTestServer({ publicUrl: 'https://queues.example' });
  t.after(() => server.close());
  const { port } = new URL(server.url);
  const status = (path: string, headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get(`${server.url}${path}`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', reject);
    });
  const site = { 'sec-fetch-site': 'same-origin' };
  const rebound = { host: `rebound.example:${port}` };
  for (const path of ['/_oncemq/queues', '/metrics', '/?Action=ListQueues']) {
    assert.equal(await status(path, { ...site, ...rebound }), 403, path);
    // All that a browser sends for a page loaded over HTTP from such a name.
    assert.equal(await status(path, { ...rebound, 'accept-language': 'en' }), 403, path);
    const fetchOfNode = { 'accept-language': '*', 'sec-fetch-mode': 'cors' };
    assert.equal(await status(path, { ...rebound, ...fetchOfNode }), 200, path);
    assert.equal(await status(path, rebound), 200, path);
    for (const host of ['localhost', '127.0.0.1', '[::1]', 'app.localhost']) {
      assert.equal(await status(path, { ...site, host: `${host}:${port}` }), 200, host);
    }
    assert.equal(await status(path, { ...site, host: 'queues.example' }), 200, path);
  }
  // Accept-Language does not matter for a POST of a program, even a large one.
  const large = await new Promise((resolve, reject) => {
    const headers = { ...rebound, 'accept-language': '*', 'x-amz-target': 'AmazonSQS.ListQueues' };
    request(server.url, { method: 'POST', headers }, ({ statusCode }) => resolve(statusCode))
      .on('error', reject)
      .end(`{${' '.repeat(100_000)}}`);
  });
  assert.equal(large, 200);
});

test('an image request from a page carries out no action, even without Sec-Fetch-Site', async (t) => {
  const server = await startServer({ host: '0.0.0.0', port: 0, memory: true, log: 'silent' });
  t.after(() => server.close());
  const { port } = server;
  const create = (
    method: string,
    name: string,
    headers: Record<string, string>,
  ): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const url = `http://127.0.0.1:${port}/?Action=CreateQueue&QueueName=${name}`;
      request(url, { method, headers: { host: 'queues.lan', ...headers } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
  const ofPage = { accept: 'image/*', 'accept-language': 'en' };
  assert.equal(await create('GET', 'by-a-page', ofPage), 403);
  assert.equal(await create('HEAD', 'by-a-page', ofPage), 403);
  assert.equal(await create('GET', 'by-a-program', {}), 200);
  const listed = await fetch(`http://127.0.0.1:${port}/_oncemq/queues`);
  const { queues } = (await listed.json()) as { queues: { name: string }[] };
  assert.deepEqual(
    queues.map(({ name }) => name),
    ['by-a-program'],
  );
});

test('a server for the whole network answers browsers only under the names that it was given', async (t) => {
  const server = await startServer({
    host: '0.0.0.0',
    port: 0,
    memory: true,
    log: 'silent',
    allowHost: ['Queues.lan', '[fd00::1]'],
    publicUrl: 'https://queues.example',
  });
  t.after(() => server.close());
  const { port } = server;
  const status = (path: string, headers: Record<string, string>, body = ''): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const url = `http://127.0.0.1:${port}${path}`;
      request(url, { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end(body);
    });
  const target = { 'x-amz-target': 'AmazonSQS.CreateQueue' };
  const input = JSON.stringify({ QueueName: 'by-a-page' });
  // The page of a name that was made to resolve to this server is of the same origin.
  for (const host of ['evil.test', `evil.test:${port}`, 'queues.lan.evil.test', '10.0.0.7']) {
    const ofPage = { host, origin: `http://${host}` };
    assert.equal(await status('/', { ...ofPage, ...target }, input), 403, host);
    assert.equal(await status('/_oncemq/reset', ofPage), 403, host);
    assert.equal(await status('/_oncemq/reset', { host }), 200, 'a program');
  }
  const names = [
    'localhost',
    '127.0.0.1',
    '[::1]',
    '0.0.0.0',
    'queues.lan',
    'QUEUES.LAN',
    '[fd00::1]',
  ];
  for (const name of names) {
    const host = `${name}:${port}`;
    const ofPage = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
    assert.equal(await status('/_oncemq/reset', ofPage), 200, name);
  }
  const proxied = { host: 'queues.example', origin: 'https://queues.example' };
  assert.equal(await status('/_oncemq/reset', proxied), 200);
});
