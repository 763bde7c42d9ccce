/**
 * Which names have something due, and when: names ordered by a time that can be changed at will. The engine asks it
 * which queues a tick concerns, so that a thousand idle queues cost nothing.
 */

import { none } from './slab.ts';
import { TimeQueue } from './time-queue.ts';

interface Appointment {
  readonly slot: number;
  node: number;
  time: number;
  stamp: number;
}

export class Deadlines {
  readonly #byName: Map<string, Appointment> = new Map();
  /** Items are slots, since the queue holds integers. */
  readonly #queue: TimeQueue = new TimeQueue();
  readonly #names: Map<number, string> = new Map();
  #nextSlot = 0;

  /** Names with equal times are ordered by stamp; without stamps, by when they were added. */
  set(name: string, time: number | undefined, stamp?: number): void {
    const known = this.#byName.get(name);
    if (known?.time === time) return;
    if (known !== undefined) this.#queue.remove(known.node);
    if (time === undefined) {
      this.#byName.delete(name);
      this.#names.delete((known as Appointment).slot);
    } else if (known !== undefined) {
      known.stamp = stamp ?? known.slot;
      known.node = this.#queue.insert(known.slot, time, known.stamp);
      known.time = time;
    } else {
      const slot = this.#nextSlot;
      this.#nextSlot = (slot + 1) | 0;
      this.#names.set(slot, name);
      const node = this.#queue.insert(slot, time, stamp ?? slot);
      this.#byName.set(name, { slot, node, time, stamp: stamp ?? slot });
    }
  }

  timeOf(name: string): number | undefined {
    return this.#byName.get(name)?.time;
  }

  /** The earliest time of all. */
  first(): number | undefined {
    const node = this.#queue.first();
    return node === none ? undefined : this.#queue.time(node);
  }

  /**
   * The names whose time has come, sorted: the same on every engine, whatever order they were set in. With a limit, only
   * the first of them, which are the same on every engine if they were set with stamps.
   */
  dueBy(now: number, limit: number = Number.POSITIVE_INFINITY): string[] {
    if ((this.first() ?? Number.POSITIVE_INFINITY) > now) return [];
    const due: { name: string; time: number; stamp: number }[] = [];
    for (let node = this.#queue.first(); node !== none; node = this.#queue.first()) {
      const time = this.#queue.time(node);
      if (time > now || due.length >= limit) break;
      const name = this.#names.get(this.#queue.item(node)) as string;
      const { stamp } = this.#byName.get(name) as Appointment;
      due.push({ name, time, stamp });
      this.set(name, undefined);
    }
    for (const { name, time, stamp } of due) this.set(name, time, stamp);
    return due.map(({ name }) => name).sort();
  }

  clear(): void {
    this.#byName.clear();
    this.#queue.clear();
    this.#names.clear();
  }
}
