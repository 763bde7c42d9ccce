/**
 * The api as a whole: one request in, one answer out. It detects the wire form from the request, finds the action, and
 * calls it. The action decides what happens; the wire form decides how the answer is encoded.
 *
 * `handle` never rejects. If the backend cannot keep changes, the answer is 503 with the reason; if anything fails, it is
 * 500 without the cause, which goes to `onError`. Both answers use the caller's wire form.
 */

import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { detached } from '../core/detached.ts';
import type { ErrorDetail } from '../core/errors.ts';
import { Unavailable } from '../storage/backend.ts';
import type { Action, ActionBackend, Answer, Call } from './actions/action.ts';
import { snsActionFunctions } from './actions/sns/table.ts';
import { sqsActionFunctions } from './actions/sqs/table.ts';
import type { Authentication } from './auth/authentication.ts';
import { type Caller, callerOf, callProblem, unsignedCallerOf } from './auth/caller.ts';
import { LargeAnswers } from './large-answers.ts';
import { nextTurn } from './next-turn.ts';
import { isJsonRequest } from './protocol/body-size.ts';
import { type Fault, fault, type ProtocolCode } from './protocol/error-codes.ts';
import { jsonForm } from './protocol/json.ts';
import { queryForm } from './protocol/query.ts';
import { queryJsonForm } from './protocol/query-json.ts';
import type { NamedAction, ReadRequest, Service, Unread, WireForm } from './protocol/wire-form.ts';
import type { ApiRequest, ApiResponse } from './request.ts';
import type { ActionShape, Value } from './shapes/shape.ts';
import { snsActions } from './shapes/sns.ts';
import { sqsActions } from './shapes/sqs.ts';

export type { ApiRequest, ApiResponse };

export interface ApiOptions {
  readonly backend: ActionBackend;
  /** Wraps the backend for one request, for tracing; default: the backend itself. */
  readonly backendFor?: ((request: ApiRequest) => ActionBackend) | undefined;
  /** Scheme and host of queue URLs; default: http and the Host header of the request. */
  readonly publicUrl?: string | undefined;
  /** Who may call; absent if anybody may. */
  readonly authentication?: Authentication | undefined;
  /** Notified of every request once its answer is ready; if absent, requests are not timed. */
  readonly requests?: RequestObserver | undefined;
  /** Why the server will not call a URL for a topic; absent if it calls all. */
  readonly endpointProblemOf?: ((url: string) => string | undefined) | undefined;
  /** Called with the cause whenever a request is answered with 500. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface RequestObserver {
  /** `action` is undefined if there is no such action; `problem` is undefined if the action succeeded. */
  answered(action: NamedAction | undefined, problem: Fault | undefined, ms: number): void;
}

export interface Api {
  handle(request: ApiRequest): Promise<ApiResponse>;
  /** Handles a request that was already authorized elsewhere; its signature is not checked. */
  handleAdmitted(request: ApiRequest): Promise<ApiResponse>;
  /** The answer when the server itself refuses a request (`body-too-large`, say), in the caller's wire form. */
  fail(
    request: Pick<ApiRequest, 'headers' | 'requestId'>,
    code: ProtocolCode,
    detail?: ErrorDetail,
  ): ApiResponse;
}

/** What all requests share. */
interface Shared extends ApiOptions {
  readonly largeAnswers: LargeAnswers;
}

