/**
 * The damage that a start finds, by queue or topic, so that somebody can decide what to do. Unreadable records are left out.
 * If the loss is accepted, they are also removed, so that the next start finds what this one has loaded.
 */

import { damagedInPart } from '../file/data-error.ts';
import { keyText } from './keys.ts';

/** How many are named; the others are counted. */
const toldMax = 1000;

export class Damage {
  readonly #told: string[] = [];
  readonly #removals: Buffer[] = [];
  #count = 0;
  /** The record of a queue, a topic or an abandoned number is lost, so contents may have no owner. */
  hasLostOwner = false;

  get count(): number {
    return this.#count;
  }

  /** One line of text each. */
  get told(): readonly string[] {
    const more = this.#count - this.#told.length;
    return more === 0 ? this.#told : [...this.#told, `${more} more`];
  }

  /** The keys of records to remove if the loss is accepted. */
  get removals(): readonly Buffer[] {
    return this.#removals;
  }

  note(owner: string, what: string): void {
    this.#count += 1;
    if (this.#told.length < toldMax) this.#told.push(owner === '' ? what : `${owner}: ${what}`);
  }

  remove(key: Buffer): void {
    this.#removals.push(Buffer.from(key));
  }

  /** For a record that does not match its checksum; `lost` says what is lost with it. */
  record(owner: string, key: Buffer, lost = ''): void {
    const detail = lost === '' ? '' : `, so ${lost}`;
    this.note(owner, `${keyText(key)} does not match its checksum${detail}`);
    this.remove(key);
  }
}

/** Throws if there is any. */
export function refuseDamage(directory: string, damage: Damage): void {
  if (damage.count > 0) throw damagedInPart(directory, damage.told);
}
