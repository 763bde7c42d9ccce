/**
 * Sends a large answer: each part in a turn of its own, and only after the kernel has taken the one before it, so that one
 * reader of megabytes does not hold up the others.
 */

import type { Writable } from 'node:stream';
import { nextTurn } from '../../api/next-turn.ts';

/** Calls `then` when all parts are taken; never, if the client leaves before. */
export function sendParts(to: Writable, parts: readonly Uint8Array[], then: () => void): void {
  let at = 0;
  const next = (error?: Error | null): void => {
    if (error || to.destroyed) return;
    const part = parts[at];
    at += 1;
    if (part === undefined) then();
    else to.write(part, (failure) => void nextTurn().then(() => next(failure)));
  };
  next();
}
