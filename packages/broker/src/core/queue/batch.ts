/**
 * What a batch request must hold before its entries are looked at, and how entries turn into results: the same for
 * sends, deletes and visibility changes (rules 8.6, 14.3). A single call is a batch of one without an entry id.
 */

import { type Refusal, refuse } from '../errors.ts';
import { batchEntriesMax, batchEntryIdLengthMax } from '../limits.ts';

interface BatchCommand<Entry> {
  readonly isBatch: boolean;
  readonly entries: readonly Entry[];
}

const idForm = /^[A-Za-z0-9_-]+$/;

export function checkBatch(
  command: BatchCommand<{ readonly id?: string | undefined }>,
  entryName: string,
): Refusal | undefined {
  const { entries, isBatch } = command;
  if (!isBatch) return undefined;
  if (entries.length === 0) return refuse('batch-empty', { entry: entryName });
  if (entries.length > batchEntriesMax) return refuse('batch-too-many', { count: entries.length });
  const isIdMissing = entries.some(
    ({ id }) => id === undefined || id.length > batchEntryIdLengthMax || !idForm.test(id),
  );
  if (isIdMissing) return refuse('batch-id-invalid');
  const seen = new Set<string | undefined>();
  for (const { id } of entries) {
    if (seen.has(id)) return refuse('batch-id-repeated', { id: id as string });
    seen.add(id);
  }
  return undefined;
}

/** Each entry in order. The refusal of a single call's only entry is the call's own. */
export function applyEntries<Entry, Result extends { readonly ok: true }>(
  command: BatchCommand<Entry>,
  apply: (entry: Entry, index: number) => Result | Refusal,
): { readonly ok: true; readonly results: readonly (Result | Refusal)[] } | Refusal {
  if (command.isBatch) return { ok: true, results: command.entries.map(apply) };
  const result = apply(command.entries[0] as Entry, 0);
  return result.ok ? { ok: true, results: [result] } : result;
}
