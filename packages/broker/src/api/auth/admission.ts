/**
 * Who may see the `/_oncemq/` endpoints of a server that checks signatures: whoever signs as for SQS, which the command
 * line does, or gives key id and secret as HTTP Basic, which browsers ask people for. Open to all is what tells nothing of
 * queues: health, and the certificate that subscribers need to check what they are sent.
 *
 * A browser sends Basic credentials with whatever page makes it ask, so what comes from another site is refused.
 */

import { failed, type InspectResponse } from '../inspect/answers.ts';
import { faultText, wireErrorOf } from '../protocol/error-codes.ts';
import type { ApiRequest } from '../request.ts';
import type { Authentication } from './authentication.ts';
import { foreignPageRejection } from './foreign-page.ts';

const openPaths: ReadonlySet<string> = new Set([
  '/_oncemq/health',
  '/_oncemq/signing-certificate.pem',
]);
const basicForm = /^Basic ([A-Za-z0-9+/]+={0,2})$/i;

/** Undefined if the request may go on. */
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
  if (signer === undefined) return challenged('Sign the request, or give key id and secret.');
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
  return isKnown ? undefined : challenged('There is no such key id and secret.');
}

function challenged(text: string): InspectResponse {
  const challenge = 'Basic realm="oncemq", charset="UTF-8"';
  return { ...failed(401, 'AccessDenied', text), challenge };
}
