/**
 * The values that a message has at one path, in the forms that conditions compare. Each form is made once, for all
 * conditions of all policies that ask for it: an address is parsed once, not once a condition.
 */

import { type Address, readAddress } from './cidr.ts';

/** Text, number, true, false or null: an attribute, or a leaf of the message. */
export type Scalar = string | number | boolean | null;

export function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

export class ValueList {
  readonly scalars: readonly Scalar[];
  #chars: number | undefined;
  #addresses: readonly Address[] | undefined;
  #folded: readonly string[] | undefined;

  constructor(scalars: readonly Scalar[]) {
    this.scalars = scalars;
  }

  get size(): number {
    return this.scalars.length;
  }

  /** Of all texts together. */
  get chars(): number {
    if (this.#chars === undefined) {
      this.#chars = 0;
      for (const value of this.scalars) if (typeof value === 'string') this.#chars += value.length;
    }
    return this.#chars;
  }

  /** Of the texts that are addresses. */
  get addresses(): readonly Address[] {
    this.#addresses ??= this.#texts()
      .map(readAddress)
      .filter((address) => address !== undefined);
    return this.#addresses;
  }

  /** The texts in lower case. */
  get folded(): readonly string[] {
    this.#folded ??= this.#texts().map((text) => text.toLowerCase());
    return this.#folded;
  }

  get hasAddresses(): boolean {
    return this.#addresses !== undefined;
  }

  get hasFolded(): boolean {
    return this.#folded !== undefined;
  }

  #texts(): string[] {
    return this.scalars.filter((value) => typeof value === 'string');
  }
}

export const noValues: ValueList = new ValueList([]);
