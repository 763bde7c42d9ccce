/**
 * Whether the database answers and takes changes. While it does not, requests are refused with the reason, and it is tried again
 * and again; what was known of it is loaded anew before anything goes on.
 */

import { Unavailable } from '../backend.ts';
import { isFromServer } from './connection.ts';
import { UnknownFormat } from './journal-row.ts';

export interface ReachabilityOptions {
  /** Loads what must be known before commands are applied; rejects while the database does not answer, or takes no changes. */
  readonly reload: () => Promise<void>;
  /** Told each time that it did not answer: what waits for it is refused with this. */
  readonly onFailure: (refusal: Unavailable) => void;
  /** Less is accepted than before. */
  readonly onAway: () => void;
  /** Everything is accepted again. */
  readonly onBack: () => void;
}

const probeMs = 500;

export class Reachability {
  readonly #options: ReachabilityOptions;
  #reason: string | undefined = 'the database has not been reached yet';
  #probe: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ReachabilityOptions) {
    this.#options = options;
  }

  /** Why nothing can be done; undefined if something can. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** It has answered for the first time; nobody was told that it was away. */
  begin(): void {
    this.#reason = undefined;
  }

  /** It did not answer. */
  lose(error: unknown): void {
    const wasAway = this.#reason !== undefined;
    const why = error instanceof Error ? error.message : String(error);
    const what = isFromServer(error) ? 'refuses' : 'does not answer';
    this.#reason = error instanceof UnknownFormat ? why : `the database ${what}: ${why}`;
    this.#options.onFailure(new Unavailable(this.#reason, { cause: error }));
    if (!wasAway) this.#options.onAway();
    clearTimeout(this.#probe);
    if (!this.#isClosed) this.#probe = setTimeout(() => void this.#tryAgain(), probeMs);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#probe);
  }

  async #tryAgain(): Promise<void> {
    try {
      await this.#options.reload();
      this.#reason = undefined;
      this.#options.onBack();
    } catch (error) {
      this.lose(error);
    }
  }
}
