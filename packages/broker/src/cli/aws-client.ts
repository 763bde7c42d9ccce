/**
 * The AWS client of the commands that send: to Amazon, or to the host in a queue's URL. Region and credentials come from
 * the AWS environment variables and files.
 */

import type { SQSClient } from '@aws-sdk/client-sqs';
import { regionOf } from './remote.ts';
import { UsageError } from './usage.ts';

/** Refuses a URL that is none before anything else is opened. */
export function queueUrlOf(text: string): URL {
  if (URL.canParse(text)) return new URL(text);
  throw new UsageError(`--queue must be the URL of a queue, not ${text}.`);
}

export async function sqsClientFor(command: string, { hostname, origin }: URL): Promise<SQSClient> {
  const { SQSClient } = await import('@aws-sdk/client-sqs').catch((cause: unknown) => {
    throw new Error(
      `${command} needs the AWS SDK. Install it with: npm install @aws-sdk/client-sqs`,
      { cause },
    );
  });
  if (/\.amazonaws\.com(\.cn)?$/.test(hostname)) return new SQSClient({});
  const client = new SQSClient({ endpoint: origin });
  try {
    // Also reads the configuration files.
    await client.config.region();
    return client;
  } catch {
    return new SQSClient({ endpoint: origin, region: regionOf(process.env) });
  }
}
