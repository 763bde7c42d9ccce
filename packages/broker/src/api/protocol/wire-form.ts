/**
 * What the handler needs from a wire form: parsing a request into an action and its input, and writing an answer or an
 * error. There are three: AWS JSON, AWS Query with XML answers, and AWS Query with JSON answers.
 *
 * Reading never throws on bad input; it returns a fault, a value like core's refusals.
 */

import type { ApiRequest, ApiResponse } from '../request.ts';
import type { ActionShape, Value, ValueMap } from '../shapes/shape.ts';
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

/** What a request seems to ask for. */
export interface Glimpse<Action extends NamedAction> {
  readonly service: Service;
  /** Undefined if there is no such action, or the name is not written plainly. */
  readonly action: Action | undefined;
  readonly isJsonAsked?: boolean;
}

/** Actions by name, for each service: both have an AddPermission. */
export type ActionTables<Action> = Readonly<Record<Service, ReadonlyMap<string, Action>>>;

/** An answer with the texts of its body, each of which is made when it is asked for. */
export interface ListAnswer extends Pick<ApiResponse, 'status' | 'headers'> {
  readonly texts: Iterable<string>;
}

export interface WireForm {
  /**
   * Looks for the action without parsing the body, which nobody may have signed. Only for the words of a refusal: a sender can
   * write a name so that reading finds it and this does not.
   */
  glimpse<Action extends NamedAction>(
    request: ApiRequest,
    actions: ActionTables<Action>,
  ): Glimpse<Action> | Unread;

  read<Action extends NamedAction>(
    request: ApiRequest,
    actions: ActionTables<Action>,
  ): ReadRequest<Action> | Unread;

  answer(action: NamedAction, output: ValueMap, requestId: string): ApiResponse;

  /** As `answer`, for an action whose output is one list, with items that are large. */
  answerList(action: NamedAction, items: Iterable<Value>, requestId: string): ListAnswer;

  fail(fault: Fault, requestId: string): ApiResponse;
}
