/**
 * `oncemq replay`: sends the messages of a time range again from an outbox, as they were kept, to OnceMQ or to Amazon.
 * It is for backfills and lost queues: keys are the same as the first time, so consumers with an inbox process
 * only messages that they have not seen.
 */

import { createRelay } from '@oncemq/toolkit';
import { deduplicateUsage, destinationFor, targetFlags, targetIn } from './aws-client.ts';
import { openOutbox, outboxFlags, outboxFlagsUsage } from './open-outbox.ts';
import { checkFlags, readArguments, UsageError } from './usage.ts';

export const replayUsage: string = `Usage: oncemq replay (--outbox WHERE | --database URL) (--queue URL | --topic ARN)
                     [--from TIME] [--to TIME] [flags]

Sends messages of an outbox again, with the same bytes as the first time.

${outboxFlagsUsage}  --queue URL      the queue to send to; its host is the endpoint, unless it is Amazon's
  --topic ARN      the FIFO topic to publish to, at AWS_ENDPOINT_URL or on Amazon
${deduplicateUsage}  --from TIME      send events with this event_time or later, an RFC 3339 time or a day [from the first]
  --to TIME        send events with an event_time before this [to the last]

Credentials and region come from the AWS environment variables and files; for a server that is not
Amazon's, the region is us-east-1 by default.
`;

const timeForm = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2}))?$/;
const known = [...outboxFlags, ...targetFlags, 'from', 'to'];

export async function replay(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, []);
  checkFlags(flags, known, replayUsage);
  if (words.length > 0) throw new UsageError(replayUsage);
  const target = targetIn(flags, replayUsage);
  const range = {
    from: timeOf(flags['from'], Number.NEGATIVE_INFINITY),
    to: timeOf(flags['to'], Number.POSITIVE_INFINITY),
  };
  if (range.from > range.to) {
    throw new UsageError(
      `--from ${flags['from']} is after --to ${flags['to']}, so there is nothing to send.`,
    );
  }
  const { outbox, close } = await openOutbox(flags, process.env);
  const destination = await destinationFor('replay', target);
  try {
    const { sent, pastWindow, failures } = await createRelay({
      ...destination,
      outbox,
      // The summary below reports it.
      onPastWindow: () => {},
    }).replay(range);
    process.stdout.write(
      `${sent} ${sent === 1 ? 'message' : 'messages'} sent, ${pastWindow} older than the deduplication window.\n`,
    );
    if (failures.length > 0)
      throw new Error(
        `Replay stopped, because a message could not be sent: ${failures.join('; ')}`,
      );
  } finally {
    await close();
    destination.client.destroy();
  }
}

function timeOf(text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  // Date.parse reads 5 as a day in May, and a time without an offset as local time.
  const time = timeForm.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw new UsageError(
      `${text} is not a valid time. Write it as 2025-12-04T00:00:00Z, or a day as 2025-12-04.`,
    );
  return time;
}
