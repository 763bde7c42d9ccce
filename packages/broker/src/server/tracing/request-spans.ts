/**
 * One span for each message that is sent or published, for each receive that got messages, and for each delete: the
 * server's side of a trace, with OpenTelemetry's messaging attributes. A span is created only once its outcome is known.
 *
 *   send, publish   a child of the request's `traceparent` header, else of what the message carries. In a batch each
 *                   message has its own span. The span of a duplicate links to that of its original
 *   receive         links to what its messages carry; a receive that got nothing has no span
 *   delete          a child of the request's context, else of its message's; a batch is one span with links
 *
 * A failure here never fails a request, and no answer waits for spans.
 */

import type { Attributes, Link, Span, SpanContext, Tracer } from '@opentelemetry/api';
import type { ActionBackend } from '../../api/actions/action.ts';
import { type Fault, fault } from '../../api/protocol/error-codes.ts';
import type { ApiRequest } from '../../api/request.ts';
import type { CommandOf, Outcome, SendResult } from '../../core/commands.ts';
import type { Refusal } from '../../core/errors.ts';
import type { Event, Suppressed } from '../../core/events.ts';
import type { PublishResult } from '../../core/topic/commands.ts';
import { lastPartOf } from '../../core/topic/topic-arn.ts';
import {
  type Backend,
  type Delivered,
  type PlainCommand,
  Unavailable,
} from '../../storage/backend.ts';
import { BoundedMap } from '../bounded-map.ts';
import { ForgottenOriginals } from './forgotten-originals.ts';
import {
  aboutDuplicate,
  aboutEntry,
  isSame,
  linkTo,
  type Operation,
  originalLink,
  queueOperation,
  type Received,
  type SpanDetails,
  startSpan,
  type TimedRequest,
} from './server-span.ts';
import {
  type Carrier,
  carriedByMessage,
  carriedByPublication,
  carriedBySend,
  type ReadContext,
} from './trace-context.ts';

export interface SpanOptions {
  readonly tracer: Tracer;
  readonly readContext: ReadContext;
  readonly backend: Backend;
  /** The same, as requests use it. */
  readonly actionBackend: ActionBackend;
  readonly onError: (error: unknown) => void;
}

/** Messages whose span is remembered, so that their duplicates and receives can link to it. */
const messagesMax = 50_000;
const receiptsMax = 50_000;
/** Publications whose deliveries are collected until the publisher is answered. */
const publicationsMax = 1_000;
/** Deliveries of one publication that are recorded; further ones are only counted. */
const deliveriesToldMax = 32;

/** The queues that a publication reached. */
interface Reached {
  queues: number;
  readonly first: Extract<Event, { type: 'fanned-out' }>[];
}

/** A message that is sent or published, as far as it is known before its outcome. */
interface Message {
  readonly operation: Operation;
  readonly about: Attributes;
  readonly carrier: Carrier;
  readonly timed: TimedRequest;
}

interface Duplicate {
  readonly message: Message;
  readonly result: SendResult;
}

/** An answer with the outcome that it was prepared from. */
interface Prepared<Result, Answer> {
  readonly outcome: Result;
  readonly answer: Answer;
}

/** Records the outcome of a command, whatever its type. */
type Teller = (outcome: unknown) => void;

export class RequestSpans {
  readonly #options: SpanOptions;
  readonly #sent: BoundedMap<SpanContext> = new BoundedMap(messagesMax);
  readonly #received: BoundedMap<Received> = new BoundedMap(receiptsMax);
  readonly #fannedOut: BoundedMap<Reached> = new BoundedMap(publicationsMax);
  readonly #originals: ForgottenOriginals;

  constructor(options: SpanOptions) {
    this.#options = options;
    this.#originals = new ForgottenOriginals(options);
    options.backend.listen((event) => {
      if (event.type !== 'fanned-out') return;
      const known = this.#fannedOut.get(event.messageId) ?? { queues: 0, first: [] };
      if (known.queues === 0) this.#fannedOut.set(event.messageId, known);
      known.queues += 1;
      if (known.first.length < deliveriesToldMax) known.first.push(event);
    });
  }

  /** Resolves when the spans of everything answered so far have ended. */
  settled(): Promise<void> {
    return this.#originals.settled();
  }

