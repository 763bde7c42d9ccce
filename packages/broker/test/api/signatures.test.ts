/**
 * Signatures as the api checks them: every way in which one can be wrong, with Amazon's code, status and text in both wire
 * forms. Requests are signed by the library that AWS's clients use, at a fixed time, and then broken. That the clients
 * themselves succeed is tested in sdk/signed-requests.test.ts.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { Hash } from '@smithy/hash-node';
import { SignatureV4 } from '@smithy/signature-v4';
import { createAuthentication } from '../../src/api/auth/authentication.ts';
import { Credential } from '../../src/api/auth/credential.ts';
import type { ApiResponse } from '../../src/api/handler.ts';
import { Chance } from '../support/chance.ts';
import { type Headers, host, TestApi } from './fixture.ts';
import { readXml } from './xml-reader.ts';

const now = Date.UTC(2026, 0, 2, 3, 4, 5);
const minute = 60_000;
const good = { accessKeyId: 'AKIDGOOD', secretAccessKey: 'the secret' };

function openApi(): TestApi {
  const authentication = createAuthentication({
    credentials: [new Credential(good)],
    region: 'us-east-1',
    now: () => now,
  });
  return new TestApi({ authentication });
}

interface Signing {
  readonly service?: string;
  readonly region?: string;
  readonly key?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
  readonly at?: number;
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Headers;
  readonly body: string;
}

type Wire = 'json' | 'query' | 'sns';
const wires: readonly Wire[] = ['json', 'query', 'sns'];

function unsigned(wire: Wire): Request {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const json = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': 'AmazonSQS.ListQueues',
  };
  const bodies = {
    json: '{}',
    query: 'Action=ListQueues&Version=2012-11-05',
    sns: 'Action=ListTopics&Version=2010-03-31',
  };
  const headers = { host, ...(wire === 'json' ? json : form) };
  return { method: 'POST', path: '/', query: '', headers, body: bodies[wire] };
}

function signer(wire: Wire, { service, region = 'us-east-1', key = good }: Signing): SignatureV4 {
  return new SignatureV4({
    service: service ?? (wire === 'sns' ? 'sns' : 'sqs'),
    region,
    credentials: key,
    sha256: Hash.bind(null, 'sha256'),
  });
}

function signed(wire: Wire, signing: Signing = {}): Promise<Request> {
  return resigned(wire, unsigned(wire), signing);
}

async function resigned(wire: Wire, request: Request, signing: Signing = {}): Promise<Request> {
  const parts = { protocol: 'http:', hostname: 'queues.example', ...request, query: {} };
  const at = { signingDate: new Date(signing.at ?? now) };
  const { headers } = await signer(wire, signing).sign(parts, at);
  return { ...request, headers };
}

async function presigned(wire: 'query' | 'sns', signing: Signing = {}, expiresIn = 300) {
  const { body } = unsigned(wire);
  const { query, path } = await signer(wire, signing).presign(
    {
      method: 'GET',
      protocol: 'http:',
      hostname: 'queues.example',
      path: '/',
      query: Object.fromEntries(new URLSearchParams(body)),
      headers: { host },
    },
    { signingDate: new Date(signing.at ?? now), expiresIn },
  );
  const text = new URLSearchParams(query as Record<string, string>).toString();
  return { method: 'GET', path, query: text, headers: { host }, body: '' };
}

interface Told {
  readonly status: number;
  readonly code: string;
  readonly text: string;
}

/** What a client reads from an error, whichever form it has; a success has the code OK. */
function toldBy({ status, headers, body }: ApiResponse): Told {
  if (status === 200) return { status, code: 'OK', text: '' };
  if (headers['Content-Type'] === 'text/xml') {
    const { Error: error } = readXml(body).value as { Error: { Code: string; Message: string } };
    return { status, code: error.Code, text: error.Message };
  }
  const { __type: type, message } = JSON.parse(body) as { __type: string; message: string };
  assert.match(headers['x-amzn-query-error'] ?? '', /;Sender$/);
  return { status, code: type.replace('com.amazon.coral.service#', ''), text: message };
}

