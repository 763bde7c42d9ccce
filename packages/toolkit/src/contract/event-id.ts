/**
 * Event ids: UUIDs of version 7, which begin with the event's time.
 *
 * The derived one takes its other bits from the SHA-256 of source and key. So one event has one id however often its
 * envelope is built, and a producer that starts again from its input sends the same bytes again, even if it kept
 * nothing. The random one is for producers that keep each envelope before they send it and replay what they kept.
 */

import { createHash } from 'node:crypto';
import { v7 } from 'uuid';

export function derivedEventId(event: {
  readonly source: string;
  readonly key: string;
  readonly timeMs: number;
}): string {
  const random = createHash('sha256')
    .update(`${event.source}\n${event.key}`)
    .digest()
    .subarray(0, 16);
  // Twelve bits of the sequence number and more come from here, so that nothing is left to the library's own counter.
  const seq = random.readUInt32BE(0);
  return v7({ msecs: Math.max(0, event.timeMs), random, seq });
}

export function randomEventId(): string {
  return v7();
}
