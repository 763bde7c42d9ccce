/**
 * `oncemq backup` and `oncemq check`: commands that read a data directory directly, without asking a server.
 */

import { resolve } from 'node:path';
import { dataDefault } from '../server/config/settings.ts';
import {
  BackupTarget,
  type CheckReport,
  checkDirectory,
  copyData,
  DamagedDataError,
  DataError,
  lockRefusal,
  remedy,
} from '../storage/lmdb/tools.ts';
import { runInChild } from './in-child.ts';
import { isChild } from './is-child.ts';
import { table } from './table.ts';
import { type Arguments, checkFlags, readArguments, UsageError } from './usage.ts';

export const backupUsage: string = `Usage: oncemq backup TO [--data DIR]

Copies the data of a running or stopped server, as of one moment, to the directory TO. A server can be started on the copy.

  --data DIR   the server's data directory [${dataDefault}, or ONCEMQ_DATA]
`;

export const checkUsage: string = `Usage: oncemq check DIR [--json]

Verifies the data of a stopped server: that every record can be read, and that messages, contents, deliveries, order,
counters and deduplication windows are consistent. Exits with 1 if not.
`;

export async function backup(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, []);
  const to = oneWord({ words, flags }, ['data'], backupUsage);
  const directory = flags['data'] ?? (process.env['ONCEMQ_DATA'] || dataDefault);
  const target = new BackupTarget(to, isChild ? process.ppid : process.pid);
  if (isChild) return copy(directory, to, target);
  target.prepare();
  try {
    await runInChild(resolve(directory));
  } finally {
    target.clear();
  }
}

async function copy(directory: string, to: string, target: BackupTarget): Promise<void> {
  const { records, damaged } = await copyData(directory, target);
  process.stdout.write(
    `${records.toLocaleString('en-US')} records copied from ${directory} to ${to}\n`,
  );
  if (damaged.length === 0) return;
  throw new DataError(
    `${damaged.length} of them are damaged, in ${directory} as in the copy: ${damaged.slice(0, damagedShownMax).join(', ')}. oncemq check ${to} shows details.`,
  );
}

/** How many damaged records of a backup are named. */
const damagedShownMax = 20;

export async function check(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, ['json']);
  const directory = oneWord({ words, flags }, ['json'], checkUsage);
  const isJson = flags['json'] === 'true';
  try {
    await (isChild ? verify(directory, isJson) : runInChild(resolve(directory)));
  } catch (error) {
    if (error instanceof DamagedDataError) throw new DataError(error.finding, { cause: error });
    throw error;
  }
}

async function verify(directory: string, isJson: boolean): Promise<void> {
  const report = await checkDirectory(directory);
  const refused = lockRefusal(directory);
  if (refused !== undefined) {
    process.stderr.write(
      `oncemq: lock.mdb cannot be written (${refused}), so a server that is running on this data cannot be detected.\n`,
    );
  }
  const text = isJson ? JSON.stringify(report, undefined, 2) : reportText(report);
  process.stdout.write(`${text}\n`);
  const count = report.problems.length;
  if (count === 0) return;
  throw new DataError(
    `The data in ${directory} has ${count} ${count === 1 ? 'problem' : 'problems'}. ${remedy} Until then, a server delivers what can be read; where it refuses to start, copy the directory and start with --accept-loss.`,
  );
}

/** The command's only argument. */
function oneWord(
  { words, flags }: Pick<Arguments, 'words' | 'flags'>,
  known: readonly string[],
  usage: string,
): string {
  checkFlags(flags, known, usage);
  const [word] = words;
  if (word === undefined || words.length > 1) throw new UsageError(usage);
  return word;
}

function reportText({
  format,
  records,
  fileBytes,
  queues,
  topics,
  abandoned,
  problems,
  notes,
}: CheckReport): string {
  const queueRows = queues.map(({ name, messages, received, windowEntries, bodyBytes }) =>
    cellsOf(name, messages, received, windowEntries, bodyBytes),
  );
  const topicRows = topics.map(({ name, subscriptions, windowEntries, archived, posts }) =>
    cellsOf(name, subscriptions, windowEntries, archived, posts),
  );
  const topicTable = table(
    ['TOPIC', 'SUBSCRIPTIONS', 'IN WINDOW', 'ARCHIVED', 'CALLS WAITING'],
    topicRows,
  );
  const file = `format ${format}, ${records.toLocaleString('en-US')} records in ${(fileBytes / 1e6).toFixed(1)} MB`;
  const clearing =
    abandoned === 0 ? [] : [`purged or deleted, space not yet reclaimed: ${abandoned}`];
  const found =
    problems.length === 0 ? ['no problems found'] : problems.map((problem) => `! ${problem}`);
  return [
    file,
    '',
    table(['QUEUE', 'MESSAGES', 'RECEIVED', 'IN WINDOW', 'BODY BYTES'], queueRows),
    '',
    ...(topics.length === 0 ? [] : [topicTable, '']),
    ...clearing,
    ...notes,
    ...found,
  ].join('\n');
}

function cellsOf(name: string, ...counts: readonly number[]): string[] {
  return [name, ...counts.map((count) => count.toLocaleString('en-US'))];
}
