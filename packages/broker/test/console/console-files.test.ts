/**
 * The console's files as the server gives them: where they are, what protects them, and that nothing else of the machine
 * can be had. No browser is needed for this.
 */

import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { startTestServer, type TestServer } from '../../src/testing.ts';

async function serve(t: TestContext): Promise<TestServer> {
  const server = await startTestServer();
  t.after(() => server.close());
  return server;
}

test('the page allows nothing from elsewhere, no inline code, and no frame around it', async (t) => {
  const { url } = await serve(t);
  const page = await fetch(`${url}/_oncemq/`);
  assert.equal(page.status, 200);
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  const policy = page.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'self'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.equal(page.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(page.headers.get('access-control-allow-origin'), null);
});

test('every file that the page references exists, with its type, and is referenced relatively', async (t) => {
  const { url } = await serve(t);
  const text = await (await fetch(`${url}/_oncemq/`)).text();
  const names = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] as string);
  assert.ok(names.length >= 4);
  for (const name of names) {
    assert.doesNotMatch(name, /^\/|:/);
    const file = await fetch(new URL(name, `${url}/_oncemq/`));
    assert.equal(file.status, 200, name);
    assert.match(file.headers.get('content-type') ?? '', /javascript|css|svg/);
  }
});

test('a file that has not changed is not sent again', async (t) => {
  const { url } = await serve(t);
  const first = await fetch(`${url}/_oncemq/console/app/main.js`);
  const tag = first.headers.get('etag') as string;
  assert.equal(first.headers.get('cache-control'), 'no-cache');
  const again = await fetch(`${url}/_oncemq/console/app/main.js`, {
    headers: { 'If-None-Match': tag },
  });
  assert.equal(again.status, 304);
});

test('files are compressed for clients that accept it, and plain for others', async (t) => {
  const { url } = await serve(t);
  const zipped = await fetch(`${url}/_oncemq/console/styles/console.css`);
  assert.equal(zipped.headers.get('content-encoding'), 'gzip');
  const headers = { 'Accept-Encoding': 'identity' };
  const plain = await fetch(`${url}/_oncemq/console/styles/console.css`, { headers });
  assert.equal(plain.headers.get('content-encoding'), null);
  assert.equal(await plain.text(), await zipped.text());
});

test('the address without its trailing slash redirects to the page', async (t) => {
  const { url } = await serve(t);
  const moved = await fetch(`${url}/_oncemq`, { redirect: 'manual' });
  assert.equal(moved.status, 308);
  assert.equal(moved.headers.get('location'), '_oncemq/');
});

test('a browser that opens the root under a local name is redirected to the page; nothing else is', async (t) => {
  const { url } = await serve(t);
  const { port } = new URL(url);
  const ask = (method: string, path: string, headers = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      request(`${url}${path}`, { method, headers }, (answer) => resolve(answer.resume()))
        .on('error', reject)
        .end();
    });
  const opened = {
    'accept-language': 'en',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-site': 'none',
  };
  const { statusCode, headers } = await ask('GET', '/', opened);
  assert.equal(statusCode, 307);
  assert.equal(headers.location, '_oncemq/');
  const rebound = { ...opened, host: `rebound.example:${port}` };
  assert.equal((await ask('GET', '/', rebound)).statusCode, 403);
  for (const [method, path, sent, expected] of [
    ['GET', '/', {}, 404],
    ['GET', '/', { ...opened, 'sec-fetch-mode': 'cors' }, 404],
    ['HEAD', '/', opened, 404],
    ['POST', '/', opened, 404],
    ['GET', '/?Action=ListQueues', opened, 200],
    ['GET', '//', opened, 404],
  ] as const) {
    const answer = await ask(method, path, sent);
    assert.equal(answer.statusCode, expected, `${method} ${path}`);
    assert.equal(answer.headers.location, undefined, `${method} ${path}`);
  }
});

test('no path leads outside the console, and only reading is allowed', async (t) => {
  const { url } = await serve(t);
  for (const path of [
    'nothing.js',
    '..%2fserver%2fsigner.js',
    '%2e%2e/index.js',
    'app/main.js.map',
    'main.d.ts',
    '',
  ]) {
    const { status } = await fetch(`${url}/_oncemq/console/${path}`);
    assert.equal(status, 404, path);
  }
  const posted = await fetch(`${url}/_oncemq/`, { method: 'POST' });
  assert.equal(posted.status, 405);
  assert.equal(posted.headers.get('allow'), 'GET, HEAD');
  const head = await fetch(`${url}/_oncemq/`, { method: 'HEAD' });
  assert.equal(head.status, 200);
});
