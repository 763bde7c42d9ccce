/**
 * What spans say, in the words of OpenTelemetry's messaging conventions; what those have no word for stands under
 * `oncemq.`.
 */

import type { Attributes, Link, SpanContext } from '@opentelemetry/api';
import type { Suppressed } from '../../core/events.ts';

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
  const names = (['body', 'attributes', 'group'] as const).filter((name) => differed[name]);
  return {
    'oncemq.duplicate': true,
    'oncemq.dedupe.source': source,
    'oncemq.dedupe.matched_by': matchedBy,
    'oncemq.dedupe.age_ms': ageMs,
    'oncemq.dedupe.differed': names,
  };
}

export function linkTo({ messageId, context }: Received): Link[] {
  if (context === undefined) return [];
  return [{ context, attributes: { 'messaging.message.id': messageId } }];
}

export function isSame(one: SpanContext, other: SpanContext | undefined): boolean {
  return one.traceId === other?.traceId && one.spanId === other.spanId;
}
