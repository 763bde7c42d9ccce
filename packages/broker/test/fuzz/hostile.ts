/**
 * What a maker of hostile requests gets, and what it gives: a source of chance and of names that exist, for a request
 * and what is known of its answer beforehand.
 */

import type { Chance } from '../support/chance.ts';
import type { Targets } from './inputs.ts';
import type { WholeRequest } from './whole-request.ts';

/**
 * What must come back. any: an answer, since the request may be right by accident; refused: some 4xx; a number: that
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
  /** Counts up from 0 within a kind, so that lists can be gone through whole. */
  readonly turn: number;
}

/** The largest body that the server reads. */
export const bodyBytesMax: number = 8 * 1024 * 1024;
