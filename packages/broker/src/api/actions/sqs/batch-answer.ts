/**
 * The answer to a batch (4.3, 8.8): which entries succeeded and which were refused, each in the order of the request.
 * Codes of refused entries are those of AWS Query, in both wire forms.
 */

import type { Refusal } from '../../../core/errors.ts';
import { faultText, wireErrorOf } from '../../protocol/error-codes.ts';
import type { ValueMap } from '../../shapes/shape.ts';

type BatchEntry = { readonly Id?: string };

/** `success` returns the output for an entry that succeeded, with its Id. */
export function batchOutput<Entry extends BatchEntry, Result extends { readonly ok: true }>(
  entries: readonly Entry[],
  results: readonly (Result | Refusal)[],
  success: (entry: Entry, result: Result) => ValueMap,
): ValueMap {
  const successful: ValueMap[] = [];
  const failed: ValueMap[] = [];
  for (let at = 0; at < results.length; at += 1) {
    const entry = entries[at] as Entry;
    const result = results[at] as Result | Refusal;
    if (result.ok) successful.push(success(entry, result));
    else failed.push(failure(entry, result));
  }
  return { Successful: successful, Failed: failed };
}

/** The answer of actions that only report that an entry succeeded. */
export function plainBatchOutput(
  entries: readonly BatchEntry[],
  results: readonly ({ readonly ok: true } | Refusal)[],
): ValueMap {
  return batchOutput(entries, results, idAlone);
}

function idAlone({ Id }: BatchEntry): ValueMap {
  return { Id };
}

function failure({ Id }: BatchEntry, refusal: Refusal): ValueMap {
  const { code, fault } = wireErrorOf(refusal);
  return { Id, SenderFault: fault === 'Sender', Code: code, Message: faultText(refusal) };
}
