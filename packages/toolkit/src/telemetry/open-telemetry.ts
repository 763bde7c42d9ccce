/**
 * The toolkit's telemetry as OpenTelemetry: records become the contract's four metrics, sends and handler calls become
 * spans, and messages carry the trace.
 *
 *   import * as api from '@opentelemetry/api';
 *   const telemetry = openTelemetry(api);
 *
 * The api is the caller's own copy, with the providers registered there. Nothing of OpenTelemetry is imported here (only
 * types), so programs that do not use it need not install it.
 *
 * Each send request is a PRODUCER span, and its messages carry its context. Each handler call is a CONSUMER span: a child
 * of the span that the message carries or, if a span is already active, a child of that one with a link to the message's.
 */

import type {
  Attributes,
  Counter,
  Histogram,
  Link,
  Meter,
  MeterProvider,
  Span,
  SpanContext,
  TracerProvider,
} from '@opentelemetry/api';
import type { SqsMessage } from '../consumer/received.ts';
import { type CarriedTrace, traceIn, traceOf, withTrace } from './carried-trace.ts';
import type { Metric, TelemetryRecord } from './record.ts';
import { nameOf, type Telemetry, type Traceable } from './telemetry.ts';

/** The module `@opentelemetry/api`. */
export type OpenTelemetryApi = Pick<
  typeof import('@opentelemetry/api'),
  | 'context'
  | 'createTraceState'
  | 'isSpanContextValid'
  | 'metrics'
  | 'SpanKind'
  | 'SpanStatusCode'
  | 'trace'
>;

export interface OpenTelemetryOptions {
  /** Default: the one registered in the api. */
  readonly tracerProvider?: TracerProvider;
  /** Default: the one registered in the api. */
  readonly meterProvider?: MeterProvider;
}

const scope = '@oncemq/toolkit';

/** The span attribute with the code of a violation; the server's spans have it too. */
const violationName = 'oncemq.contract.violation';

export function openTelemetry(
  api: OpenTelemetryApi,
  options: OpenTelemetryOptions = {},
): Telemetry {
  const { tracerProvider = api.trace, meterProvider = api.metrics } = options;
  const tracer = tracerProvider.getTracer(scope);
  const instruments = instrumentsOf(meterProvider.getMeter(scope));

  /** Runs the work inside the span, and ends the span with it. */
  const follow = async <Result>(span: Span, work: () => Promise<Result>): Promise<Result> => {
    try {
      return await api.context.with(api.trace.setSpan(api.context.active(), span), work);
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      span.setAttribute('error.type', name);
      span.setStatus({ code: api.SpanStatusCode.ERROR, message });
      throw error;
    } finally {
      span.end();
    }
  };

  const contextOf = ({ traceId, spanId, flags, state }: CarriedTrace): SpanContext => ({
    traceId,
    spanId,
    traceFlags: flags,
    isRemote: true,
    ...(state === undefined ? {} : { traceState: api.createTraceState(state) }),
  });

  const underWay = (): SpanContext | undefined => api.trace.getSpanContext(api.context.active());

  /** Without a registered provider, spans have no valid ids, and there is nothing to carry. */
  const traced = <Message extends Traceable>(
    messages: readonly Message[],
    by: SpanContext | undefined,
  ): readonly Message[] =>
    by !== undefined && api.isSpanContextValid(by) ? withTrace(messages, traceBy(by)) : messages;

  const linkTo = (carried: CarriedTrace | undefined): Link[] =>
    carried === undefined ? [] : [{ context: contextOf(carried) }];

  return {
    report: (record) => {
      instruments[record.metric](record.value, seriesOf(record));
      // The span of the send or of the handling, in which the guard or the inbox found it.
      if (record.metric === 'sqs_fifo.producer.violations' && record.code !== undefined) {
        api.trace.getSpan(api.context.active())?.setAttribute(violationName, record.code);
      }
    },

    carry: (message) => traced([message], underWay())[0] ?? message,

    sending: ({ target, messages }, send) => {
      const links = messages.flatMap((message) => linkTo(traceOf(message)));
      const count =
        messages.length === 1 ? {} : { 'messaging.batch.message_count': messages.length };
      const attributes = { ...aboutTarget('send', 'send', target), ...count };
      const kind = api.SpanKind.PRODUCER;
      const span = tracer.startSpan(`send ${nameOf(target)}`, { kind, links, attributes });
      return follow(span, () => send(traced(messages, span.spanContext()), span));
    },

    processing: (message, queue, handle) => {
      const carried = traceIn(message);
      const active = api.context.active();
      const isChild = carried !== undefined && underWay() === undefined;
      const span = tracer.startSpan(
        queue === undefined ? 'process' : `process ${nameOf(queue)}`,
        {
          kind: api.SpanKind.CONSUMER,
          links: isChild ? [] : linkTo(carried),
          attributes: { ...aboutTarget('process', 'process', queue), ...aboutMessage(message) },
        },
        isChild ? api.trace.setSpanContext(active, contextOf(carried)) : active,
      );
      return follow(span, () => handle(span));
    },

    relaying: relayInstruments(meterProvider.getMeter(scope)),
  };
}

