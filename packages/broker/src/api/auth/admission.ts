/**
 * Who may use `/metrics` and the `/_oncemq/` endpoints of a server that checks signatures: callers that sign as for SQS, as
 * the command line does, or send key id and secret as HTTP Basic, which browsers ask people for and Prometheus supports.
 * Only endpoints that reveal nothing about queues are open to all: health, and the certificate that subscribers need to
 * verify what they are sent.
 *
 * A browser sends Basic credentials whichever page makes the request, so requests from pages of other sites are refused.
 */

import { failed, type InspectResponse } from '../inspect-response.ts';
import { faultText, wireErrorOf } from '../protocol/error-codes.ts';
import type { ApiRequest } from '../request.ts';
import type { Authentication } from './authentication.ts';
import { foreignPageRejection } from './foreign-page.ts';

/** ElasticMQ's health check, for those who migrate from it. Cannot be the path of a queue: those begin with an account. */
export const plainHealthPath = '/health';

const openPaths: ReadonlySet<string> = new Set([
  '/_oncemq/health',
  plainHealthPath,
  '/_oncemq/signing-certificate.pem',
]);
const basicForm = /^Basic ([A-Za-z0-9+/]+={0,2})$/i;

/** Undefined if the request is allowed. */
export async function rejectionOf(
  request: ApiRequest,
  authentication: Authentication,
  publicUrl: string | undefined,
): Promise<InspectResponse | undefined> {
  if (openPaths.has(request.path)) return undefined;
  const basic = basicForm.exec(request.headers['authorization'] ?? '');
  if (basic !== null) {
    const foreign = foreignPageRejection(request.headers, publicUrl);
    return foreign ?? basicRejection(basic[1] as string, authentication);
  }
  const signer = await authentication.signerOf(request, 'sqs');
  if (signer === undefined)
    return challenged('Sign the request, or log in with an access key id and its secret.');
  if (signer.ok) return undefined;
  const { code, status } = wireErrorOf(signer);
  return failed(status, code, faultText(signer));
}

function basicRejection(
  encoded: string,
  authentication: Authentication,
): InspectResponse | undefined {
  const [id = '', ...secret] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  const isKnown = authentication.find(id, secret.join(':')) !== undefined;
  return isKnown ? undefined : challenged('The access key id or the secret is wrong.');
}

function challenged(text: string): InspectResponse {
  const challenge = 'Basic realm="oncemq", charset="UTF-8"';
  return { ...failed(401, 'AccessDenied', text), challenge };
}