async function answerTo(request: Request): Promise<Told> {
  return toldBy(await openApi().send(request));
}

function withHeader(request: Request, name: string, change: (value: string) => string): Request {
  const value = change(request.headers[name] ?? '');
  return { ...request, headers: { ...request.headers, [name]: value } };
}

function without(request: Request, name: string): Request {
  const { [name]: _gone, ...headers } = request.headers;
  return { ...request, headers };
}

const mismatch =
  'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.';
const invalid = {
  status: 403,
  json: 'InvalidSignatureException',
  query: 'SignatureDoesNotMatch',
} as const;
const unknown = {
  status: 403,
  json: 'UnrecognizedClientException',
  query: 'InvalidClientTokenId',
  text: 'The security token included in the request is invalid.',
} as const;
const incomplete = {
  status: 400,
  json: 'IncompleteSignatureException',
  query: 'IncompleteSignature',
} as const;

function hashed(text: string): string {
  return `'${createHash('sha256').update(text).digest('base64')}'`;
}

interface Case {
  readonly title: string;
  readonly make: (wire: Wire) => Promise<Request>;
  readonly status: number;
  readonly json: string;
  readonly query: string;
  readonly text: string | ((wire: Wire) => string);
}

const authorization = 'authorization';
const cases: readonly Case[] = [
  {
    title: 'an unknown key',
    make: (wire) => signed(wire, { key: { ...good, accessKeyId: 'AKIDOTHER' } }),
    ...unknown,
  },
  {
    title: 'a session token, which this server never issues',
    make: (wire) => signed(wire, { key: { ...good, sessionToken: 'token' } }),
    ...unknown,
  },
  {
    title: 'a wrong secret',
    make: (wire) => signed(wire, { key: { ...good, secretAccessKey: 'the other secret' } }),
    ...invalid,
    text: mismatch,
  },
  {
    title: 'a signature with one digit changed',
    make: async (wire) =>
      withHeader(await signed(wire), authorization, (text) =>
        text.replace(/Signature=./, (found) =>
          found.endsWith('0') ? 'Signature=1' : 'Signature=0',
        ),
      ),
    ...invalid,
    text: mismatch,
  },
  {
    title: 'a body changed in transit',
    make: async (wire) => {
      const request = without(await signed(wire), 'x-amz-content-sha256');
      return { ...request, body: `${request.body} ` };
    },
    ...invalid,
    text: mismatch,
  },
  {
    title: 'a header changed in transit',
    make: async (wire) => withHeader(await signed(wire), 'host', () => 'elsewhere.example'),
    ...invalid,
    text: mismatch,
  },
  {
    title: 'a body whose hash was not signed',
    make: async (wire) => {
      const request = unsigned(wire);
      const headers = { ...request.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };
      const parts = {
        protocol: 'http:',
        hostname: 'queues.example',
        ...request,
        query: {},
        headers,
      };
      const made = await signer(wire, {}).sign(parts, { signingDate: new Date(now) });
      return { ...request, headers: made.headers };
    },
    ...invalid,
    text: mismatch,
  },
  {
    title: 'a signature of another region',
    make: (wire) => signed(wire, { region: 'eu-west-1' }),
    ...invalid,
    text: "Credential should be scoped to a valid region, not 'eu-west-1'.",
  },
  {
    title: 'a signature for another service',
    make: (wire) => signed(wire, { service: 's3' }),
    ...invalid,
    text: (wire) =>
      `Credential should be scoped to correct service: '${wire === 'sns' ? 'sns' : 'sqs'}'.`,
  },
  {
    title: 'a wrong end of the scope',
    make: async (wire) =>
      withHeader(await signed(wire), authorization, (text) =>
        text.replace('aws4_request', 'aws5_request'),
      ),
    ...invalid,
    text: "Credential should be scoped with a valid terminator: 'aws4_request', not 'aws5_request'.",
  },
  {
    title: 'a scope of another day',
    make: async (wire) =>
      withHeader(await signed(wire), authorization, (text) => text.replace('20260102', '20260101')),
    ...invalid,
    text: "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20260101' != '20260102', from '20260102T030405Z'.",
  },
  {
    title: 'a signature that is more than 15 minutes old',
    make: (wire) => signed(wire, { at: now - 15 * minute - 1000 }),
    ...invalid,
    text: 'Signature expired: 20260102T024904Z is now earlier than 20260102T024905Z (20260102T030405Z - 15 min.)',
  },
  {
    title: 'a signature from more than 15 minutes in the future',
    make: (wire) => signed(wire, { at: now + 15 * minute + 1000 }),
    ...invalid,
    text: 'Signature not yet current: 20260102T031906Z is still later than 20260102T031905Z (20260102T030405Z + 15 min.)',
  },
  {
    title: 'a Host that is not signed',
    make: async (wire) =>
      withHeader(await signed(wire), authorization, (text) => text.replace(';host', '')),
    ...invalid,
    text: "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.",
  },
  {
    title: 'an unsigned x-amz header added in transit',
    make: async (wire) => withHeader(await signed(wire), 'x-amz-extra', () => 'yes'),
    ...invalid,
    text: "'x-amz-extra' must be a 'SignedHeader' in the AWS Authorization.",
  },
  {
    title: 'an unsupported Authorization scheme',
    make: async (wire) => withHeader(unsigned(wire), authorization, () => 'Bearer abc'),
    ...incomplete,
    text: `Unsupported AWS 'algorithm': (hashed with SHA-256 and encoded with Base64): ${hashed('Bearer')}.`,
  },
  {
    title: 'an empty Authorization',
    make: async (wire) => withHeader(unsigned(wire), authorization, () => 'AWS4-HMAC-SHA256'),
    ...incomplete,
    text: `Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. (hashed with SHA-256 and encoded with Base64): ${hashed('AWS4-HMAC-SHA256')}`,
  },
  {
    title: 'a part of Authorization without a value',
    make: async (wire) => withHeader(unsigned(wire), authorization, () => 'AWS4-HMAC-SHA256 abc'),
    ...incomplete,
    text: `Invalid key=value pair (missing equal-sign) in Authorization header (hashed with SHA-256 and encoded with Base64): ${hashed('AWS4-HMAC-SHA256 abc')}.`,
  },
  {
    title: 'a scope of four parts',
    make: async (wire) =>
      withHeader(await signed(wire), authorization, (text) => text.replace('/aws4_request', '')),
    ...incomplete,
    text: 'Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got 4.',
  },
  {
    title: 'an invalid date',
    make: async (wire) => withHeader(await signed(wire), 'x-amz-date', () => '20260132T030405Z'),
    ...incomplete,
    text: "Date must be in ISO-8601 'basic format', like 20260102T030405Z.",
  },
];

