/**
 * `oncemq replay`: sends the messages of a time range again from an outbox folder, as they were kept, to OnceMQ or to
 * Amazon. It is for backfills and lost queues: keys are the same as the first time, so consumers with an inbox process
 * only messages that they have not seen.
 */

import { existsSync } from 'node:fs';
import { createRelay, openFileOutbox } from '@oncemq/toolkit';
import { checkFlags, readArguments, UsageError } from './usage.ts';

export const replayUsage: string = `Usage: oncemq replay --outbox FOLDER --queue URL [--from TIME] [--to TIME]

  --outbox FOLDER  where the producer keeps its messages; the producer must not be running
  --queue URL      the queue to send to; its host is the endpoint, unless it is Amazon's
  --from TIME      the first event_time to send, RFC 3339, or a day [the beginning]
  --to TIME        the first event_time not to send any more [the end]

Credentials and region are those of the AWS environment variables and files.
`;

const timeForm = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2}))?$/;
const known = ['outbox', 'queue', 'from', 'to'];

export async function replay(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, []);
  checkFlags(flags, known, replayUsage);
  const { outbox: folder, queue: queueUrl } = flags;
  if (words.length > 0 || folder === undefined || queueUrl === undefined)
    throw new UsageError(replayUsage);
  // Opening a missing outbox would create it.
  if (!existsSync(folder)) throw new UsageError(`There is no outbox ${folder}.`);
  if (!URL.canParse(queueUrl))
    throw new UsageError(`--queue takes the URL of a queue, not ${queueUrl}.`);
  const range = {
    from: timeOf(flags['from'], Number.NEGATIVE_INFINITY),
    to: timeOf(flags['to'], Number.POSITIVE_INFINITY),
  };
  if (range.from > range.to) {
    throw new UsageError(
      `--from ${flags['from']} is after --to ${flags['to']}: nothing lies between.`,
    );
  }
  const client = await clientFor(new URL(queueUrl));
  const outbox = await openFileOutbox(folder);
  try {
    const { sent, pastWindow, failures } = await createRelay({
      outbox,
      client,
      queueUrl,
      // The summary below reports it.
      onPastWindow: () => {},
    }).replay(range);
    process.stdout.write(
      `${sent} messages sent, ${pastWindow} of them kept longer ago than a window.\n`,
    );
    if (failures.length > 0) throw new Error(`The next one was not taken: ${failures.join('; ')}`);
  } finally {
    await outbox.close();
    client.destroy();
  }
}

async function clientFor({ hostname, origin }: URL) {
  const { SQSClient } = await import('@aws-sdk/client-sqs').catch((cause: unknown) => {
    throw new Error('replay sends with the AWS SDK: npm install @aws-sdk/client-sqs.', { cause });
  });
  return new SQSClient(hostname.endsWith('.amazonaws.com') ? {} : { endpoint: origin });
}

function timeOf(text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  // Date.parse reads 5 as a day in May, and a time without an offset as local time.
  const time = timeForm.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new UsageError(`${text} is no time: write 2025-12-04T00:00:00Z.`);
  return time;
}
