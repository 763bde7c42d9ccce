/**
 * The AWS SDK for JavaScript v3, as one of the clients of everyday-life.ts. It speaks JSON. Retries are off, so that an
 * answer that the SDK considers transient shows immediately; MD5 sums are checked, which is its default.
 */

import { SQS, SQSServiceException } from '@aws-sdk/client-sqs';
import {
  type ActionName,
  CallError,
  type ClientKind,
  credentials,
  region,
  type WireClient,
} from './wire-client.ts';

// Otherwise each run prints when v3 will no longer support Node.js 20.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';

export const v3: ClientKind = { wire: 'json', open: openV3 };

export function v3Client(endpoint: string): SQS {
  return new SQS({ endpoint, region, credentials, maxAttempts: 1 });
}

function openV3(endpoint: string): WireClient {
  const client = v3Client(endpoint);
  const methods = client as unknown as Record<string, (input: unknown) => Promise<never>>;
  return {
    call: (action, input) =>
      methods[methodName(action)]?.call(client, input).catch((error: unknown) => {
        throw error instanceof SQSServiceException ? asCallError(error) : error;
      }) ?? Promise.reject(new Error(`The client has no ${action}.`)),
    has: (action) => methodName(action) in methods,
    close: () => client.destroy(),
  };
}

function methodName(action: ActionName): string {
  return action.charAt(0).toLowerCase() + action.slice(1);
}

/** If AWS's old code differs from the exception's name, the SDK has the code in addition to the name. */
function asCallError(error: SQSServiceException): CallError {
  const { Code: code = error.name } = (error as { Error?: { Code?: string } }).Error ?? {};
  return new CallError(code, error.$metadata.httpStatusCode, error.message);
}
