/**
 * How large a message may be that is judged. A server judges every message to a bound queue in its one thread, so what that
 * takes must be bounded: the bytes, which Amazon bounds too, and the JSON values of the body, most of which take two
 * characters and a microsecond each. Both are found before the body is parsed.
 */

import { type Refusal, refuse } from './refusals.ts';

export const messageBytesMax = 1_048_576;

/** Of all lists and objects of a body together; names do not count. */
export const bodyValuesMax = 10_000;

interface Sized {
  readonly body: string;
  readonly attributes?: Readonly<Record<string, string>> | undefined;
}

/** Why a message is not judged; undefined if it can be. */
export function exceededBound(
  { body, attributes = {} }: Sized,
  sizeBytesMax: number = messageBytesMax,
): Refusal | undefined {
  const size = messageBytes(body, attributes);
  if (size > sizeBytesMax) return refuse('body-too-large', { size, limit: sizeBytesMax });
  return hasMoreValues(body, bodyValuesMax)
    ? refuse('body-too-complex', { limit: bodyValuesMax })
    : undefined;
}

export function messageBytes(body: string, attributes: Readonly<Record<string, string>>): number {
  return Object.entries(attributes).reduce(
    // The data type counts too; "String", "Number" and "Binary" all have six bytes.
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value) + 6,
    Buffer.byteLength(body),
  );
}

const [quote, backslash, comma, openList, openObject] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/** Says nothing about a text that is not JSON. */
function hasMoreValues(json: string, limit: number): boolean {
  let values = 1;
  let isInText = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (isInText) {
      if (code === backslash) at += 1;
      else if (code === quote) isInText = false;
    } else if (code === quote) {
      isInText = true;
    } else if (code === comma || code === openList || code === openObject) {
      values += 1;
      if (values > limit) return true;
    }
  }
  return false;
}
