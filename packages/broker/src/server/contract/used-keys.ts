/**
 * The keys of messages that queues and topics with a contract have accepted, each with the digest of its body: so a key that comes
 * again with another body is noticed before a consumer takes it for a duplicate. Queue or topic, source and key belong
 * together.
 *
 * In memory and bounded: a restart forgets them, and beyond the bound the oldest are forgotten first. Forgetting one only
 * means that the reuse goes unnoticed here; the consumer's inbox still notices it.
 */

/** About 30 MB. */
const keysMax = 100_000;

interface Accepted {
  readonly digest: string;
  readonly at: number;
}

/** Withdraws the note of a message that was not accepted. */
export type TakeBack = () => void;

export class UsedKeys {
  /** By target and scoped key, the one used longest ago first. */
  readonly #accepted: Map<string, Accepted> = new Map();

  /** When the key was accepted with another body; undefined if it was not. */
  usedOtherwise(target: string, key: string, digest: string): number | undefined {
    const before = this.#accepted.get(`${target} ${key}`);
    return before === undefined || before.digest === digest ? undefined : before.at;
  }

  /** The body counts from now on, also if it is the same again: a message that is still being sent keeps its key. */
  note(target: string, key: string, digest: string, at: number): TakeBack {
    const id = `${target} ${key}`;
    const before = this.#accepted.get(id);
    const own = { digest, at };
    this.#accepted.delete(id);
    this.#accepted.set(id, own);
    for (const oldest of this.#accepted.keys()) {
      if (this.#accepted.size <= keysMax) break;
      this.#accepted.delete(oldest);
    }
    return () => {
      if (this.#accepted.get(id) !== own) return;
      if (before === undefined) this.#accepted.delete(id);
      else this.#accepted.set(id, before);
    };
  }

  forget(target: string): void {
    for (const id of this.#accepted.keys()) {
      if (id.startsWith(`${target} `)) this.#accepted.delete(id);
    }
  }

  clear(): void {
    this.#accepted.clear();
  }
}
