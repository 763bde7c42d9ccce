/**
 * Computes the signature that a request must have if its claim is true. The rules of Signature Version 4, from the
 * canonical request to the signing key, come from `@smithy/signature-v4`, which AWS's own clients sign with; it caches the
 * latest fifty signing keys, each valid for a day, a region and a service.
 *
 * The path is signed as it arrived. Clients sign it without empty and `.` segments (RFC 3986) and send it so; removing them here
 * as well would let `//` pass for `/`, though it names another resource.
 *
 * The signature always covers the body. Neither SQS nor SNS has an action whose payload may be unsigned, so a signature
 * with `UNSIGNED-PAYLOAD` does not match.
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

/** Undefined if the body does not have the hash that the request declares. */
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

/** The client chose the name, so there may be no such header; Node returns some headers as lists. */
function headerOf({ headers }: ApiRequest, name: string): string {
  const value: unknown = Object.hasOwn(headers, name) ? headers[name] : '';
  return String(value);
}

function escapeUriPath(path: string): string {
  return encodeURIComponent(path)
    .replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%2F', '/');
}

interface Signed {
  readonly request: ApiRequest;
  readonly query: Record<string, string[]>;
  /** Only those that the claim names. */
  readonly headers: Record<string, string>;
  readonly payloadHash: string;
  readonly signedAt: string;
  readonly scope: string;
}

/** Exposes the library's steps between a request and its signature, which only subclasses can call. */
class Canonical extends SignatureV4 {
  stringToSign(signed: Signed): Promise<string> {
    const { request, query, headers, payloadHash, signedAt, scope } = signed;
    const { method } = request;
    // Escaped once more than it is sent, as for every service but S3.
    const path = escapeUriPath(request.path);
    const http = { method, path, query, headers, protocol: 'http:', hostname: '' };
    const canonicalHeaders = getCanonicalHeaders(http, undefined, new Set(Object.keys(headers)));
    const text = this.createCanonicalRequest(http, canonicalHeaders, payloadHash);
    return this.createStringToSign(signedAt, scope, text, algorithm);
  }
}

/** Region, service and key come from each request, so the signer has none. */
const canonical: Canonical = new Canonical({
  region: '',
  service: '',
  credentials: { accessKeyId: '', secretAccessKey: '' },
  sha256,
  uriEscapePath: false,
});
