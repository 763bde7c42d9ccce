/**
 * The api as a whole: one request in, one answer out. It chooses the wire form by what the request looks like, finds
 * the action, and calls it; which bytes an answer has is the wire form's, what happened is the action's.
 *
 * `handle` never rejects. A backend that cannot keep changes is answered with 503 and the reason; one that fails, with
 * 500 and without a word about why, and the cause goes to `onError`; both in the caller's own wire form.
 */

import type { ErrorDetail } from '../core/errors.ts';
import { type Backend, Unavailable } from '../storage/backend.ts';
import type { Action, ActionBackend, Call } from './actions/action.ts';
import { snsActionFunctions } from './actions/sns/table.ts';
import { sqsActionFunctions } from './actions/sqs/table.ts';
import { type Fault, fault, type ProtocolCode } from './protocol/error-codes.ts';
import { jsonForm } from './protocol/json.ts';
import { queryForm } from './protocol/query.ts';
import { queryJsonForm } from './protocol/query-json.ts';
import type { NamedAction, Service, WireForm } from './protocol/wire-form.ts';
import type { ApiRequest, ApiResponse } from './request.ts';
import type { ActionShape } from './shapes/shape.ts';
import { snsActions } from './shapes/sns.ts';
import { sqsActions } from './shapes/sqs.ts';

export type { ApiRequest, ApiResponse };

export interface ApiOptions {
  readonly backend: Backend;
  /** The backend as one request sees it, for those who follow requests; default: the backend itself. */
  readonly backendFor?: ((request: ApiRequest) => ActionBackend) | undefined;
  /** Scheme and host of queue URLs; default: those that the client used. */
  readonly publicUrl?: string | undefined;
  /** Told why a request was answered with 500; default: nobody is. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface Api {
  handle(request: ApiRequest): Promise<ApiResponse>;
  /** What the server itself has against a request (`body-too-large`, say), in the caller's wire form. */
  fail(
    request: Pick<ApiRequest, 'headers' | 'requestId'>,
    code: ProtocolCode,
    detail?: ErrorDetail,
  ): ApiResponse;
}

export function createApi(options: ApiOptions): Api {
  const publicUrl = options.publicUrl?.replace(/\/+$/, '');
  const trimmed: ApiOptions = { ...options, publicUrl };
  return {
    handle: (request) => handle(request, trimmed),
    fail: ({ headers, requestId }, code, detail) =>
      formOf(headers).fail(fault(code, detail), requestId),
  };
}

interface RunnableAction extends NamedAction {
  readonly run: Action;
}

function tableOf(
  service: Service,
  shapes: Readonly<Record<string, ActionShape>>,
  functions: Readonly<Record<string, Action>>,
): ReadonlyMap<string, RunnableAction> {
  const rows = Object.entries(shapes).map(([name, shape]): [string, RunnableAction] => {
    const run = functions[name];
    if (run === undefined) throw new Error(`The action ${name} has a shape and no function.`);
    return [name, { name, service, shape, run }];
  });
  return new Map(rows);
}

const actions: Readonly<Record<Service, ReadonlyMap<string, RunnableAction>>> = {
  sqs: tableOf('sqs', sqsActions, sqsActionFunctions),
  sns: tableOf('sns', snsActions, snsActionFunctions),
};

async function handle(request: ApiRequest, options: ApiOptions): Promise<ApiResponse> {
  const { requestId } = request;
  const form = formOf(request.headers);
  let service: Service = 'sqs';
  try {
    const read = form.read(request, actions);
    if (!read.ok) return form.fail(read, requestId);
    const { action, input } = read;
    service = action.service;
    const answer = await action.run(input, new RequestCall(request, options));
    if (!answer.ok) return form.fail(toldBy(service, answer), requestId);
    const response = form.answer(action, answer.output ?? noOutput, requestId);
    const { duplicateOf = [] } = answer;
    return duplicateOf.length === 0 ? response : withOriginals(response, duplicateOf);
  } catch (error) {
    if (error instanceof Unavailable) {
      return form.fail(fault('service-unavailable', { reason: error.message }), requestId);
    }
    options.onError?.(error);
    return form.fail(toldBy(service, fault('internal-failure')), requestId);
  }
}

function toldBy(service: Service, problem: Fault): Fault {
  return service === 'sns' ? { ...problem, service } : problem;
}

const noOutput = {};

/** AWS JSON says so in its headers; everything else is AWS Query, whose answers can be asked for in JSON. */
function formOf(headers: ApiRequest['headers']): WireForm {
  if (headers['x-amz-target'] !== undefined) return jsonForm;
  if (headers['content-type']?.includes('x-amz-json') === true) return jsonForm;
  return headers['accept']?.includes('application/json') === true ? queryJsonForm : queryForm;
}

/** For people and tests: which sends of this request were duplicates of what. Clients that do not know it ignore it. */
function withOriginals(response: ApiResponse, duplicateOf: readonly string[]): ApiResponse {
  const headers = { ...response.headers, 'x-oncemq-duplicate-of': duplicateOf.join(', ') };
  return { ...response, headers };
}

/** What an action may ask about its request; made only when it asks. */
class RequestCall implements Call {
  readonly backend: ActionBackend;
  readonly #request: ApiRequest;
  readonly #publicUrl: string | undefined;

  constructor(request: ApiRequest, { backend, backendFor, publicUrl }: ApiOptions) {
    this.backend = backendFor === undefined ? backend : backendFor(request);
    this.#request = request;
    this.#publicUrl = publicUrl;
  }

  get baseUrl(): string {
    return this.#publicUrl ?? `http://${this.#request.headers['host'] ?? 'localhost'}`;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  /** Any stable text will do (7.9), as long as callers are not told apart. */
  get senderId(): string {
    return this.backend.realm.account;
  }

  get traceHeader(): string | undefined {
    return this.#request.headers['x-amzn-trace-id'];
  }
}
