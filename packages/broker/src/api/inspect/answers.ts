/**
 * What the answers of the `/_oncemq/` endpoints have in common: the usual ones, the maximum length of a list, and where its
 * page starts.
 */

import { errorShape, errorText, type Refusal } from '../../core/errors.ts';
import { failed, type InspectResponse } from '../inspect-response.ts';
import { nextTurn } from '../next-turn.ts';

export const listLimit = { default: 100, max: 1000 } as const;

export function ok(body: unknown): InspectResponse {
  return { status: 200, body };
}

const writtenAtOnce = 1_000;

/** A list without an end to it, written part by part: the event loop gets a turn after each. */
export async function wholeList(name: string, items: readonly object[]): Promise<InspectResponse> {
  const parts: string[] = [];
  for (let from = 0; from < items.length; from += writtenAtOnce) {
    if (from > 0) await nextTurn();
    parts.push(JSON.stringify(items.slice(from, from + writtenAtOnce)).slice(1, -1));
  }
  const body = `{${JSON.stringify(name)}:[${parts.join(',')}]}\n`;
  return { status: 200, body, contentType: 'application/json' };
}

export function refused(refusal: Refusal): InspectResponse {
  const shape = errorShape(refusal.code);
  const isMissing = shape === 'QueueDoesNotExist' || shape === 'NotFoundException';
  const status = isMissing ? 404 : 400;
  return failed(status, shape, errorText(refusal));
}

export function wrongLimit(): InspectResponse {
  return failed(400, 'InvalidRequest', `limit must be a number from 1 to ${listLimit.max}.`);
}

export function limitOf(query: URLSearchParams): number | undefined {
  const text = query.get('limit');
  if (text === null || text === '') return listLimit.default;
  const limit = Number(text);
  const isGood = /^\d+$/.test(text) && limit >= 1 && limit <= listLimit.max;
  return isGood ? limit : undefined;
}

export function wrongAfter(): InspectResponse {
  return failed(400, 'InvalidRequest', 'after must be the next of the previous page.');
}

/** Parses a number of the query or path, such as where a page starts; undefined if absent, null if it is not a number. */
export function numberOf(text: string | null): number | undefined | null {
  if (text === null || text === '') return undefined;
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}