export function createApi(options: ApiOptions): Api {
  const shared: Shared = { ...options, largeAnswers: new LargeAnswers() };
  const open: Shared = { ...shared, authentication: undefined };
  return {
    handle: (request) => new Exchange(request, shared).answer(),
    handleAdmitted: (request) => new Exchange(request, open).answer(),
    fail: ({ headers, requestId }, code, detail) => {
      const problem = fault(code, detail);
      options.requests?.answered(undefined, problem, 0);
      return refusal(formOf(headers), problem, requestId);
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

/** What is not AWS JSON is AWS Query, for which clients can request JSON answers. */
function formOf(headers: ApiRequest['headers']): WireForm {
  if (isJsonRequest(headers)) return jsonForm;
  return headers['accept']?.includes('application/json') === true ? queryJsonForm : queryForm;
}

const retryAfterSeconds = 1;

/** Whoever gets 503 is told when to try again. */
function refusal(form: WireForm, problem: Fault, requestId: string): ApiResponse {
  const response = form.fail(problem, requestId);
  if (response.status !== 503) return response;
  return { ...response, headers: { ...response.headers, 'Retry-After': `${retryAfterSeconds}` } };
}

/**
 * One request until it is answered, and what its action may ask about it. Promises are chained with `then`, here and in
 * the most frequent actions: an async function keeps its whole frame for each call, a kilobyte of garbage.
 */
class Exchange implements Call {
  readonly #request: ApiRequest;
  readonly #options: Shared;
  #form: WireForm;
  readonly #startedAt: number;
  #action: NamedAction | undefined;
  #caller: Caller | undefined;
  #backend: ActionBackend;
  /** Why the request is refused, if it is. */
  #problem: Fault | undefined;

  constructor(request: ApiRequest, options: Shared) {
    this.#startedAt = options.requests === undefined ? 0 : performance.now();
    this.#request = request;
    this.#options = options;
    this.#form = formOf(request.headers);
    this.#action = undefined;
    this.#caller = undefined;
    this.#backend = options.backend;
    this.#problem = undefined;
  }

  get backend(): ActionBackend {
    return this.#backend;
  }

  get baseUrl(): string {
    return this.#options.publicUrl ?? `http://${this.#request.headers['host'] ?? 'localhost'}`;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  /** Any stable text will do (7.9); only keys with a name are distinguished. */
  get senderId(): string {
    return this.#caller?.credential?.name ?? this.#backend.realm.account;
  }

  get isAnonymous(): boolean {
    return this.#caller?.isAnonymous === true;
  }

  endpointProblemOf(url: string): string | undefined {
    return this.#options.endpointProblemOf?.(url);
  }

  get traceHeader(): string | undefined {
    const header = this.#request.headers['x-amzn-trace-id'];
    // A message keeps it; as it is, it would keep all other headers, too.
    return header === undefined ? undefined : detached(header);
  }

  /** Never rejects. */
  answer(): Promise<ApiResponse> {
    const request = this.#request;
    const { authentication, publicUrl } = this.#options;
    if (authentication !== undefined) {
      return this.#answerSigned(authentication).catch((error: unknown) =>
        this.#counted(this.#fail(error)),
      );
    }
    try {
      const read = this.#read();
      if (!read.ok) return Promise.resolve(this.#counted(this.#refuse(read)));
      return this.#carryOut(read, unsignedCallerOf(request, read.action, publicUrl));
    } catch (error) {
      return Promise.resolve(this.#counted(this.#fail(error)));
    }
  }

  /** The signature comes first: parsing a large body takes much longer, and strangers must not be able to cause it. */
  async #answerSigned(authentication: Authentication): Promise<ApiResponse> {
    const glimpse = this.#form.glimpse(this.#request, actions);
    if ('code' in glimpse) return this.#counted(this.#refuse(glimpse));
    this.#action = glimpse.action;
    if (glimpse.isJsonAsked === true) this.#form = queryJsonForm;
    const resource = this.baseUrl + this.#request.path;
    const caller = await callerOf(this.#request, glimpse, authentication, resource);
    if (!caller.ok) return this.#counted(this.#refuse(toldBy(glimpse, caller)));
    const read = this.#read();
    if (!read.ok) return this.#counted(this.#refuse(read));
    return this.#carryOut(read, callProblem(caller, read.action, resource) ?? caller);
  }

  #read(): ReadRequest<RunnableAction> | Unread {
    const read = this.#form.read(this.#request, actions);
    this.#action = read.action;
    if (read.isJsonAsked === true) this.#form = queryJsonForm;
    return read;
  }

  respond(answer: Answer | Fault): ApiResponse {
    const action = this.#action as NamedAction;
    return answer.ok ? this.#write(action, answer) : this.#refuse(toldBy(action, answer));
  }

  respondInTurns(items: Iterable<Value>, chars: number): Promise<ApiResponse> {
    const made = this.#options.largeAnswers.make(chars, () => this.#writeInTurns(items));
    const reason = 'too many large answers wait';
    return made ?? Promise.resolve(this.respond(fault('service-unavailable', { reason })));
  }

  async #writeInTurns(items: Iterable<Value>): Promise<ApiResponse> {
    const action = this.#action as NamedAction;
    const { texts, ...head } = this.#form.answerList(action, items, this.#request.requestId);
    const parts: Buffer[] = [];
    let bodyBytes = 0;
    await nextTurn();
    for (const text of texts) {
      const part = Buffer.from(text);
      parts.push(part);
      bodyBytes += part.length;
      await nextTurn();
    }
    return { ...head, body: '', parts, bodyBytes };
  }

  #carryOut(
    { action, input }: ReadRequest<RunnableAction>,
    caller: Caller | Fault,
  ): Promise<ApiResponse> {
    if (!caller.ok) return Promise.resolve(this.#counted(this.respond(caller)));
    const { backendFor } = this.#options;
    this.#caller = caller;
    if (backendFor !== undefined) this.#backend = backendFor(this.#request);
    return action.run(input, this).then(
      (result) => this.#counted('status' in result ? result : this.respond(result)),
      (error: unknown) => this.#counted(this.#fail(error)),
    );
  }

  #write(action: NamedAction, { output = noOutput, duplicateOf }: Answer): ApiResponse {
    try {
      const response = this.#form.answer(action, output, this.#request.requestId);
      return duplicateOf === undefined || duplicateOf.length === 0
        ? response
        : withOriginals(response, duplicateOf);
    } catch (error) {
      return this.#fail(error);
    }
  }

  #fail(error: unknown): ApiResponse {
    if (error instanceof Unavailable) {
      const problem = fault('service-unavailable', { reason: error.message });
      return this.#refuse(toldBy(this.#action, problem));
    }
    this.#options.onError?.(error);
    return this.#refuse(toldBy(this.#action, fault('internal-failure')));
  }

  #refuse(problem: Fault): ApiResponse {
    this.#problem = problem;
    return refusal(this.#form, problem, this.#request.requestId);
  }

  /** Counts the request as answered: its response leaves now. */
  #counted(response: ApiResponse): ApiResponse {
    const { requests } = this.#options;
    requests?.answered(this.#action, this.#problem, performance.now() - this.#startedAt);
    return response;
  }
}

const noOutput = {};

function toldBy(action: Pick<NamedAction, 'service'> | undefined, problem: Fault): Fault {
  return action?.service === 'sns' ? { ...problem, service: 'sns' } : problem;
}

/** For people and tests: which messages the sends of this request duplicated. Clients that do not know the header ignore it. */
function withOriginals(response: ApiResponse, duplicateOf: readonly string[]): ApiResponse {
  const headers = { ...response.headers, 'x-oncemq-duplicate-of': duplicateOf.join(', ') };
  return { ...response, headers };
}
