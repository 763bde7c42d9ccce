/**
 * The form of a check in the conformance suites: a name and a function, so that any test framework can run it. It belongs
 * to no framework and reports by throwing.
 */

export interface StoreCheck {
  /** A sentence. */
  readonly name: string;
  /** Rejects if the store breaks the promise. */
  run(): Promise<void>;
}
