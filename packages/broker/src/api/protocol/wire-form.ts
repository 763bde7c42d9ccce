/**
 * What the handler asks of a wire form: reading a request into an action and its input, and writing an answer or an
 * error. AWS JSON, AWS Query with XML answers, and AWS Query with JSON answers are the three there are.
 *
 * Reading never throws on bad input: what cannot be read is a fault, a value like core's refusals.
 */

import type { ApiRequest, ApiResponse } from '../request.ts';
import type { ActionShape, ValueMap } from '../shapes/shape.ts';
import type { Fault } from './error-codes.ts';

/** An action of the table, with its name. */
export interface NamedAction {
  readonly name: string;
  readonly shape: ActionShape;
}

export interface ReadRequest<Action extends NamedAction> {
  readonly ok: true;
  readonly action: Action;
  readonly input: ValueMap;
}

export interface WireForm {
  read<Action extends NamedAction>(
    request: ApiRequest,
    actions: ReadonlyMap<string, Action>,
  ): ReadRequest<Action> | Fault;

  answer(action: NamedAction, output: ValueMap, requestId: string): ApiResponse;

  fail(fault: Fault, requestId: string): ApiResponse;
}