  /** The backend for this request, which records its spans. */
  backendFor(request: ApiRequest): ActionBackend {
    const { actionBackend: backend } = this.#options;
    return {
      realm: backend.realm,
      run: (command, prepare) => {
        const tell = this.#tellerOf(command, request);
        return tell === undefined
          ? backend.run(command, prepare)
          : this.#told(backend.run(command, withOutcome(prepare)), tell);
      },
      receive: (command, client, prepare) => {
        const timed = { request, startedAt: performance.now() };
        return this.#told(backend.receive(command, client, withOutcome(prepare)), (outcome) =>
          this.#toldReceive(command.queue, outcome, timed),
        );
      },
    };
  }

  /** How to record the outcome of a command; undefined for commands without spans. */
  #tellerOf(command: PlainCommand, request: ApiRequest): Teller | undefined {
    const timed = { request, startedAt: performance.now() };
    switch (command.type) {
      case 'send':
        return (outcome) => this.#toldSend(command, outcome as Outcome<'send'>, timed);
      case 'publish':
        return (outcome) => this.#toldPublish(command, outcome as Outcome<'publish'>, timed);
      case 'delete-messages':
        return (outcome) => this.#toldDelete(command, outcome as Outcome<'delete-messages'>, timed);
      default:
        return undefined;
    }
  }

  /** Passes the outcome through and records it; a failure is recorded as the fault that the client will see. */
  async #told<Result, Answer>(
    underWay: Promise<Prepared<Result, Answer>>,
    tell: (outcome: Result | Fault) => void,
  ): Promise<Answer> {
    const record = (outcome: Result | Fault): void => {
      try {
        tell(outcome);
      } catch (error) {
        this.#options.onError(error);
      }
    };
    try {
      const { outcome, answer } = await underWay;
      record(outcome);
      return answer;
    } catch (error) {
      record(fault(error instanceof Unavailable ? 'service-unavailable' : 'internal-failure'));
      throw error;
    }
  }

  #toldSend(
    { queue, entries, isBatch }: CommandOf<'send'>,
    outcome: Outcome<'send'> | Fault,
    timed: TimedRequest,
  ): void {
    const operation = queueOperation('send', 'send', queue);
    const forgotten: Duplicate[] = [];
    for (const [at, entry] of toldOf(entries, outcome).entries()) {
      const result = outcome.ok ? (outcome.results[at] as SendResult | Refusal) : outcome;
      const { body = '', groupId } = entry;
      const about = aboutEntry(body, groupId, isBatch ? entries.length : undefined);
      const message = { operation, about, carrier: carriedBySend(entry), timed };
      if (result.ok && this.#isForgotten(result)) forgotten.push({ message, result });
      else this.#toldMessage(message, result);
    }
    if (forgotten.length > 0) this.#toldForgotten(queue, forgotten);
  }

  #toldPublish(
    { topicArn = '', entries, isBatch }: CommandOf<'publish'>,
    outcome: Outcome<'publish'> | Fault,
    timed: TimedRequest,
  ): void {
    const destination = lastPartOf(topicArn);
    const operation = { name: 'publish', type: 'send', system: 'aws.sns', destination } as const;
    // Another command follows for the entries that have no result yet.
    const published = outcome.ok ? entries.slice(0, outcome.results.length) : entries;
    for (const [at, entry] of toldOf(published, outcome).entries()) {
      const result = outcome.ok ? (outcome.results[at] as PublishResult) : outcome;
      const { message = '', groupId } = entry;
      const about = aboutEntry(message, groupId, isBatch ? entries.length : undefined);
      this.#toldMessage({ operation, about, carrier: carriedByPublication(entry), timed }, result);
    }
  }

  /** Whether it is a duplicate whose original's span is no longer remembered. */
  #isForgotten({ suppressed }: SendResult): boolean {
    return suppressed !== undefined && this.#sent.get(suppressed.original.messageId) === undefined;
  }

  #toldForgotten(queue: string, duplicates: readonly Duplicate[]): void {
    const endedAt = performance.now();
    const sequences = duplicates.map(
      ({ result }) => (result.suppressed as Suppressed).original.sequence,
    );
    this.#originals.lookUp(queue, sequences, (found) => {
      for (const [at, { message, result }] of duplicates.entries()) {
        this.#toldMessage(message, result, { original: found[at], endedAt });
      }
    });
  }

  #toldMessage(
    { operation, about, carrier, timed }: Message,
    result: SendResult | PublishResult | Fault,
    late: { readonly original?: SpanContext | undefined; readonly endedAt?: number } = {},
  ): void {
    const carried = this.#options.readContext(carrier);
    const { traceparent, tracestate } = timed.request.headers;
    const parent = this.#options.readContext({ traceparent, tracestate }) ?? carried;
    const links: Link[] =
      carried === undefined || isSame(carried, parent) ? [] : [{ context: carried }];
    if (!result.ok) {
      const attributes = { ...about, ...aboutViolation(ruleOf(result)) };
      this.#tell(operation, timed, { parent, links, attributes, fault: result });
      return;
    }
    const { messageId, suppressed, violation } = result;
    const attributes = {
      ...about,
      'messaging.message.id': messageId,
      ...aboutViolation(violation?.rule),
    };
    if (suppressed !== undefined) {
      const context = this.#sent.get(suppressed.original.messageId) ?? late.original;
      if (context !== undefined) links.push(originalLink(context, suppressed));
      Object.assign(attributes, aboutDuplicate(suppressed));
    }
    const span = this.#span(operation, timed, { parent, links, attributes });
    if (suppressed === undefined) {
      this.#sent.set(messageId, span.spanContext());
      this.#tellFanOut(span, messageId);
    }
    span.end(late.endedAt ?? performance.now());
  }

  #tellFanOut(span: Span, messageId: string): void {
    const reached = this.#fannedOut.take(messageId);
    if (reached === undefined) return;
    span.setAttribute('oncemq.fan_out.queues', reached.queues);
    for (const { queue, queueMessageId, isDuplicate } of reached.first) {
      if (!isDuplicate) this.#sent.set(queueMessageId, span.spanContext());
      span.addEvent('oncemq.fanned_out', {
        'messaging.destination.name': queue,
        'messaging.message.id': queueMessageId,
        ...(isDuplicate ? { 'oncemq.duplicate': true } : {}),
      });
    }
  }

  #toldReceive(
    queue: string,
    outcome: { readonly ok: true; readonly messages: readonly Delivered[] } | Fault,
    timed: TimedRequest,
  ): void {
    const operation = queueOperation('receive', 'receive', queue);
    const parent = this.#options.readContext(timed.request.headers);
    if (!outcome.ok) {
      this.#tell(operation, timed, { parent, fault: outcome });
      return;
    }
    if (outcome.messages.length === 0) return;
    const received = outcome.messages.map(({ messageId, receiptHandle, content }) => {
      const carried = this.#options.readContext(carriedByMessage(content));
      const message = { messageId, context: carried ?? this.#sent.get(messageId) };
      this.#received.set(receiptHandle, message);
      return message;
    });
    const attributes = { 'messaging.batch.message_count': received.length };
    const links = received.flatMap(linkTo);
    this.#tell(operation, timed, { parent, links, attributes });
  }

  #toldDelete(
    { queue, entries, isBatch }: CommandOf<'delete-messages'>,
    outcome: Outcome<'delete-messages'> | Fault,
    timed: TimedRequest,
  ): void {
    const operation = queueOperation('delete', 'settle', queue);
    const results = outcome.ok ? outcome.results : [];
    const deleted = entries.flatMap(({ receiptHandle = '' }, at) =>
      results[at]?.ok === true ? (this.#received.take(receiptHandle) ?? []) : [],
    );
    const [only] = isBatch ? [] : deleted;
    const links = isBatch ? deleted.flatMap(linkTo) : [];
    const attributes = isBatch
      ? { 'messaging.batch.message_count': entries.length }
      : { ...(only && { 'messaging.message.id': only.messageId }) };
    const failure = outcome.ok ? results.find((result) => !result.ok) : outcome;
    const parent = this.#options.readContext(timed.request.headers) ?? only?.context;
    this.#tell(operation, timed, { parent, links, attributes, fault: failure });
  }

  #span(operation: Operation, timed: TimedRequest, details: SpanDetails): Span {
    return startSpan(this.#options.tracer, operation, timed, details);
  }

  #tell(operation: Operation, timed: TimedRequest, details: SpanDetails): void {
    this.#span(operation, timed, details).end(performance.now());
  }
}

function aboutViolation(rule: string | undefined): Attributes {
  return rule === undefined ? {} : { 'oncemq.contract.violation': rule };
}

/** The rule of the contract for which a message was refused; undefined if it was refused for another reason. */
function ruleOf({ code, detail }: Fault): string | undefined {
  const isViolation = code === 'contract-violated' || code === 'publication-violates-contract';
  return isViolation ? String(detail['rule']) : undefined;
}

/** A request that failed as a whole gets one span, however many entries it has. */
function toldOf<Entry>(entries: readonly Entry[], outcome: { ok: boolean }): readonly Entry[] {
  return outcome.ok ? entries : entries.slice(0, 1);
}

/** Spans are recorded once the outcome is kept, when only the answer is left. */
function withOutcome<Result, Answer>(
  prepare: ((outcome: Result) => Answer) | undefined,
): (outcome: Result) => Prepared<Result, Answer> {
  return (outcome) => ({
    outcome,
    // Without `prepare`, the outcome is the answer.
    answer: prepare === undefined ? (outcome as unknown as Answer) : prepare(outcome),
  });
}
