/**
 * The answer to a batch (4.3, 8.8): what went through and what was refused, each in the order of the request. Codes of
 * refused entries are those of AWS Query, in both wire forms.
 */

import type { Refusal } from '../../../core/errors.ts';
import { faultText, wireErrorOf } from '../../protocol/error-codes.ts';
import type { ValueMap } from '../../shapes/shape.ts';

type BatchEntry = { readonly Id?: string };

export function batchOutput<Result extends { readonly ok: true }>(
  entries: readonly BatchEntry[],
  results: readonly (Result | Refusal)[],
  success: (result: Result, index: number) => ValueMap,
): ValueMap {
  const successful: ValueMap[] = [];
  const failed: ValueMap[] = [];
  results.forEach((result, index) => {
    const id = entries[index]?.Id;
    if (result.ok) successful.push({ Id: id, ...success(result, index) });
    else failed.push({ Id: id, ...failure(result) });
  });
  return { Successful: successful, Failed: failed };
}

/** The answer of actions that say no more of an entry than that it went through. */
export function plainBatchOutput(
  entries: readonly BatchEntry[],
  results: readonly ({ readonly ok: true } | Refusal)[],
): ValueMap {
  return batchOutput(entries, results, nothing);
}

function nothing(): ValueMap {
  return {};
}

function failure(refusal: Refusal): ValueMap {
  const { code, fault } = wireErrorOf(refusal);
  return { SenderFault: fault === 'Sender', Code: code, Message: faultText(refusal) };
}
