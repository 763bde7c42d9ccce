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

export function writeReceipt(secret: string, { sequence, receipt }: Receipt): string {
  const name = `${sequence.toString(36)}.${receipt.toString(36)}`;
  return `${name}.${keyedTag(secret, name)}`;
}

const form = /^([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([\w-]{16})$/;

export function readReceipt(secret: string, handle: string): Receipt | undefined {
  const parts = form.exec(handle);
  if (parts === null) return undefined;
  const name = `${parts[1]}.${parts[2]}`;
  if (keyedTag(secret, name) !== parts[3]) return undefined;
  return {
    sequence: Number.parseInt(parts[1] as string, 36),
    receipt: Number.parseInt(parts[2] as string, 36),
  };
}
