/**
 * The latest violations and collisions of each queue, for people who look: a reader of the event stream. Bounded for each
 * queue and in all, in memory, and gone with the process. It reads only where a contract is set, since nobody can ask
 * elsewhere.
 */

import type { CollisionEvent, ContractViolationEvent, Event } from '../../core/events.ts';
import type { Backend } from '../../storage/backend.ts';

const perQueueMax = 1_000;
/** Beyond it, the queue whose latest is oldest is forgotten. */
const totalMax = 20_000;
/** Of a body so much is kept: a thousand whole ones could be a gigabyte. */
const bodyCharsMax = 4_096;

type Told = CollisionEvent | ContractViolationEvent;

export function recentViolations(backend: Backend): (queue: string) => readonly Told[] {
  const recent = new RecentViolations();
  backend.listen(
    (event) => recent.note(event),
    () => recent.clear(),
  );
  return (queue) => recent.of(queue);
}

class RecentViolations {
  /** The queue whose latest is oldest comes first. */
  readonly #byQueue: Map<string, Told[]> = new Map();
  #total = 0;

  of(queue: string): readonly Told[] {
    return this.#byQueue.get(queue) ?? [];
  }

  note(event: Event): void {
    if (event.type === 'contract-violation') this.#add(withoutBulk(event));
    else if (event.type === 'collision') this.#add(event);
    else if (event.type === 'queue-deleted') this.#forget(event.queue);
  }

  clear(): void {
    this.#byQueue.clear();
    this.#total = 0;
  }

  #add(event: Told): void {
    const { queue } = event;
    const told = this.#byQueue.get(queue) ?? [];
    this.#byQueue.delete(queue);
    this.#byQueue.set(queue, told);
    told.push(event);
    this.#total += 1;
    // Forgotten by halves, so that a full list costs nothing more for each send.
    if (told.length > perQueueMax * 2) this.#total -= told.splice(0, perQueueMax).length;
    for (const oldest of this.#byQueue.keys()) {
      if (this.#total <= totalMax) break;
      this.#forget(oldest);
    }
  }

  #forget(queue: string): void {
    this.#total -= this.of(queue).length;
    this.#byQueue.delete(queue);
  }
}

/** Copied by way of bytes: a slice of a text holds on to all of it. */
function withoutBulk(event: ContractViolationEvent): ContractViolationEvent {
  if (event.body.length <= bodyCharsMax) return event;
  return { ...event, body: `${Buffer.from(event.body.slice(0, bodyCharsMax))}…` };
}
