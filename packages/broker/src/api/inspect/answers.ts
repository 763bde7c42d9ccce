/**
 * The answers of the `/_oncemq/` endpoints, good and bad, and how long a list may be: what queues' and topics' endpoints
 * have in common.
 */

import type { Writable } from 'node:stream';
import { errorShape, errorText, type Refusal } from '../../core/errors.ts';

export interface InspectResponse {
  readonly status: number;
  /** Answered as JSON; a text with a content type, as it is. */
  readonly body: unknown;
  readonly contentType?: string;
  /** Instead of a body: takes what is written from now on, until either side ends it. */
  readonly stream?: (out: Writable) => void;
  /** The methods that the path takes, with status 405. */
  readonly allow?: string;
}

export const listLimit = { default: 100, max: 1000 } as const;

export function ok(body: unknown): InspectResponse {
  return { status: 200, body };
}

export function failed(status: number, code: string, message: string): InspectResponse {
  return { status, body: { error: { code, message } } };
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
