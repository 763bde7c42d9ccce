/**
 * The signature that a request must have if a key signed what the request claims. The rules of Signature Version 4, from
 * the canonical request to the signing key, are those of `@smithy/signature-v4`, which AWS's own clients sign with; it
 * keeps the latest fifty signing keys, each good for a day, a region and a service.
 *
 * The body is always part of it. Neither SQS nor SNS has an action whose payload may stay unsigned, so `UNSIGNED-PAYLOAD`
 * is a signature that does not match.
 */

import { createHash, createHmac } from 'node:crypto';
import { Hash } from '@smithy/hash-node';
import { createScope, getCanonicalHeaders, getSigningKey, SignatureV4 } from '@smithy/signature-v4';
import type { ApiRequest } from '../request.ts';
import type { Claim } from './claim.ts';
import type { Credential } from './credential.ts';
import { queryBag } from './query-bag.ts';

const sha256 = Hash.bind(null, 'sha256');
const algorithm = 'AWS4-HMAC-SHA256';

/** Undefined if the request says that it has another body than it has. */
export async function expectedSignature(
  request: ApiRequest,
  query: URLSearchParams,
  { scope: [date, region, service], signedAt, signedHeaders }: Claim,
  credential: Credential,
): Promise<string | undefined> {
  const payloadHash = createHash('sha256').update(request.body).digest('hex');
  const told = request.headers['x-amz-content-sha256'];
  if (told !== undefined && told !== payloadHash) return undefined;
  const stringToSign = await canonical.stringToSign({
    request,
    query: queryBag(query),
    headers: Object.fromEntries(signedHeaders.map((name) => [name, headerOf(request, name)])),
    payloadHash,
    signedAt,
    scope: createScope(date, region, service),
  });
  const key = await getSigningKey(sha256, credential, date, region, service);
  return createHmac('sha256', key).update(stringToSign).digest('hex');
}

/** The name is the client's, and need not be one of a header; node gives some headers as lists. */
function headerOf({ headers }: ApiRequest, name: string): string {
  const value: unknown = Object.hasOwn(headers, name) ? headers[name] : '';
  return String(value);
}

interface Signed {
  readonly request: ApiRequest;
  readonly query: Record<string, string[]>;
  /** Those that the claim names, and no others. */
  readonly headers: Record<string, string>;
  readonly payloadHash: string;
  readonly signedAt: string;
  readonly scope: string;
}

/** The library's steps between a request and its signature, which it shows to subclasses only. */
class Canonical extends SignatureV4 {
  stringToSign(signed: Signed): Promise<string> {
    const { request, query, headers, payloadHash, signedAt, scope } = signed;
    const { method, path } = request;
    const http = { method, path, query, headers, protocol: 'http:', hostname: '' };
    const canonicalHeaders = getCanonicalHeaders(http, undefined, new Set(Object.keys(headers)));
    const text = this.createCanonicalRequest(http, canonicalHeaders, payloadHash);
    return this.createStringToSign(signedAt, scope, text, algorithm);
  }
}

/** Region, service and key come with each request, not with the signer. */
const canonical: Canonical = new Canonical({
  region: '',
  service: '',
  credentials: { accessKeyId: '', secretAccessKey: '' },
  sha256,
});
