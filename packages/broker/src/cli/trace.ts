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

What became of an event, in order. ID is an event_id, a dedupe_key, the id of a message or of a publication, or a deduplication
id; all that is joined to it is told: copies in other queues, suppressed sends, dead letters, moves.

  --ledger DIR   what oncemq serve --ledger writes [ONCEMQ_LEDGER]
  --queue NAME   only what concerns this queue
  --json         the ledger's records; isCut is true if there are more
`;

export async function trace(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, ['json']);
  const [id] = words;
  if (words.length !== 1 || id === undefined || id === '') throw new UsageError(traceUsage);
  checkFlags(flags, ['ledger', 'queue', 'json'], traceUsage);
  const directory = flags['ledger'] ?? process.env['ONCEMQ_LEDGER'];
  if (directory === undefined || directory === '') {
    throw new UsageError(`Which ledger? Name it with --ledger or ONCEMQ_LEDGER.\n\n${traceUsage}`);
  }
  await stat(directory).catch((cause: unknown) => {
    throw new Error(
      `There is no ledger ${directory}; oncemq serve --ledger ${directory} keeps one.`,
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
    const where = queue === undefined ? '' : ` in ${queue}`;
    throw new Error(`Nothing in the ledger ${directory} is about ${id}${where}.`);
  }
  const story = { ...whole, records };
  const text =
    flags['json'] === 'true'
      ? JSON.stringify({ records, isCut: whole.isCut }, undefined, 2)
      : storyText(story);
  endWithReader();
  process.stdout.write(`${text}\n`);
}
