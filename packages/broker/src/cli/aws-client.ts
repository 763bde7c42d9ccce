/**
 * Where the commands that send outbox messages send to, and the AWS client for it. A queue's URL names its host; the endpoint
 * of a topic is AWS_ENDPOINT_URL or Amazon, as in every AWS client. Credentials come from the AWS environment variables and
 * files, and so does the region, which a topic's ARN has.
 */

import type { Destination } from '@oncemq/toolkit';
import { regionOf } from './remote.ts';
import { type Arguments, UsageError } from './usage.ts';

export const targetFlags: readonly string[] = ['queue', 'topic', 'deduplicate-by'];

export type Target = { readonly deduplicateBy: 'content' | 'key' } & (
  | { readonly queueUrl: string; readonly topicArn?: undefined }
  | { readonly topicArn: string; readonly queueUrl?: undefined }
);

export const deduplicateUsage: string = `  --deduplicate-by content|key
                   the hash of the body, or an id made of the key, for a queue or topic without
                   content-based deduplication [content]
`;

/** What `--queue` or `--topic` name, checked before anything is opened. */
export function targetIn(flags: Arguments['flags'], usage: string): Target {
  const { queue, topic, 'deduplicate-by': deduplicateBy = 'content' } = flags;
  if ((queue === undefined) === (topic === undefined)) throw new UsageError(usage);
  if (queue !== undefined && !URL.canParse(queue)) {
    throw new UsageError(`--queue must be the URL of a queue, not ${queue}.`);
  }
  if (topic !== undefined && !/^arn:[\w-]+:sns:[\w-]+:\d+:[\w-]+\.fifo$/.test(topic)) {
    throw new UsageError(`--topic must be the ARN of a FIFO topic, not ${topic}.`);
  }
  if (deduplicateBy !== 'content' && deduplicateBy !== 'key') {
    throw new UsageError(`--deduplicate-by must be content or key, not ${deduplicateBy}.`);
  }
  return queue === undefined
    ? { topicArn: topic as string, deduplicateBy }
    : { queueUrl: queue, deduplicateBy };
}

/** With a client, to be destroyed at the end. */
export async function destinationFor(
  command: string,
  target: Target,
): Promise<Destination & { client: { destroy(): void } }> {
  if (target.topicArn !== undefined) {
    const { SNSClient } = await import('@aws-sdk/client-sns').catch(missing(command, 'sns'));
    const region = target.topicArn.split(':')[3] as string;
    return { ...target, client: new SNSClient({ region }) };
  }
  const { SQSClient } = await import('@aws-sdk/client-sqs').catch(missing(command, 'sqs'));
  const { hostname, origin } = new URL(target.queueUrl);
  if (/\.amazonaws\.com(\.cn)?$/.test(hostname)) return { ...target, client: new SQSClient({}) };
  const client = new SQSClient({ endpoint: origin });
  try {
    // Also reads the configuration files.
    await client.config.region();
    return { ...target, client };
  } catch {
    const region = regionOf(process.env);
    return { ...target, client: new SQSClient({ endpoint: origin, region }) };
  }
}

function missing(command: string, service: string): (cause: unknown) => never {
  return (cause) => {
    const name = `@aws-sdk/client-${service}`;
    throw new Error(`${command} needs the AWS SDK. Install it with: npm install ${name}`, {
      cause,
    });
  };
}
