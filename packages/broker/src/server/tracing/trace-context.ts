/**
 * Reads the trace context that a request or a message carries: W3C's `traceparent` and `tracestate`, as HTTP headers or
 * message attributes, and X-Ray's format, as the header X-Amzn-Trace-Id or the AWSTraceHeader of a message. The first that
 * can be parsed counts; `OTEL_PROPAGATORS` can exclude some. Nothing is ever written into a message: its content is the
 * sender's.
 */

import {
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type SpanContext,
  type TextMapPropagator,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { AWSXRayPropagator } from '@opentelemetry/propagator-aws-xray';
import type { MessageContent } from '../../core/changes.ts';
import type { AttributeInput, SendEntry } from '../../core/commands.ts';
import type { PublishEntry } from '../../core/topic/commands.ts';
import type { Propagator } from '../telemetry/otel-environment.ts';

/** Values by lower-case name. */
export type Carrier = Readonly<Record<string, string | undefined>>;

export type ReadContext = (carrier: Carrier) => SpanContext | undefined;

const propagatorOf: Readonly<Record<Propagator, () => TextMapPropagator>> = {
  tracecontext: () => new W3CTraceContextPropagator(),
  xray: () => new AWSXRayPropagator(),
};

export function contextReader(propagators: readonly Propagator[]): ReadContext {
  const chosen = propagators.map((name) => propagatorOf[name]());
  return (carrier) => {
    for (const propagator of chosen) {
      const context = propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
      const found = trace.getSpanContext(context);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

export function carriedBySend({ attributes, systemAttributes }: SendEntry): Carrier {
  const header = systemAttributes?.find(({ name }) => name === 'AWSTraceHeader')?.stringValue;
  return carrierOf(attributes, header);
}

export function carriedByPublication({ attributes, traceHeader }: PublishEntry): Carrier {
  return carrierOf(attributes, traceHeader);
}

export function carriedByMessage({ attributes, traceHeader }: MessageContent): Carrier {
  const texts = attributes.map(({ name, value }) => ({
    name,
    stringValue: typeof value === 'string' ? value : undefined,
  }));
  return carrierOf(texts, traceHeader);
}

function carrierOf(
  attributes: readonly Pick<AttributeInput, 'name' | 'stringValue'>[] | undefined,
  traceHeader: string | undefined,
): Carrier {
  const texts = attributes?.map(({ name, stringValue }) => [name.toLowerCase(), stringValue]) ?? [];
  return { 'x-amzn-trace-id': traceHeader, ...Object.fromEntries(texts) };
}
