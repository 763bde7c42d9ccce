/**
 * Signs the requests of the fuzz test by Signature Version 4, so that a server that checks signatures gets as far as one that
 * does not. Written apart from the server's own code and from AWS's library: a mistake in either would show.
 */

import { createHash, createHmac } from 'node:crypto';
import { snsActions } from '../../src/api/shapes/sns.ts';
import { sqsActions } from '../../src/api/shapes/sqs.ts';
import type { WholeRequest } from './whole-request.ts';

export const fuzzKey: { readonly accessKeyId: string; readonly secretAccessKey: string } = {
  accessKeyId: 'AKIDFUZZ',
  secretAccessKey: 'fuzz/secret',
};

const region = 'us-east-1';

/** The request with a signature that covers its host, its X-Amz headers and its body. */
export function signed(request: WholeRequest): WholeRequest {
  const at = `${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`;
  const scope = `${at.slice(0, 8)}/${region}/${serviceOf(request)}/aws4_request`;
  const hasHost = request.headers.some(([name]) => name.toLowerCase() === 'host');
  const headers = [
    ...(hasHost ? [] : [['Host', 'localhost'] as const]),
    ...request.headers,
    ['X-Amz-Date', at] as const,
  ];
  const covered = canonicalHeaders(headers);
  const names = covered.map(([name]) => name).join(';');
  const [path = '', query = ''] = request.target.split('?');
  const canonical = [
    request.method,
    canonicalPath(path),
    canonicalQuery(query),
    ...covered.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    hashed(request.body),
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', at, scope, hashed(canonical)].join('\n');
  const key = scope
    .split('/')
    .reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${fuzzKey.secretAccessKey}`);
  const signature = hmac(key, text).toString('hex');
  const claim = `AWS4-HMAC-SHA256 Credential=${fuzzKey.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...request, headers: [...headers, ['Authorization', claim]] };
}

/** A form names its action in the body; actions that both services have are told apart by TopicArn. */
function serviceOf({ target, body }: WholeRequest): 'sqs' | 'sns' {
  const form = `${target.split('?')[1] ?? ''}&${body.toString('latin1', 0, 10_000)}`;
  const action = /(?:^|&)Action=(\w+)/.exec(form)?.[1] ?? '';
  if (!Object.hasOwn(snsActions, action)) return 'sqs';
  return Object.hasOwn(sqsActions, action) && !form.includes('&TopicArn=') ? 'sqs' : 'sns';
}

function canonicalHeaders(
  headers: WholeRequest['headers'],
): readonly (readonly [string, string])[] {
  const values = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    if (key !== 'host' && !key.startsWith('x-amz-')) continue;
    values.set(key, [...(values.get(key) ?? []), value.trim().replace(/ +/g, ' ')]);
  }
  return [...values]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, list]) => [name, list.join()] as const);
}

function canonicalPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/').filter((each) => each !== '' && each !== '.')) {
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  const end = path.endsWith('/') && parts.length > 0 ? '/' : '';
  return encode(`/${parts.join('/')}${end}`).replaceAll('%2F', '/');
}

function canonicalQuery(query: string): string {
  return [...new URLSearchParams(query)]
    .map(([key, value]) => `${encode(key)}=${encode(value)}`)
    .sort()
    .join('&');
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hashed(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
