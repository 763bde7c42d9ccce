/**
 * A map of bounded size: what was set longest ago is forgotten first. For what only makes a span or a record say more, and
 * may be missing.
 */

export class Latest<Value> {
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

  /** The value, which is forgotten. */
  take(key: string): Value | undefined {
    const value = this.#values.get(key);
    this.#values.delete(key);
    return value;
  }
}
