/**
 * The trace that a request or a message belongs to, by what it carries: W3C's `traceparent` and `tracestate`, as HTTP
 * headers or message attributes, and X-Ray's form, as the header X-Amzn-Trace-Id or the AWSTraceHeader of a message.
 * The first of them that can be read counts. Nothing is ever written into a message: what it carries is the sender's.
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
import { ConfigError } from '../config-error.ts';
import type { Environment } from '../telemetry/otel-environment.ts';

/** The values by their names in lower case. */
export type Carrier = Readonly<Record<string, string | undefined>>;

export type ReadContext = (carrier: Carrier) => SpanContext | undefined;

/** Those of the specification; baggage and the other forms say nothing that a span of the server needs. */
const propagators: Readonly<Record<string, (() => TextMapPropagator) | undefined>> = {
  tracecontext: () => new W3CTraceContextPropagator(),
  xray: () => new AWSXRayPropagator(),
  baggage: undefined,
  b3: undefined,
  b3multi: undefined,
  jaeger: undefined,
  ottrace: undefined,
  none: undefined,
};

/** By `OTEL_PROPAGATORS`; without it, both forms that SQS knows are read. */
export function contextReader(environment: Environment): ReadContext {
  const names = environment['OTEL_PROPAGATORS']?.trim() || 'tracecontext,xray';
  const chosen = names.split(',').flatMap((name) => {
    const known = name.trim();
    if (!Object.hasOwn(propagators, known)) {
      const all = Object.keys(propagators).join(', ');
      throw new ConfigError(`OTEL_PROPAGATORS: ${known} is none of ${all}.`);
    }
    return propagators[known]?.() ?? [];
  });
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
