/**
 * Hostile requests that are complete HTTP, with methods, paths and headers that no SQS client sends. Requests that are not
 * even HTTP are in broken-http.ts.
 */

import type { Hostile, Source } from './hostile.ts';
import { someJson } from './hostile-inputs.ts';
import { hostileText, prototypeNames, randomText } from './hostile-values.ts';
import {
  encodeForm,
  formRequest,
  formType,
  getRequest,
  jsonRequest,
  jsonType,
} from './whole-request.ts';

export function strangeHeaders(source: Source): Hostile {
  const { chance } = source;
  const { action, text } = someJson(source);
  const base = chance.isOneIn(2)
    ? jsonRequest(action, text)
    : formRequest(`Action=${action}&QueueUrl=x`);
  const header = chance.pick<readonly [string, string]>([
    ['Content-Type', ''],
    ['Content-Type', 'multipart/form-data; boundary=x'],
    ['Content-Type', `${formType}; charset=utf-16`],
    ['Content-Type', `${jsonType}, ${formType}`],
    ['Content-Encoding', 'gzip'],
    ['Accept', 'application/json'],
    ['Accept', '*/*;q=0, \xff\xfe'],
    ['Expect', '100-continue'],
    ['Expect', 'miracles'],
    ['Host', ''],
    ['Host', 'a b<c>"d\xe9'],
    ['Host', 'x'.repeat(4_000)],
    ['X-Amz-Target', ''],
    ['X-Amz-Target', 'AmazonSQS.ListQueues'],
    ['X-Amzn-Trace-Id', `\xff${'x'.repeat(3_000)}`],
    ['Authorization', 'AWS4-HMAC-SHA256 Credential=, SignedHeaders=;;;, Signature=%'],
    ['Range', 'bytes=9-1'],
    ['If-Match', '*'],
    ['__proto__', 'x'],
    ['constructor', 'x'],
    ['Connection', 'Upgrade\r\nUpgrade: h2c'],
    ['Connection', 'close'],
    ['Connection', 'keep-alive, upgrade'],
    ['Trailer', 'Content-Length'],
  ]);
  const framing = chance.isOneIn(3) ? 'chunked' : 'length';
  return { request: { ...base, framing, headers: [header, ...base.headers] }, refusal: 'any' };
}

const methods = [
  'GET',
  'PUT',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'TRACE',
  'PROPFIND',
  'M-SEARCH',
];

export function strangePath({ chance, targets }: Source): Hostile {
  const path = chance.pick([
    '/',
    '*',
    '//',
    '/../../etc/passwd',
    '/%00',
    '/%zz/%',
    '/_oncemqs',
    '/__proto__/constructor',
    `/000000000000/${targets.standard}`,
    '/000000000000/',
    `/${'a/'.repeat(3_000)}`,
    '/?Action=ListQueues',
    '/?%',
    'http://other.example/000000000000/x?Action=GetQueueAttributes',
  ]);
  const method = chance.pick(methods);
  const body = chance.isOneIn(3) ? Buffer.from(randomText(chance, 20)) : Buffer.alloc(0);
  return { request: { ...getRequest(path, method), body }, refusal: 'any' };
}

export function badInspect({ chance, targets }: Source): Hostile {
  const name = chance.pick([
    encodeForm(hostileText(chance)).slice(0, 3_000),
    chance.pick(prototypeNames),
    targets.fifo,
    '%zz',
    '%',
    '..',
  ]);
  const value = encodeForm(hostileText(chance)).slice(0, 3_000);
  const query = chance.pick([
    '?',
    `?limit=${value}`,
    '?limit=5',
    `?id=${value}&group=${value}`,
    '?limit=%zz',
    '?limit=1&limit=x',
  ]);
  const path = chance.pick([
    'console/',
    'console/../../server/signer.js',
    `console/${name}`,
    `overview${query}&after=${name}&prefix=${name}`,
    `queues/${name}/counts`,
    `queues/${name}/groups${query}&after=${name}`,
    `queues/${name}/window${query}&search=${value}`,
    `queues/${name}/window/${name}${query}`,
    `topics/${name}/deliveries`,
    'nothing',
    'health/',
    'queues/',
    `queues/${name}`,
    `queues/${name}/messages${query}`,
    `queues/${name}/dedup${query}`,
    `queues/${name}/messages/x`,
    '%00',
    `${'../'.repeat(20)}x`,
    'constructor',
  ]);
  if (chance.isOneIn(3)) {
    // No number here moves the clock: that would be valid, and would expire the good client's receipts.
    const body = chance.pick([
      '',
      '{',
      'null',
      '[]',
      '5',
      '{"seconds":-1}',
      '{"seconds":"1"}',
      '{"seconds":1e99}',
      '{"seconds":[1]}',
      '{"__proto__":{"seconds":1}}',
      '{"seconds":null}',
      '\xff',
    ]);
    const request = {
      ...getRequest('/_oncemq/clock/advance', 'POST'),
      body: Buffer.from(body, 'latin1'),
    };
    return { request, refusal: 400 };
  }
  if (chance.isOneIn(3)) {
    const [method, of] = chance.pick([
      ['POST', 'health'],
      ['GET', 'reset'],
      ['PUT', 'reset'],
      ['GET', 'clock/advance'],
      ['POST', 'console/app/main.js'],
      ['DELETE', ''],
      ['GET', 'topics/x/match'],
      ['POST', 'overview'],
      ['DELETE', 'queues'],
      ['PATCH', `queues/${targets.fifo}`],
      ['POST', `queues/${targets.fifo}/messages`],
      ['OPTIONS', `queues/${targets.fifo}/dedup`],
    ]) as [string, string];
    return { request: getRequest(`/_oncemq/${of}`, method), refusal: 405 };
  }
  const method = chance.pick(['GET', 'GET', 'GET', ...methods]);
  return { request: getRequest(`/_oncemq/${path}`, method), refusal: 'any' };
}
