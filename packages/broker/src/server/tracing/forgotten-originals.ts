/**
 * Finds the trace of an original message whose span is no longer remembered, so that its duplicate can link to it: the
 * trace context is read from the message itself, while it is still in its queue. One lookup serves all duplicates of a
 * request. No answer waits for it; only stopping the server does.
 */

import type { SpanContext } from '@opentelemetry/api';
import type { Backend } from '../../storage/backend.ts';
import { carriedByMessage, type ReadContext } from './trace-context.ts';

/** Concurrent lookups; beyond this, nothing is looked up. */
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

  /** Calls `use` with the trace of each of these messages, in the same order. */
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

  /** Resolves when all current lookups are done. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
