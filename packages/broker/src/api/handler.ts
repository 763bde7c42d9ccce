/**
 * The api as a whole: one request in, one answer out. It chooses the wire form by what the request looks like, finds
 * the action, and calls it; which bytes an answer has is the wire form's, what happened is the action's.
 *
 * `handle` never rejects. A backend that cannot keep changes is answered with 503 and the reason; one that fails, with
 * 500 and without a word about why, and the cause goes to `onError`; both in the caller's own wire form.
 */

import { performance } from 'node:perf_hooks';
import type { ErrorDetail } from '../core/errors.ts';
import { type Backend, Unavailable } from '../storage/backend.ts';
import type { Action, ActionBackend, Answer, Call } from './actions/action.ts';
import { snsActionFunctions } from './actions/sns/table.ts';
import { sqsActionFunctions } from './actions/sqs/table.ts';
import type { Authentication } from './auth/authentication.ts';
import { type Caller, callerOf, unsignedCallerOf } from './auth/caller.ts';
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
  /** Who may call; absent where anybody may. */
  readonly authentication?: Authentication | undefined;
  /** Told of every request once its answer is ready; default: nobody is, and no time is taken. */
  readonly requests?: RequestObserver | undefined;
  /** Told why a request was answered with 500; default: nobody is. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface RequestObserver {
  /** `action` is undefined if there is no such action; `problem` unless it was carried out. */
  answered(action: NamedAction | undefined, problem: Fault | undefined, ms: number): void;
}

export interface Api {
  handle(request: ApiRequest): Promise<ApiResponse>;
  /** For a request of which it is known already that it may be made, whatever it is signed with. */
  handleAdmitted(request: ApiRequest): Promise<ApiResponse>;
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
  const open: ApiOptions = { ...trimmed, authentication: undefined };
  return {
    handle: (request) => handle(request, trimmed),
    handleAdmitted: (request) => handle(request, open),
    fail: ({ headers, requestId }, code, detail) => {
      const problem = fault(code, detail);
      options.requests?.answered(undefined, problem, 0);
      return formOf(headers).fail(problem, requestId);
    },
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
  const { requests } = options;
  const startedAt = requests === undefined ? 0 : performance.now();
  const form = formOf(request.headers);
  let action: NamedAction | undefined;
  let problem: Fault | undefined;
  try {
    const read = form.read(request, actions);
    action = read.action;
    if (read.ok) {
      const { authentication, publicUrl } = options;
      const caller =
        authentication === undefined
          ? unsignedCallerOf(request, read.action, publicUrl)
          : await callerOf(request, read.action, authentication, baseUrlOf(request, publicUrl));
      const answer = caller.ok
        ? await read.action.run(read.input, new RequestCall(request, options, caller))
        : caller;
      if (answer.ok) return answered(form, read.action, answer, requestId);
      problem = toldBy(action, answer);
    } else {
      problem = read;
    }
  } catch (error) {
    problem = problemOf(error, action, options);
  } finally {
    requests?.answered(action, problem, performance.now() - startedAt);
  }
  return form.fail(problem, requestId);
}

function baseUrlOf({ headers }: ApiRequest, publicUrl: string | undefined): string {
  return publicUrl ?? `http://${headers['host'] ?? 'localhost'}`;
}

function answered(
  form: WireForm,
  action: NamedAction,
  { output = noOutput, duplicateOf = [] }: Answer,
  requestId: string,
): ApiResponse {
  const response = form.answer(action, output, requestId);
  return duplicateOf.length === 0 ? response : withOriginals(response, duplicateOf);
}

function problemOf(
  error: unknown,
  action: NamedAction | undefined,
  { onError }: ApiOptions,
): Fault {
  if (error instanceof Unavailable) {
    return fault('service-unavailable', { reason: error.message });
  }
  onError?.(error);
  return toldBy(action, fault('internal-failure'));
}

function toldBy(action: NamedAction | undefined, problem: Fault): Fault {
  return action?.service === 'sns' ? { ...problem, service: 'sns' } : problem;
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
  readonly #caller: Caller;

  constructor(request: ApiRequest, { backend, backendFor, publicUrl }: ApiOptions, caller: Caller) {
    this.backend = backendFor === undefined ? backend : backendFor(request);
    this.#request = request;
    this.#publicUrl = publicUrl;
    this.#caller = caller;
  }

  get baseUrl(): string {
    return baseUrlOf(this.#request, this.#publicUrl);
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  /** Any stable text will do (7.9); only keys with a name are told apart. */
  get senderId(): string {
    return this.#caller.credential?.name ?? this.backend.realm.account;
  }

  get isAnonymous(): boolean {
    return this.#caller.isAnonymous === true;
  }

  get traceHeader(): string | undefined {
    return this.#request.headers['x-amzn-trace-id'];
  }
}
