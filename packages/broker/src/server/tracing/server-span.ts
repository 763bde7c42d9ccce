/**
 * The content of a server span, following OpenTelemetry's semantic conventions for messaging. Attributes that they do not
 * define have the prefix `oncemq.`.
 */

import {
  type Attributes,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { type Fault, shapeOf } from '../../api/protocol/error-codes.ts';
import type { ApiRequest } from '../../api/request.ts';
import { differencesIn } from '../../core/deduplication/difference.ts';
import type { Suppressed } from '../../core/events.ts';

/** A message that was received, and the trace that it belongs to. */
export interface Received {
  readonly messageId: string;
  readonly context: SpanContext | undefined;
}

/** What is done, to which queue or topic. */
export interface Operation {
  readonly name: 'send' | 'publish' | 'receive' | 'delete';
  readonly type: 'send' | 'receive' | 'settle';
  readonly system: 'aws_sqs' | 'aws.sns';
  readonly destination: string;
}

/** A request, and when it began. */
export interface TimedRequest {
  readonly request: ApiRequest;
  /** By `performance.now()`. */
  readonly startedAt: number;
}

export interface SpanDetails {
  readonly parent?: SpanContext | undefined;
  readonly links?: readonly Link[];
  readonly attributes?: Attributes;
  /** The fault, if the operation failed. */
  readonly fault?: Fault | undefined;
}

/** A span that starts with its request. End it with `end(performance.now())`, so that both times come from one clock. */
export function startSpan(
  tracer: Tracer,
  { name, type, system, destination }: Operation,
  { request, startedAt }: TimedRequest,
  { parent, links = [], attributes = {}, fault }: SpanDetails,
): Span {
  const span = tracer.startSpan(
    destination === '' ? name : `${name} ${destination}`,
    {
      kind: SpanKind.SERVER,
      startTime: startedAt,
      links: [...links],
      attributes: {
        'messaging.system': system,
        'messaging.operation.name': name,
        'messaging.operation.type': type,
        'messaging.destination.name': destination,
        'aws.request_id': request.requestId,
        ...attributes,
      },
    },
    parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
  );
  if (fault === undefined) return span;
  span.setAttribute('error.type', shapeOf(fault));
  return span.setStatus({ code: SpanStatusCode.ERROR });
}

export function queueOperation(
  name: Operation['name'],
  type: Operation['type'],
  destination: string,
): Operation {
  return { name, type, system: 'aws_sqs', destination };
}

export function aboutEntry(
  body: string,
  groupId: string | undefined,
  batchSize: number | undefined,
): Attributes {
  return {
    'messaging.message.body.size': Buffer.byteLength(body),
    ...(groupId === undefined ? {} : { 'oncemq.message.group_id': groupId }),
    ...(batchSize === undefined ? {} : { 'messaging.batch.message_count': batchSize }),
  };
}

export function aboutDuplicate({ source, matchedBy, ageMs, differed }: Suppressed): Attributes {
  return {
    'oncemq.duplicate': true,
    'oncemq.dedupe.source': source,
    'oncemq.dedupe.matched_by': matchedBy,
    'oncemq.dedupe.age_ms': ageMs,
    'oncemq.dedupe.differed': differencesIn(differed),
  };
}

export function linkTo({ messageId, context }: Received): Link[] {
  if (context === undefined) return [];
  return [{ context, attributes: { 'messaging.message.id': messageId } }];
}

/** The link from a duplicate's span to its original. */
export function originalLink(context: SpanContext, { original }: Suppressed): Link {
  const attributes = { 'oncemq.link': 'original', 'messaging.message.id': original.messageId };
  return { context, attributes };
}

export function isSame(one: SpanContext, other: SpanContext | undefined): boolean {
  return one.traceId === other?.traceId && one.spanId === other.spanId;
}
