/**
 * How many handlers may run at once: a counting semaphore that serves in the order of asking. Whoever asks for all slots
 * runs alone: those before it finish first, and those after it wait.
 */

interface Waiting {
  readonly count: number;
  readonly start: () => void;
}

export class Slots {
  readonly total: number;
  #free: number;
  readonly #waiting: Waiting[] = [];

  constructor(total: number) {
    this.total = total;
    this.#free = total;
  }

  /** Runs the work once it has `count` slots. */
  async use<T>(count: number, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      this.#waiting.push({ count, start });
      this.#serve();
    });
    try {
      return await work();
    } finally {
      this.#free += count;
      this.#serve();
    }
  }

  #serve(): void {
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined || first.count > this.#free) break;
      this.#waiting.shift();
      this.#free -= first.count;
      first.start();
    }
  }
}
