/**
 * Answers of megabytes, which are made item by item. They are made one after another: side by side they would all be in memory
 * half made. What waits for that is bounded; an answer beyond the bound is refused, and its messages become visible again at
 * their timeout, as if its client had left.
 */

const waitingCharsMax = 256 * 1024 * 1024;

export class LargeAnswers {
  #waitingChars = 0;
  #latest: Promise<unknown> = Promise.resolve();

  /** Undefined if too much waits already. `chars` is what is held until the answer is made. */
  make<T>(chars: number, make: () => Promise<T>): Promise<T> | undefined {
    if (this.#waitingChars + chars > waitingCharsMax) return undefined;
    this.#waitingChars += chars;
    const made = this.#latest.then(make).finally(() => {
      this.#waitingChars -= chars;
    });
    this.#latest = made.catch(() => {});
    return made;
  }
}
