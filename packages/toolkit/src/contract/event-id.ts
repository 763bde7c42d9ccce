/**
 * Event ids: version 7 UUIDs, which begin with a time: the event's if derived, the current one if random.
 *
 * A derived id takes its other bits from the SHA-256 of source and key. So an event has the same id however often its
 * envelope is built, and a producer that restarts from its input sends the same bytes again, even if it kept nothing.
 * Random ids are for producers that keep each envelope before they send it and replay what they kept.
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
  // The 32 bits of the sequence number come from the hash too, so that nothing depends on the library's own counter.
  const seq = random.readUInt32BE(0);
  return v7({ msecs: Math.max(0, event.timeMs), random, seq });
}

export function randomEventId(): string {
  return v7();
}
