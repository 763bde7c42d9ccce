/**
 * The keys of the messages in a file outbox, each with the digest of its body: appending the same message again changes
 * nothing, and appending another one under the same key is refused. A key is forgotten when its segment is removed.
 *
 * Bounded: beyond a million keys, the oldest are forgotten first, and a repetition of their messages is kept once more.
 */

import { sha256 } from '../contract/canonical.ts';
import { ContractError } from '../contract/refusals.ts';
import { keyReused, scopedKey } from '../contract/reused-key.ts';
import type { ProducerMessage } from '../producer/send.ts';
import { eventKeyOf } from './outbox.ts';

interface KeptKey {
  readonly digest: string;
  /** The message's id once it is on disk. */
  readonly kept: Promise<number>;
  segment: number | undefined;
}

const keysMaxDefault = 1_000_000;

export class KeptKeys {
  readonly #keysMax: number;
  /** By the hash of source and key, in order of appending. */
  readonly #byKey: Map<string, KeptKey> = new Map();

  constructor(keysMax: number = keysMaxDefault) {
    this.#keysMax = keysMax;
  }

  /** The id of the same message, if it is kept. Throws if the key belongs to another body. */
  find(message: ProducerMessage): Promise<number> | undefined {
    const event = eventKeyOf(message);
    const known = this.#byKey.get(sha256(scopedKey(event)));
    if (known === undefined) return undefined;
    if (known.digest !== sha256(message.body)) throw new ContractError(keyReused(event));
    return known.kept;
  }

  /** `segment` is where it is on disk, if that is known already. */
  add(message: ProducerMessage, kept: Promise<number>, segment?: number): void {
    this.#byKey.set(sha256(scopedKey(eventKeyOf(message))), {
      digest: sha256(message.body),
      kept,
      segment,
    });
    for (const oldest of this.#byKey.keys()) {
      if (this.#byKey.size <= this.#keysMax) break;
      this.#byKey.delete(oldest);
    }
  }

  /** The message is on disk, in this segment. */
  locate(message: ProducerMessage, segment: number): void {
    const known = this.#byKey.get(sha256(scopedKey(eventKeyOf(message))));
    if (known !== undefined) known.segment = segment;
  }

  remove(message: ProducerMessage): void {
    this.#byKey.delete(sha256(scopedKey(eventKeyOf(message))));
  }

  forgetSegmentsBefore(first: number): void {
    for (const [key, { segment }] of this.#byKey) {
      if (segment !== undefined && segment < first) this.#byKey.delete(key);
    }
  }
}
