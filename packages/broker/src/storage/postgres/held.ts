/**
 * What each queue holds, in its row of the table `owner`. Whoever looks at all queues, as a scrape of the metrics does, would
 * otherwise load all of them, lock them, and never forget them. Every batch writes it with the new version; a node of a version
 * that does not write it leaves an older one behind, which then says nothing.
 */

import type { OwnerId } from '../../core/changes.ts';
import type { QueueDescription } from '../../core/commands.ts';
import type { Connection } from './connection.ts';
import type { Known } from './journal.ts';
import { quoted } from './schema.ts';

/** Undefined for what is no queue. */
export function writtenHeld(
  version: number,
  found: QueueDescription | undefined,
): string | undefined {
  if (found === undefined) return undefined;
  const { isFifo, visible, inFlight, delayed, groups, blockedGroups, windowEntries } = found;
  const oldest = found.oldestSentAt ?? null;
  return JSON.stringify([
    version,
    isFifo,
    visible,
    inFlight,
    delayed,
    groups,
    blockedGroups,
    windowEntries,
    oldest,
  ]);
}

/** What these queues hold, without those about which the database says nothing, or where something has fallen due since. */
export async function heldBy(
  connection: Connection,
  schema: string,
  queues: readonly (Known & { readonly name: OwnerId })[],
  now: number,
): Promise<ReadonlyMap<OwnerId, QueueDescription>> {
  const names = new Map(queues.map(({ number, name }): [number, OwnerId] => [number, name]));
  const [rows] = await connection.read({
    text: `SELECT number, version, held FROM ${quoted(schema)}.owner
      WHERE number = ANY($1::bigint[]) AND NOT is_gone AND held IS NOT NULL AND (due_at IS NULL OR due_at > $2)`,
    values: [[...names.keys()], now],
  });
  const found = new Map<OwnerId, QueueDescription>();
  for (const { number, version, held } of rows?.rows ?? []) {
    const [at, isFifo, visible, inFlight, delayed, groups, blockedGroups, windowEntries, oldest] =
      JSON.parse(held as string);
    if (at !== Number(version)) continue;
    const oldestSentAt = oldest ?? undefined;
    const counts = { visible, inFlight, delayed, groups, blockedGroups, windowEntries };
    const name = names.get(Number(number)) as OwnerId;
    found.set(name, { ok: true, isFifo, ...counts, oldestSentAt });
  }
  return found;
}
