/**
 * Signs what the command line sends to a server, as AWS's own tools do. A server that does not check signatures ignores
 * them.
 */

import { Hash } from '@smithy/hash-node';
import { SignatureV4 } from '@smithy/signature-v4';
import { queryBag } from '../api/auth/query-bag.ts';

export interface Unsigned {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** The headers of the request, including its signature. */
export async function signedHeaders(
  { url, method, headers, body }: Unsigned,
  { region, ...credentials }: Keys,
): Promise<Record<string, string>> {
  const sha256 = Hash.bind(null, 'sha256');
  const signer = new SignatureV4({ service: 'sqs', region, credentials, sha256 });
  const { host, protocol, hostname, pathname, searchParams } = url;
  const signed = await signer.sign({
    method,
    protocol,
    hostname,
    path: pathname,
    query: queryBag(searchParams),
    headers: { ...headers, host },
    ...(body !== undefined && { body }),
  });
  return signed.headers;
}