describe('a request without a valid signature is refused with the texts of AWS', () => {
  for (const wire of wires) {
    test(`a valid signature is accepted, in ${wire}`, async () => {
      assert.equal((await answerTo(await signed(wire))).code, 'OK');
      assert.equal((await answerTo(await signed(wire, { at: now - 15 * minute }))).code, 'OK');
      assert.equal((await answerTo(await signed(wire, { at: now + 15 * minute }))).code, 'OK');
    });

    for (const { title, make, status, json, query, text } of cases) {
      test(`${title}, in ${wire} (2.11)`, async () => {
        assert.deepEqual(await answerTo(await make(wire)), {
          status,
          code: wire === 'json' ? json : query,
          text: typeof text === 'string' ? text : text(wire),
        });
      });
    }
  }

  test('an unsigned request is refused with different texts in SQS and SNS (2.11)', async () => {
    const text = `Access to the resource http://${host}/ is denied.`;
    const status = 403;
    const json = await answerTo(unsigned('json'));
    assert.deepEqual(json, { status, code: 'AccessDeniedException', text });
    assert.deepEqual(await answerTo(unsigned('query')), { status, code: 'AccessDenied', text });
    assert.deepEqual(await answerTo(unsigned('sns')), {
      status,
      code: 'MissingAuthenticationToken',
      text: 'Request is missing Authentication Token',
    });
  });

  test('a Date header is accepted in place of X-Amz-Date', async () => {
    const request = unsigned('query');
    const date = 'Fri, 02 Jan 2026 03:04:05 GMT';
    // The library always signs X-Amz-Date, so the canonical request is built by hand here.
    const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
    const canonical = `POST\n/\n\ndate:${date}\nhost:${host}\n\ndate;host\n${hash(request.body)}`;
    const scope = '20260102/us-east-1/sqs/aws4_request';
    const signature = await signer('query', {}).sign(
      `AWS4-HMAC-SHA256\n20260102T030405Z\n${scope}\n${hash(canonical)}`,
      { signingDate: new Date(now) },
    );
    const value = `AWS4-HMAC-SHA256 Credential=${good.accessKeyId}/${scope}, SignedHeaders=date;host, Signature=${signature}`;
    const headers = { ...request.headers, date, authorization: value };
    assert.equal((await answerTo({ ...request, headers })).code, 'OK');
  });

  test('a wrong or missing signature is reported before a malformed body, which is not parsed', async () => {
    const broken = { json: '{', query: 'Action=ListQueues&a=%zz', sns: 'Action=ListTopics&a=%zz' };
    const large = 'x'.repeat(100_000);
    for (const wire of wires) {
      const request = { ...unsigned(wire), body: broken[wire] + large };
      const denied = await answerTo(request);
      assert.equal(denied.status, 403, wire);
      const expected = { json: 'AccessDeniedException', query: 'AccessDenied' };
      assert.equal(denied.code, { ...expected, sns: 'MissingAuthenticationToken' }[wire]);
      const other = { key: { ...good, secretAccessKey: 'the other secret' } };
      assert.equal((await answerTo(await resigned(wire, request, other))).text, mismatch);
      // Only the holder of a key is told what is wrong with the body.
      assert.equal((await answerTo(await resigned(wire, request))).status, 400, wire);
    }
  });

  test('a name that is found only by parsing is judged afterwards', async () => {
    // A percent-encoded name is not seen before the body is parsed.
    const hidden = { ...unsigned('sns'), body: '%41ction=ListTopics&%56ersion=2010-03-31' };
    assert.equal((await answerTo(hidden)).code, 'MissingAuthenticationToken');
    assert.equal((await answerTo(await resigned('sns', hidden))).code, 'OK');
    const { code, text } = await answerTo(await resigned('sns', hidden, { service: 'sqs' }));
    assert.equal(code, 'SignatureDoesNotMatch');
    assert.equal(text, "Credential should be scoped to correct service: 'sns'.");
    const twice = { ...unsigned('sns'), body: 'Action=Unsubscribe&%41ction=ListTopics' };
    assert.equal((await answerTo(twice)).code, 'MissingAuthenticationToken');
  });

  test('an error of a request that asks for JSON is JSON before it is parsed', async () => {
    const body = 'Action=ListTopics&Version=2010-03-31&ContentType=JSON';
    const { headers } = await openApi().send({
      ...unsigned('sns'),
      body: body + '&a'.repeat(50_000),
    });
    assert.equal(headers['Content-Type'], 'application/json');
  });

  test('a path changed in transit is refused, even to one that names the same to a file system', async () => {
    for (const path of ['//', '/./', '/.', '/a/..', '/%2F']) {
      const request = { ...(await signed('json')), path };
      assert.equal((await answerTo(request)).text, mismatch, path);
    }
    // Presigned and signed requests to a queue's own path are signed as they are sent.
    const atQueue = { ...unsigned('query'), path: '/000000000000/a%20b' };
    assert.notEqual((await answerTo(await resigned('query', atQueue))).text, mismatch);
  });
});

