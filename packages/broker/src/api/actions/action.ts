/**
 * An action is a function from its parsed input and its call to an output or a refusal. It translates AWS's terms into a
 * command, calls the backend, and translates the outcome back; core does the checks, and the wire form the encoding.
 */

import { refuse } from '../../core/errors.ts';
import type { Backend } from '../../storage/backend.ts';
import type { Fault } from '../protocol/error-codes.ts';
import type { ApiResponse } from '../request.ts';
import type { Value, ValueMap } from '../shapes/shape.ts';

/** The part of the backend that actions use. */
export type ActionBackend = Pick<Backend, 'realm' | 'run' | 'receive'>;

/** The request that an action belongs to. */
export interface Call {
  readonly backend: ActionBackend;
  /** Scheme and host that the client used, or the public URL; queue URLs start with it. */
  readonly baseUrl: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Who calls; kept with a message and returned as SenderId. */
  readonly senderId: string;
  /** Signatures are checked, and the request has none. */
  readonly isAnonymous: boolean;
  /** Why the server will not call a URL for a topic; undefined if it will. */
  endpointProblemOf(url: string): string | undefined;
  /** The request's X-Amzn-Trace-Id. */
  readonly traceHeader: string | undefined;
  /** Encodes the answer. The most frequent actions do so before their changes are kept (`prepare` of the backend). */
  respond(answer: Answer | Fault): ApiResponse;
  /**
   * For an output of one list of megabytes, `chars` in all: each item is asked for, and encoded, in a turn of its own. Refuses
   * if too many such answers are under way.
   */
  respondInTurns(items: Iterable<Value>, chars: number): Promise<ApiResponse>;
}

export interface Answer {
  readonly ok: true;
  /** Absent for actions without output. */
  readonly output?: ValueMap;
  /** For each send that was a duplicate, the id of the original. */
  readonly duplicateOf?: readonly string[] | undefined;
}

/** What an action returns; the handler encodes what the action has not. */
export type Result = Answer | Fault | ApiResponse;

/**
 * Each action declares the input it expects, and the shape guarantees it. So the type is that of a method, whose
 * parameters TypeScript compares bivariantly.
 */
export type Action = { run(input: ValueMap, call: Call): Promise<Result> }['run'];

export const done: Answer = { ok: true };

/** For commands whose outcome only says that they were carried out. */
export function doneUnlessRefused(outcome: { readonly ok: true } | Fault): Answer | Fault {
  return outcome.ok ? done : outcome;
}

/** A required parameter of a queue's action is missing; but a missing queue is reported first (14.1). */
export async function missingParameter(
  name: string,
  queue: string,
  { backend }: Call,
): Promise<Fault> {
  const found = await backend.run({ type: 'describe-queue', queue });
  return found.ok ? refuse('parameter-missing', { name }) : found;
}
