/**
 * `oncemq relay`: sends what producers put into an outbox, until it is told to stop. It prints one line when its state
 * changes, and one for each failure; with `--once` it sends what is there and ends.
 */

import { createRelay, type RelayStatus } from '@oncemq/toolkit';
import { deduplicateUsage, destinationFor, targetFlags, targetIn } from './aws-client.ts';
import { openOutbox, outboxFlags, outboxFlagsUsage } from './open-outbox.ts';
import { relayTelemetry } from './relay-telemetry.ts';
import { checkFlags, readArguments, secondsOf, UsageError } from './usage.ts';

export const relayUsage: string = `Usage: oncemq relay (--outbox WHERE | --database URL) (--queue URL | --topic ARN) [flags]

Sends the messages of an outbox in order, as soon as they are committed, and marks them as sent. A
message that the queue refuses is set aside with its reason: see oncemq outbox --help.

${outboxFlagsUsage}  --queue URL      the queue to send to; its host is the endpoint, unless it is Amazon's
  --topic ARN      the FIFO topic to publish to, at AWS_ENDPOINT_URL or on Amazon
${deduplicateUsage}  --hold           stop a group behind a refused message, until that is retried or skipped
  --poll SECONDS   look for messages this often even if nothing tells of them [1]
  --keep SECONDS   remove messages that were sent longer ago than this [keep all]
  --once           send what is there, and end

Credentials and region come from the AWS environment variables and files; for a server that is not
Amazon's, the region is us-east-1 by default. SIGINT and SIGTERM end it after the current request.

While it runs, lag, backlog and failures are exported as metrics if the OTEL_* variables name a
collector, as for the server.
`;

const known = [...outboxFlags, ...targetFlags, 'hold', 'poll', 'keep', 'once'];

export async function relay(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, ['hold', 'once']);
  checkFlags(flags, known, relayUsage);
  if (words.length > 0) throw new UsageError(relayUsage);
  const target = targetIn(flags, relayUsage);
  const pollSeconds = secondsOf(flags, 'poll', 1);
  const keepSentMs = flags['keep'] === undefined ? undefined : keepMsOf(flags['keep']);
  const exported = await relayTelemetry(process.env);
  const opened = await openOutbox(flags, process.env);
  const destination = await destinationFor('relay', target);
  const running = createRelay({
    ...destination,
    ...(exported === undefined ? {} : { telemetry: exported.telemetry }),
    outbox: opened.outbox,
    refused: flags['hold'] === undefined ? 'pass' : 'hold',
  });
  try {
    if (flags['once'] !== undefined) {
      const { sent, parked, failures } = await running.flush();
      print(`${sent} sent, ${parked} set aside.`);
      if (failures.length > 0) throw new Error(failures.join('; '));
      return;
    }
    const ending = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
    let last = '';
    await running.run({
      signal: ending.signal,
      pollSeconds,
      ...(keepSentMs === undefined ? {} : { keepSentMs }),
      onFailure: (reason) => process.stderr.write(`oncemq: ${reason}\n`),
      onStatus: (status) => {
        const text = statusText(status);
        if (status.sent > 0 || text !== last) print(`${status.sent} sent, ${text}`);
        last = text;
      },
    });
  } finally {
    destination.client.destroy();
    await opened.close();
    await exported?.close();
  }
}

function statusText({ unsent, lagMs, parked }: RelayStatus): string {
  const behind = unsent === 0 ? '' : `, the oldest for ${Math.round(lagMs / 1_000)} s`;
  return `${unsent} unsent${behind}, ${parked} set aside`;
}

function keepMsOf(text: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw new UsageError(`--keep must be a number of seconds up to 999999999, not ${text}.`);
  return Number(text) * 1_000;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
