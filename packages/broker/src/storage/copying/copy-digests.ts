/**
 * What a store holds, as a count and a digest for each kind of change of each queue and topic: to tell whether two stores
 * hold the same. The digest of a kind does not depend on the order, which stores choose.
 */

import { createHash } from 'node:crypto';
import { type Change, ownerOf } from '../../core/changes.ts';

interface Tally {
  count: number;
  /** All changes' digests, added bit by bit. */
  readonly sum: Buffer;
}

const digestBytes = 32;

export class CopyDigests {
  readonly #tallies: Map<string, Tally> = new Map();

  add(changes: readonly Change[]): void {
    for (const change of changes) {
      const name = `${ownerOf(change)}: ${change.kind}`;
      let tally = this.#tallies.get(name);
      if (tally === undefined) {
        tally = { count: 0, sum: Buffer.alloc(digestBytes) };
        this.#tallies.set(name, tally);
      }
      tally.count += 1;
      const digest = createHash('sha256').update(textOf(change)).digest();
      for (let at = 0; at < digestBytes; at += 1) {
        (tally.sum[at] as number) ^= digest[at] as number;
      }
    }
  }

  /** The first difference, in words; undefined if there is none. */
  differenceFrom(found: CopyDigests): string | undefined {
    for (const name of new Set([...this.#tallies.keys(), ...found.#tallies.keys()])) {
      const [expected, actual] = [this.#tallies.get(name), found.#tallies.get(name)];
      const [had, has] = [expected?.count ?? 0, actual?.count ?? 0];
      if (had !== has) return `${name}: ${has} instead of ${had}`;
      if (expected?.sum.equals(actual?.sum ?? Buffer.alloc(0)) !== true) {
        return `${name}: as many, but others`;
      }
    }
    return undefined;
  }
}

/** The same for equal changes, wherever they were read. */
function textOf(change: Change): string {
  return JSON.stringify(sorted(change));
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(sorted);
  const keys = Object.keys(value).sort();
  const object = value as Readonly<Record<string, unknown>>;
  // The digests of window entries follow from their texts, and stores may leave them out.
  const kept = keys.filter((key) => key !== 'digests' && object[key] !== undefined);
  return Object.fromEntries(kept.map((key) => [key, sorted(object[key])]));
}
