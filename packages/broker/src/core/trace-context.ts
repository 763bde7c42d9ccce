/**
 * Attributes that carry a trace: W3C's trace context and baggage, and what other tracers use. They identify attempts,
 * never events: every send has new values, even a retry of the same event. So two sends are compared without them;
 * otherwise every honest retry by a traced producer would be reported as a collision.
 *
 * The toolkit has the same list for its guard; a test keeps the two equal.
 */

import type { MessageAttribute } from './changes.ts';
import { attributesMd5 } from './digest/digests.ts';

export const traceContextNames: ReadonlySet<string> = new Set(
  [
    'traceparent tracestate baggage', // W3C
    'x-amzn-trace-id awstraceheader', // X-Ray
    'b3 x-b3-traceid x-b3-spanid x-b3-parentspanid x-b3-sampled x-b3-flags', // Zipkin
    'uber-trace-id _datadog sentry-trace', // Jaeger, Datadog, Sentry
  ].flatMap((names) => names.split(' ')),
);

/** The digest by which the attributes of two sends are compared; `wholeMd5` is the digest of all attributes. */
export function comparedMd5(attributes: readonly MessageAttribute[], wholeMd5: string): string {
  if (!attributes.some(isTraceContext)) return wholeMd5;
  return attributesMd5(attributes.filter((attribute) => !isTraceContext(attribute)));
}

function isTraceContext({ name }: MessageAttribute): boolean {
  return traceContextNames.has(name.toLowerCase());
}
