/**
 * `oncemq outbox`: what to do with the messages that a relay has set aside, because the queue refused them.
 */

import type { Outbox } from '@oncemq/toolkit';
import { openOutbox, outboxFlags, outboxFlagsUsage } from './open-outbox.ts';
import { printable } from './printable.ts';
import { checkFlags, readArguments, UsageError } from './usage.ts';

export const outboxUsage: string = `Usage: oncemq outbox list       (--outbox WHERE | --database URL) [flags] [--json]
       oncemq outbox retry ID…  (--outbox WHERE | --database URL) [flags]
       oncemq outbox skip ID…   (--outbox WHERE | --database URL) [flags]

list shows the messages that a relay has set aside, with the reason. retry lets the relay send them
again, as they were kept. skip gives them up: they are not sent, and stay in the outbox for replays.

${outboxFlagsUsage}  --json           one JSON object per line
`;

const listedMax = 1_000;

export async function outboxCommand(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, ['json']);
  const [command, ...ids] = words;
  checkFlags(flags, command === 'list' ? [...outboxFlags, 'json'] : outboxFlags, outboxUsage);
  const isList = command === 'list' && ids.length === 0;
  const isDecision = (command === 'retry' || command === 'skip') && ids.length > 0;
  if (!isList && !isDecision) throw new UsageError(outboxUsage);
  for (const id of ids) {
    if (!/^[1-9]\d{0,15}$/.test(id)) throw new UsageError(`${id} is not the id of a message.`);
  }
  const { outbox, close } = await openOutbox(flags, process.env);
  try {
    if (isList) await list(outbox, flags['json'] !== undefined);
    else await decide(outbox, command === 'retry' ? 'retry' : 'skip', ids);
  } finally {
    await close();
  }
}

async function list(outbox: Outbox, isJson: boolean): Promise<void> {
  const parked = await outbox.parked(listedMax);
  for (const { id, parkedAt, reason, message } of parked) {
    const at = new Date(parkedAt).toISOString();
    const text = isJson
      ? JSON.stringify({ id, parked_at: at, reason, ...message })
      : printable(`${id}  ${at}  ${message.groupId}  ${reason}`);
    process.stdout.write(`${text}\n`);
  }
  if (parked.length === listedMax)
    process.stderr.write(`oncemq: only the first ${listedMax} are shown.\n`);
  if (parked.length === 0 && !isJson) process.stdout.write('No message is set aside.\n');
}

async function decide(
  outbox: Outbox,
  decision: 'retry' | 'skip',
  ids: readonly string[],
): Promise<void> {
  const missing: string[] = [];
  for (const id of ids) if (!(await outbox[decision](Number(id)))) missing.push(id);
  if (missing.length > 0) throw new Error(`Not set aside: ${missing.join(', ')}.`);
  process.stdout.write(
    decision === 'retry' ? 'The relay will send them again.\n' : 'They will not be sent.\n',
  );
}
