/**
 * Receipt handles: which message, which receive, and a tag that only the queue can make. A handle is checked by
 * making the tag again, so nothing has to be remembered for it, however old it is: standard queues accept every handle
 * they ever gave out for a message (rules 10.4–10.6), FIFO queues the latest (10.7). Handles of another queue, or of
 * a deleted queue of the same name, have another secret's tag and so are no handles at all (10.1).
 */

import { keyedTag } from '../digest.ts';

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

export function readReceipt(secret: string, handle: string): Receipt | undefined {
  if (handle.length > handleLengthMax) return undefined;
  const end = handle.lastIndexOf('.');
  const name = handle.slice(0, end);
  // A tag that fits was made here, so the name before it has the form that it has here.
  if (end < 0 || keyedTag(secret, name) !== handle.slice(end + 1)) return undefined;
  const dot = name.indexOf('.');
  return { sequence: Number(name.slice(0, dot)), receipt: Number(name.slice(dot + 1)) };
}
