/**
 * Receipt handles: which message, which receive, and a tag that only the queue can make. A handle is checked by
 * computing the tag again, so nothing has to be remembered for it, however old it is: standard queues accept every handle
 * they ever gave out for a message (rules 10.4–10.6), FIFO queues the latest (10.7). Handles of another queue, or of
 * a deleted queue of the same name, carry a tag made with another secret and so are invalid (10.1). The table remembers
 * the tag of a message's latest receipt only to save time.
 */

import { keyedTag, tagLength } from '../digest.ts';

export interface Receipt {
  readonly sequence: number;
  /** The stamp of the receive that gave it out. */
  readonly receipt: number;
}

/** The part of a handle before its tag. */
export function receiptName(sequence: number, receipt: number): string {
  return `${sequence}.${receipt}`;
}

const handleLengthMax = 64;
const codeOfDot = 0x2e;
const codeOf0 = 0x30;
const codeOf9 = 0x39;

/** What a handle says, genuine or not; undefined if it is malformed. */
export function readReceipt(handle: string): Receipt | undefined {
  const end = handle.length - tagLength - 1;
  if (handle.length > handleLengthMax || end < 0 || handle.charCodeAt(end) !== codeOfDot) {
    return undefined;
  }
  const dot = handle.indexOf('.');
  const sequence = numberIn(handle, 0, dot);
  const receipt = numberIn(handle, dot + 1, end);
  return sequence === undefined || receipt === undefined ? undefined : { sequence, receipt };
}

/** Whether the queue with this secret made the handle. */
export function isGenuine(secret: string, handle: string): boolean {
  const end = handle.length - tagLength - 1;
  return handle.endsWith(keyedTag(secret, handle.slice(0, end)));
}

/** Reads a number in canonical form: no leading zeros, and a safe integer, so that no other number reads the same. */
function numberIn(text: string, start: number, end: number): number | undefined {
  let number = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code < codeOf0 || code > codeOf9) return undefined;
    number = number * 10 + code - codeOf0;
    if (number === 0) return undefined;
  }
  return number > 0 && number <= Number.MAX_SAFE_INTEGER ? number : undefined;
}
