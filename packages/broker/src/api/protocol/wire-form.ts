/**
 * What the handler needs from a wire form: parsing a request into an action and its input, and writing an answer or an
 * error. There are three: AWS JSON, AWS Query with XML answers, and AWS Query with JSON answers.
 *
 * Reading never throws on bad input; it returns a fault, a value like core's refusals.
 */

import type { ApiRequest, ApiResponse } from '../request.ts';
import type { ActionShape, ValueMap } from '../shapes/shape.ts';
import type { Fault } from './error-codes.ts';

/** Both are served on one port; SNS only in AWS Query (SNS 1.1). */
export type Service = 'sqs' | 'sns';

/** An action of the tables, with its name. */
export interface NamedAction {
  readonly name: string;
  readonly service: Service;
  readonly shape: ActionShape;
}

export interface ReadRequest<Action extends NamedAction> {
  readonly ok: true;
  readonly action: Action;
  readonly input: ValueMap;
  /** Whether a parameter of a Query request asks for an answer in JSON. */
  readonly isJsonAsked?: boolean;
}

/** A request that cannot be read, with its action if known. */
export interface Unread extends Fault {
  readonly action?: NamedAction;
  readonly isJsonAsked?: boolean;
}

/** Actions by name, for each service: both have an AddPermission. */
export type ActionTables<Action> = Readonly<Record<Service, ReadonlyMap<string, Action>>>;

export interface WireForm {
  read<Action extends NamedAction>(
    request: ApiRequest,
    actions: ActionTables<Action>,
  ): ReadRequest<Action> | Unread;

  answer(action: NamedAction, output: ValueMap, requestId: string): ApiResponse;

  fail(fault: Fault, requestId: string): ApiResponse;
}