describe('presigned URLs', () => {
  for (const wire of ['query', 'sns'] as const) {
    test(`one is valid until it expires, in ${wire}`, async () => {
      assert.equal((await answerTo(await presigned(wire))).code, 'OK');
      const late = await presigned(wire, { at: now - 20 * minute }, 21 * 60);
      assert.equal((await answerTo(late)).code, 'OK');
      assert.deepEqual(await answerTo(await presigned(wire, { at: now - 6 * minute })), {
        status: 403,
        code: 'SignatureDoesNotMatch',
        text: 'Signature expired: 20260102T025805Z is now earlier than 20260102T025905Z (20260102T030405Z - 5 min.)',
      });
    });

    test(`one that was changed is invalid, in ${wire}`, async () => {
      const request = await presigned(wire);
      const changes: readonly [RegExp, string, string][] = [
        [/Action=List\w+/, 'Action=CreateQueue&QueueName=a', mismatch],
        [/$/, '&More=1', mismatch],
        [/X-Amz-Expires=300/, 'X-Amz-Expires=301', mismatch],
      ];
      for (const [from, to, text] of changes) {
        const query = request.query.replace(
          from,
          wire === 'sns' ? to.replace('CreateQueue&Queue', 'CreateTopic&') : to,
        );
        assert.equal((await answerTo({ ...request, query })).text, text, String(from));
      }
      const session = await answerTo({
        ...request,
        query: `${request.query}&X-Amz-Security-Token=a`,
      });
      assert.equal(session.code, 'InvalidClientTokenId');
    });

    test(`one with a part missing names that part, in ${wire}`, async () => {
      const request = await presigned(wire);
      for (const name of ['Credential', 'Date', 'SignedHeaders', 'Signature', 'Algorithm']) {
        const query = request.query.replace(new RegExp(`&?X-Amz-${name}=[^&]*`), '');
        assert.deepEqual(await answerTo({ ...request, query }), {
          status: 400,
          code: 'IncompleteSignature',
          text: `AWS query-string parameters must include 'X-Amz-${name}'. Re-examine the query-string parameters.`,
        });
      }
      for (const expires of ['604801', '-1', 'x', '']) {
        const query = request.query.replace('X-Amz-Expires=300', `X-Amz-Expires=${expires}`);
        const { code, text } = await answerTo({ ...request, query });
        assert.equal(code, 'IncompleteSignature');
        assert.match(text, /X-Amz-Expires must be a number from 0 to 604800/);
      }
    });
  }
});

