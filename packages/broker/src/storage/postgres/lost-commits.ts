/**
 * Notices that the database no longer has what it had committed, as after a failover to an asynchronous standby that was
 * behind. Whatever a node knows of an owner was committed: its last row is in the journal under its id, unless it became a
 * record and was trimmed. So an owner that does not follow from what was known, and every owner after the connection was
 * lost, is looked up. Commits that no living node remembers are lost without a trace.
 */

import type { Losses } from '../backend.ts';
import type { ContentCache } from './content-cache.ts';
import type { Journal, KnownRow } from './journal.ts';

export interface LostCommitsOptions {
  readonly journal: Journal;
  readonly cache: ContentCache;
  readonly onLost: (text: string) => void;
}

/** Owners that a message names. */
const namedMax = 10;

export class LostCommits {
  readonly #options: LostCommitsOptions;
  /** What is to be looked up, by number. */
  #suspects: Map<number, KnownRow> = new Map();
  #count = 0;
  #latest: string | undefined;

  constructor(options: LostCommitsOptions) {
    this.#options = options;
  }

  get losses(): Losses {
    return { count: this.#count, latest: this.#latest };
  }

  /** What is known of the owner may not be in the database any more. */
  suspect({ name, number, version, tail }: KnownRow): void {
    // What was known first is what was committed; since then it may have been loaded again.
    if (version === 0 || this.#suspects.has(number)) return;
    this.#suspects.set(number, { name, number, version, tail });
    // Other messages may have the ids of those that are gone.
    this.#options.cache.clear();
  }

  /** Looks them up, and tells what is gone. If the database does not answer, they are looked up the next time. */
  async check(): Promise<void> {
    if (this.#suspects.size === 0) return;
    const suspects = this.#suspects;
    this.#suspects = new Map();
    try {
      const lost = await this.#options.journal.lost([...suspects.values()]);
      if (lost.length > 0) this.#tell(lost, suspects);
    } catch {
      this.#suspects = new Map([...suspects, ...this.#suspects]);
    }
  }

  #tell(
    lost: readonly { readonly number: number; readonly version: number }[],
    suspects: ReadonlyMap<number, KnownRow>,
  ): void {
    const named = lost.slice(0, namedMax).map(({ number, version }) => {
      const known = suspects.get(number) as KnownRow;
      return `${known.name} was at version ${known.version} and is at ${version}`;
    });
    const more = lost.length > namedMax ? [`and ${lost.length - namedMax} more`] : [];
    this.#latest = `the database has lost commits: ${[...named, ...more].join(', ')}; what is left is used`;
    this.#count += lost.length;
    this.#options.onLost(this.#latest);
  }
}
