/**
 * Attributes that carry a trace: W3C's trace context and baggage, and what other tracers use. They distinguish attempts,
 * never events: a retry of the same event has different ones. So comparisons of messages ignore them.
 */

export const traceContextNames: ReadonlySet<string> = new Set(
  [
    'traceparent tracestate baggage', // W3C
    'x-amzn-trace-id awstraceheader', // X-Ray
    'b3 x-b3-traceid x-b3-spanid x-b3-parentspanid x-b3-sampled x-b3-flags', // Zipkin
    'uber-trace-id _datadog sentry-trace', // Jaeger, Datadog, Sentry
  ].flatMap((names) => names.split(' ')),
);

/** The attributes that may distinguish events, in a stable order. */
export function comparedAttributes(
  attributes: Readonly<Record<string, string>>,
): [name: string, value: string][] {
  return Object.entries(attributes)
    .filter(([name]) => !traceContextNames.has(name.toLowerCase()))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
