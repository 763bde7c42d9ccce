/**
 * Originals of duplicates whose spans are forgotten: what they carry is looked up instead, as long as they are in their
 * queue, once for all duplicates of a request. No answer waits for this; only the end of the server does.
 */

import type { SpanContext } from '@opentelemetry/api';
import type { Backend } from '../../storage/backend.ts';
import { carriedByMessage, type ReadContext } from './trace-context.ts';

/** Requests for which originals are looked up at one time; for those beyond, nothing is found. */
const lookUpsMax = 1_000;

export interface ForgottenOriginalsOptions {
  readonly backend: Backend;
  readonly readContext: ReadContext;
  readonly onError: (error: unknown) => void;
}

export class ForgottenOriginals {
  readonly #options: ForgottenOriginalsOptions;
  readonly #underWay: Set<Promise<void>> = new Set();

  constructor(options: ForgottenOriginalsOptions) {
    this.#options = options;
  }

  /** Hands over which traces the messages with these sequences belong to, in their order. */
  lookUp(
    queue: string,
    sequences: readonly number[],
    use: (found: readonly (SpanContext | undefined)[]) => void,
  ): void {
    if (this.#underWay.size >= lookUpsMax) {
      use([]);
      return;
    }
    const { backend, readContext, onError } = this.#options;
    const lookUp: Promise<void> = backend
      .contents(queue, sequences)
      .then((contents) => use(contents.map((each) => each && readContext(carriedByMessage(each)))))
      .catch(onError)
      .finally(() => this.#underWay.delete(lookUp));
    this.#underWay.add(lookUp);
  }

  /** Once all that is under way is handed over. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