type Instrument = (value: number, attributes: Attributes) => void;

function instrumentsOf(meter: Meter): Readonly<Record<Metric, Instrument>> {
  const counted = (name: Metric, description: string): Instrument => {
    const counter: Counter = meter.createCounter(name, { unit: '{send}', description });
    return (value, attributes) => counter.add(value, attributes);
  };
  const measured = (name: Metric, description: string): Instrument => {
    const histogram: Histogram = meter.createHistogram(name, { unit: 'By', description });
    return (value, attributes) => histogram.record(value, attributes);
  };
  return {
    'sqs_fifo.dedupe.collisions_detected': counted(
      'sqs_fifo.dedupe.collisions_detected',
      'repeated sends of a body with other attributes or in another group',
    ),
    'sqs_fifo.producer.violations': counted(
      'sqs_fifo.producer.violations',
      'messages that break the contract',
    ),
    'sqs_fifo.body_hash.length_bytes': measured(
      'sqs_fifo.body_hash.length_bytes',
      'length of the bodies sent',
    ),
    'sqs_fifo.dedupe_window_hits': counted(
      'sqs_fifo.dedupe_window_hits',
      'sends that a queue suppresses as duplicates',
    ),
  };
}

function relayInstruments(meter: Meter): NonNullable<Telemetry['relaying']> {
  const lag = meter.createGauge('oncemq.outbox.lag', {
    unit: 's',
    description: 'age of the oldest unsent message',
  });
  const unsent = meter.createGauge('oncemq.outbox.unsent', {
    unit: '{message}',
    description: 'messages to be sent, counted up to 10,000',
  });
  const parked = meter.createGauge('oncemq.outbox.parked', {
    unit: '{message}',
    description: 'messages that were refused and wait for a decision, counted up to 10,000',
  });
  const sent = meter.createCounter('oncemq.relay.sent', {
    unit: '{message}',
    description: 'messages that the relay has sent',
  });
  const failures = meter.createCounter('oncemq.relay.failures', {
    unit: '{failure}',
    description: 'messages and requests of the relay that failed',
  });
  return (target, status) => {
    const attributes = targetSeries(target);
    lag.record(status.lagMs / 1_000, attributes);
    unsent.record(status.unsent, attributes);
    parked.record(status.parked, attributes);
    sent.add(status.sent, attributes);
    failures.add(status.failed, attributes);
  };
}

function targetSeries(target: string): Attributes {
  return { [target.startsWith('arn:') ? 'topic' : 'queue']: nameOf(target) };
}

/** The metric attributes, as on the server; only values of low cardinality. */
function seriesOf({ target, source, code }: TelemetryRecord): Attributes {
  return {
    ...targetSeries(target),
    ...(source === undefined ? {} : { source }),
    ...(code === undefined ? {} : { reason: code }),
  };
}

function aboutTarget(name: string, type: string, target: string | undefined): Attributes {
  return {
    'messaging.system': target?.startsWith('arn:aws:sns:') ? 'aws.sns' : 'aws_sqs',
    'messaging.operation.name': name,
    'messaging.operation.type': type,
    ...(target === undefined ? {} : { 'messaging.destination.name': nameOf(target) }),
  };
}

function aboutMessage({ MessageId }: SqsMessage): Attributes {
  return MessageId === undefined ? {} : { 'messaging.message.id': MessageId };
}

function traceBy({ traceId, spanId, traceFlags, traceState }: SpanContext): CarriedTrace {
  return { traceId, spanId, flags: traceFlags, state: traceState?.serialize() || undefined };
}
