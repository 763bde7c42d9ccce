/**
 * `oncemq trace`: the story of one event, read directly from a ledger that `oncemq serve --ledger` has written or is
 * writing, without asking a server.
 */

import { stat } from 'node:fs/promises';
import { endWithReader } from './output.ts';
import { storyOf } from './trace/story.ts';
import { storyText } from './trace/story-text.ts';
import { checkFlags, readArguments, UsageError } from './usage.ts';

export const traceUsage = `Usage: oncemq trace ID [--ledger DIR] [--queue NAME] [--json]

Shows what happened to an event, in order. ID is an event_id, a dedupe_key, the id of a message or of a publication, or a
deduplication id; the story includes everything connected to it: copies in other queues, suppressed sends, dead letters, moves.

  --ledger DIR   the directory that oncemq serve --ledger writes [ONCEMQ_LEDGER]
  --queue NAME   only records that concern this queue
  --json         print the ledger's records; isCut is true if there are more
`;

export async function trace(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, ['json']);
  const [id] = words;
  if (words.length !== 1 || id === undefined || id === '') throw new UsageError(traceUsage);
  checkFlags(flags, ['ledger', 'queue', 'json'], traceUsage);
  const directory = flags['ledger'] ?? process.env['ONCEMQ_LEDGER'];
  if (directory === undefined || directory === '') {
    throw new UsageError(
      `No ledger is given. Set its directory with --ledger or ONCEMQ_LEDGER.\n\n${traceUsage}`,
    );
  }
  await stat(directory).catch((cause: unknown) => {
    throw new Error(
      `There is no ledger in ${directory}. A server writes one if started with oncemq serve --ledger ${directory}.`,
      { cause },
    );
  });
  const whole = await storyOf(directory, id).catch((cause: Error) => {
    throw new Error(`The ledger ${directory} cannot be read: ${cause.message}.`, { cause });
  });
  const { queue } = flags;
  const records =
    queue === undefined
      ? whole.records
      : whole.records.filter((record) => record.queue === queue || record.target === queue);
  if (records.length === 0) {
    const where = queue === undefined ? '' : ` in queue ${queue}`;
    throw new Error(`Nothing was found for ${id}${where} in the ledger ${directory}.`);
  }
  const story = { ...whole, records };
  const text =
    flags['json'] === 'true'
      ? JSON.stringify({ records, isCut: whole.isCut }, undefined, 2)
      : storyText(story);
  endWithReader();
  process.stdout.write(`${text}\n`);
}
