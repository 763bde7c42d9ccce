/**
 * The latest contract violations and collisions of each queue, collected from the event stream for people to look at. Held
 * in memory, bounded per queue and in total. Only servers with a contract collect them; others have no endpoint that shows
 * them.
 */

import { detached } from '../../core/detached.ts';
import type { CollisionEvent, ContractViolationEvent, Event } from '../../core/events.ts';
import type { Backend } from '../../storage/backend.ts';

const perQueueMax = 1_000;
/** Beyond this, the queue whose latest violation is the oldest is forgotten. */
const totalMax = 20_000;
/** Longer bodies are cut: a thousand whole ones could be a gigabyte. */
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
  /** Ordered by each queue's latest violation, the oldest first. */
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
    // Halved when full, so that removing costs little per event.
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

function withoutBulk(event: ContractViolationEvent): ContractViolationEvent {
  if (event.body.length <= bodyCharsMax) return event;
  return { ...event, body: `${detached(event.body.slice(0, bodyCharsMax))}…` };
}