test('no malformed Authorization header is accepted or crashes the server', async () => {
  const api = openApi();
  const request = await signed('json');
  const real = request.headers[authorization] as string;
  const chance = new Chance(7, 0);
  const pieces = [
    ...real.split(/(?<=[ ,=/;])/),
    '',
    ' ',
    ',',
    '=',
    ';',
    '/',
    '//////',
    '"',
    "'",
    '\u00ff',
    '__proto__',
    'constructor=',
    '%00',
    '='.repeat(300),
    'Credential=',
    'Signature=',
    'SignedHeaders=',
    'AWS4-HMAC-SHA256',
    'AWS4-ECDSA-P256-SHA256 ',
    'Basic Og==',
    'a'.repeat(10_000),
  ];
  for (let round = 0; round < 2_000; round += 1) {
    const parts = real.split(/(?<=[ ,=/;])/);
    for (let change = chance.below(4); change >= 0; change -= 1) {
      parts.splice(chance.below(parts.length), chance.below(3), chance.pick(pieces));
    }
    const header = parts.join('');
    // The change may only affect spaces, which make no difference.
    if (header.replaceAll(' ', '') === real.replaceAll(' ', '')) continue;
    const reply = await api.send(withHeader(request, authorization, () => header));
    assert.ok(reply.status === 400 || reply.status === 403, `${reply.status}: ${header}`);
  }
  assert.deepEqual(api.errors, []);
});

test('printing a credential does not show its secret', () => {
  const credential = new Credential({ ...good, name: 'parts' });
  assert.equal(JSON.stringify(credential), '{"accessKeyId":"AKIDGOOD","name":"parts"}');
  assert.ok(!inspect(credential, { depth: 9 }).includes(good.secretAccessKey));
});
