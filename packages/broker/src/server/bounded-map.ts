/**
 * A map of bounded size that evicts the entry set longest ago. It is for data that only makes a span or a record more
 * detailed, and may be missing.
 */

export class BoundedMap<Value> {
  readonly #sizeMax: number;
  readonly #values: Map<string, Value> = new Map();

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  set(key: string, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= this.#sizeMax) return;
    const [oldest] = this.#values.keys();
    this.#values.delete(oldest as string);
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  /** Removes and returns the value. */
  take(key: string): Value | undefined {
    const value = this.#values.get(key);
    this.#values.delete(key);
    return value;
  }
}
