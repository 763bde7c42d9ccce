/**
 * What a batch request must satisfy before its entries are looked at, and how entries turn into results: the same for
 * sends, deletes and visibility changes (rules 8.6, 14.3). A single call is a batch of one without an entry id.
 */

import { type Refusal, refuse } from '../errors.ts';
import { batchEntriesMax, batchEntryIdLengthMax } from '../limits.ts';
import type { Transaction } from '../transaction.ts';
import type { Queue } from './queue.ts';

interface BatchEntry {
  readonly id?: string | undefined;
}

interface BatchCommand<Entry> {
  readonly isBatch: boolean;
  readonly entries: readonly Entry[];
}

const noIdCharacter = /[^A-Za-z0-9_-]/;

/** The `index` of the only entry of a call that is not a batch. */
export const single = -1;

export function checkBatch(
  { entries, isBatch }: BatchCommand<BatchEntry>,
  entryName: string,
): Refusal | undefined {
  if (!isBatch) return undefined;
  if (entries.length === 0) return refuse('batch-empty', { entry: entryName });
  if (entries.length > batchEntriesMax) return refuse('batch-too-many', { count: entries.length });
  const lacking = entries.findIndex(({ id }) => id === undefined);
  if (lacking !== -1) return refuseMissing('Id', entryName, lacking);
  for (const { id } of entries) {
    if (!id || id.length > batchEntryIdLengthMax || noIdCharacter.test(id)) {
      return refuse('batch-id-invalid');
    }
  }
  // Ten at most: looking at each pair costs less than a Set.
  for (let at = 1; at < entries.length; at += 1) {
    const id = (entries[at] as BatchEntry).id as string;
    for (let before = 0; before < at; before += 1) {
      if ((entries[before] as BatchEntry).id === id) return refuse('batch-id-repeated', { id });
    }
  }
  return undefined;
}

/** A member that an entry lacks. In a batch, AWS names it with the entry and its index, as AWS Query writes it. */
export function refuseMissing(member: string, entryName: string, index: number): Refusal {
  const name = index === single ? member : `${entryName}.${index + 1}.${member}`;
  return refuse('parameter-missing', { name });
}

/** Each entry in order. The refusal of a single call's only entry is the call's own. */
export function applyEntries<Entry, Result extends { readonly ok: true }>(
  queue: Queue,
  { entries, isBatch }: BatchCommand<Entry>,
  tx: Transaction,
  apply: (queue: Queue, entry: Entry, tx: Transaction, index: number) => Result | Refusal,
): { readonly ok: true; readonly results: readonly (Result | Refusal)[] } | Refusal {
  if (!isBatch) {
    const result = apply(queue, entries[0] as Entry, tx, single);
    return result.ok ? { ok: true, results: [result] } : result;
  }
  const results: (Result | Refusal)[] = [];
  for (let index = 0; index < entries.length; index += 1) {
    results.push(apply(queue, entries[index] as Entry, tx, index));
  }
  return { ok: true, results };
}
