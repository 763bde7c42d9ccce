/**
 * Attributes that carry a trace: W3C's trace context and baggage, and what other tracers use. They tell attempts
 * apart and never events: a retry of the same event has others. So nothing that compares messages looks at them.
 */

export const traceContextNames: ReadonlySet<string> = new Set([
  // W3C.
  'traceparent',
  'tracestate',
  'baggage',
  // X-Ray.
  'x-amzn-trace-id',
  'awstraceheader',
  // Zipkin, in one piece and in several.
  'b3',
  'x-b3-traceid',
  'x-b3-spanid',
  'x-b3-parentspanid',
  'x-b3-sampled',
  'x-b3-flags',
  // Jaeger, Datadog, Sentry.
  'uber-trace-id',
  '_datadog',
  'sentry-trace',
]);

/** The attributes that may tell events apart, in a stable order. */
export function comparedAttributes(
  attributes: Readonly<Record<string, string>>,
): [name: string, value: string][] {
  return Object.entries(attributes)
    .filter(([name]) => !traceContextNames.has(name.toLowerCase()))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
