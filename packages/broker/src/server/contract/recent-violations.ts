/**
 * The latest violations and collisions of each queue, for people who look: a reader of the event stream. Bounded, in
 * memory, and gone with the process. It reads only where a contract is set, since nobody can ask elsewhere.
 */

import type { CollisionEvent, ContractViolationEvent, Event } from '../../core/events.ts';
import type { Backend } from '../../storage/backend.ts';

const perQueueMax = 1_000;
/** Of a body so much is kept: a thousand whole ones could be a gigabyte. */
const bodyCharsMax = 4_096;

type Told = CollisionEvent | ContractViolationEvent;

export function recentViolations(backend: Backend): (queue: string) => readonly Told[] {
  const byQueue = new Map<string, Told[]>();
  const note = (event: Event): void => {
    if (event.type === 'contract-violation' || event.type === 'collision') {
      const told = byQueue.get(event.queue) ?? [];
      byQueue.set(event.queue, told);
      told.push(event.type === 'collision' ? event : withoutBulk(event));
      // Forgotten by halves, so that a full list costs nothing more for each send.
      if (told.length > perQueueMax * 2) told.splice(0, perQueueMax);
    } else if (event.type === 'queue-deleted') {
      byQueue.delete(event.queue);
    }
  };
  backend.listen(note, () => byQueue.clear());
  return (queue) => byQueue.get(queue) ?? [];
}

/** Copied by way of bytes: a slice of a text holds on to all of it. */
function withoutBulk(event: ContractViolationEvent): ContractViolationEvent {
  if (event.body.length <= bodyCharsMax) return event;
  return { ...event, body: `${Buffer.from(event.body.slice(0, bodyCharsMax))}…` };
}
