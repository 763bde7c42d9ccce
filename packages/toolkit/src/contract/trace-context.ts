/**
 * Attributes that carry a trace: W3C's trace context and baggage, and the forms of X-Ray and Zipkin. They tell attempts
 * apart and never events: a retry of the same event has others. So nothing that compares messages looks at them.
 */

export const traceContextNames: ReadonlySet<string> = new Set([
  'traceparent',
  'tracestate',
  'baggage',
  'x-amzn-trace-id',
  'b3',
]);

/** The attributes that may tell events apart, in a stable order. */
export function comparedAttributes(
  attributes: Readonly<Record<string, string>>,
): [name: string, value: string][] {
  return Object.entries(attributes)
    .filter(([name]) => !traceContextNames.has(name.toLowerCase()))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
