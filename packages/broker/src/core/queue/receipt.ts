/**
 * Receipt handles: which message, which receive, and a tag that only the queue can make. A handle is checked by
 * making the tag again, so nothing has to be remembered for it, however old it is: standard queues accept every handle
 * they ever gave out for a message (rules 10.4–10.6), FIFO queues the latest (10.7). Handles of another queue, or of
 * a deleted queue of the same name, have another secret's tag and so are no handles at all (10.1).
 */

import { keyedTag, tagLength } from '../digest.ts';

export interface Receipt {
  readonly sequence: number;
  /** The stamp of the receive that gave it out. */
  readonly receipt: number;
}

export function writeReceipt(secret: string, sequence: number, receipt: number): string {
  const name = `${sequence}.${receipt}`;
  return `${name}.${keyedTag(secret, name)}`;
}

const handleLengthMax = 64;
const codeOfDot = 0x2e;
const codeOf0 = 0x30;

export function readReceipt(secret: string, handle: string): Receipt | undefined {
  const end = handle.length - tagLength - 1;
  if (handle.length > handleLengthMax || end < 0 || handle.charCodeAt(end) !== codeOfDot) {
    return undefined;
  }
  const name = handle.slice(0, end);
  if (!handle.endsWith(keyedTag(secret, name))) return undefined;
  // A tag that fits was made here, so the name before it has the form that it has here: digits, a dot, digits.
  let sequence = 0;
  let receipt = 0;
  for (let at = 0; at < end; at += 1) {
    const code = name.charCodeAt(at);
    if (code === codeOfDot) {
      sequence = receipt;
      receipt = 0;
    } else {
      receipt = receipt * 10 + code - codeOf0;
    }
  }
  return { sequence, receipt };
}
