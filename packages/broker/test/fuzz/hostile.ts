/**
 * What a generator of hostile requests gets and returns: it gets a source of randomness and of existing names, and returns
 * a request with what is known about its answer.
 */

import type { Chance } from '../support/chance.ts';
import type { Targets } from './inputs.ts';
import type { WholeRequest } from './whole-request.ts';

/**
 * The expected answer. any: any answer, since the request may happen to be valid; refused: some 4xx; a number: that
 * status; a name: the AWS JSON error that ends in it.
 */
export type Refusal = 'any' | 'refused' | number | `${string}Exception`;

export interface Hostile {
  /** Requests that come first, such as one that sets a policy which the request then meets. Any of them may be refused. */
  readonly before?: readonly WholeRequest[];
  readonly request: WholeRequest;
  readonly refusal: Refusal;
}

export interface Source {
  readonly chance: Chance;
  readonly targets: Targets;
  /** Counts up from 0 within a kind, so that a generator can go through a whole list. */
  readonly turn: number;
}

/** Some random requests are larger than the server reads: 7 MiB in JSON, 5 MiB as a form. */
export function unlessTooLarge(request: WholeRequest): Hostile {
  const isJson = request.headers.some(([name]) => name === 'X-Amz-Target');
  const limit = isJson ? jsonBytesMax : formBytesMax;
  return { request, refusal: request.body.length > limit ? 413 : 'any' };
}

export const jsonBytesMax: number = 7 * 1024 * 1024;
export const formBytesMax: number = 5 * 1024 * 1024;
