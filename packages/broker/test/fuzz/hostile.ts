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
  readonly request: WholeRequest;
  readonly refusal: Refusal;
}

export interface Source {
  readonly chance: Chance;
  readonly targets: Targets;
  /** Counts up from 0 within a kind, so that a generator can go through a whole list. */
  readonly turn: number;
}

/** The largest body that the server reads. */
export const bodyBytesMax: number = 8 * 1024 * 1024;
