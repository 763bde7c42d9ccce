/**
 * Attributes that carry a trace: W3C's trace context and baggage, and the forms of X-Ray and Zipkin. They tell attempts
 * apart and never events. Every send has others, a retry of the same event too, so whether two sends differed is judged
 * without them; else every honest retry of a traced producer would be told as a collision.
 *
 * The toolkit has the same list for its guard; a test holds the two together.
 */

import type { MessageAttribute } from './changes.ts';
import { attributesMd5 } from './digest.ts';

export const traceContextNames: ReadonlySet<string> = new Set([
  'traceparent',
  'tracestate',
  'baggage',
  'x-amzn-trace-id',
  'b3',
]);

/** The digest by which the attributes of two sends are compared; `wholeMd5` is that of all of them. */
export function comparedMd5(attributes: readonly MessageAttribute[], wholeMd5: string): string {
  if (!attributes.some(isTraceContext)) return wholeMd5;
  return attributesMd5(attributes.filter((attribute) => !isTraceContext(attribute)));
}

function isTraceContext({ name }: MessageAttribute): boolean {
  return traceContextNames.has(name.toLowerCase());
}
