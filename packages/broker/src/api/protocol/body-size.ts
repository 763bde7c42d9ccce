/**
 * How large the body of a valid request can be in each wire form. A message, or a batch, has at most 1 MiB; what a form makes
 * of its bytes at worst, and a margin for everything around them (ids, other parameters, spaces), is the limit. A longer body
 * is refused by its length, before anything is parsed.
 *
 * - JSON: a byte can be written as six, `\u0041`. Binary attributes in Base64, 4 bytes for 3, take less.
 * - Query: a byte can be written as three, `%41`. Binary attributes in Base64, each of whose characters can be written as
 *   three, take four for a byte.
 */

import { batchSizeBytesMax } from '../../core/limits.ts';
import type { ApiRequest } from '../request.ts';

const marginBytes = 1024 * 1024;
export const jsonBodyBytesMax: number = 6 * batchSizeBytesMax + marginBytes;
export const queryBodyBytesMax: number = 4 * batchSizeBytesMax + marginBytes;

/** AWS JSON is recognized by its headers; everything else is AWS Query. */
export function isJsonRequest(headers: ApiRequest['headers']): boolean {
  return (
    headers['x-amz-target'] !== undefined ||
    headers['content-type']?.includes('x-amz-json') === true
  );
}

export function bodyBytesMaxOf(headers: ApiRequest['headers']): number {
  return isJsonRequest(headers) ? jsonBodyBytesMax : queryBodyBytesMax;
}
