/**
 * What an action is: a function from its read input and the call it belongs to, to an output or a refusal. Each turns
 * the client's words into a command, calls the backend, and turns the outcome into the client's words again; checks
 * are core's, and bytes are the wire form's.
 */

import { refuse } from '../../core/errors.ts';
import type { Backend } from '../../storage/backend.ts';
import type { Fault } from '../protocol/error-codes.ts';
import type { ValueMap } from '../shapes/shape.ts';

/** As much of the backend as actions use. */
export type ActionBackend = Pick<Backend, 'realm' | 'run' | 'receive'>;

/** Where a request came in. */
export interface Call {
  readonly backend: ActionBackend;
  /** Scheme and host that the client used, or the public URL; queue URLs start with it. */
  readonly baseUrl: string;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
  /** Who calls; kept with a message and given back as SenderId. */
  readonly senderId: string;
  /** Signatures are checked, and the request has none. */
  readonly isAnonymous: boolean;
  /** The request's X-Amzn-Trace-Id. */
  readonly traceHeader: string | undefined;
}

export interface Answer {
  readonly ok: true;
  /** Absent for actions without output. */
  readonly output?: ValueMap;
  /** For each send that was a duplicate, the id of the original. */
  readonly duplicateOf?: readonly string[] | undefined;
}

/**
 * Each action names the input it expects. That it gets it is the shape's promise, so the type is that of a method,
 * whose parameters TypeScript compares in both directions.
 */
export type Action = { run(input: ValueMap, call: Call): Promise<Answer | Fault> }['run'];

export const done: Answer = { ok: true };

/** For commands whose outcome says no more than that they were carried out. */
export function doneUnlessRefused(outcome: { readonly ok: true } | Fault): Answer | Fault {
  return outcome.ok ? done : outcome;
}

/** A required parameter of a queue's action is missing; but a missing queue is told before (14.1). */
export async function missingParameter(
  name: string,
  queue: string,
  { backend }: Call,
): Promise<Fault> {
  const found = await backend.run({ type: 'describe-queue', queue });
  return found.ok ? refuse('parameter-missing', { name }) : found;
}
