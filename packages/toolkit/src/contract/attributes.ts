/**
 * Which message attributes SQS accepts. Attributes that SQS refuses are refused on every retry, so a message with them in
 * an outbox would block its group forever.
 */

import { type Refusal, refuse } from './refusals.ts';

const attributesMax = 10;
const attributeNameCharsMax = 256;
/** Control characters below the space, lone surrogates, U+FFFE and U+FFFF; a queue accepts all others. */
const notSendable = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const attributeName =
  /^(?!(?:aws|amazon)\.)[\p{Script=Latin}\d_-]+(?:\.[\p{Script=Latin}\d_-]+)*$/iu;

export function checkAttributes(attributes: unknown): Refusal | undefined {
  const wrong = (reason: string): Refusal => refuse('attributes-invalid', { reason });
  if (typeof attributes !== 'object' || attributes === null || attributes instanceof Promise) {
    return wrong('they must be an object of names and values');
  }
  const all = Object.entries(attributes);
  if (all.length > attributesMax)
    return wrong(`there are ${all.length}, but at most ${attributesMax} are allowed`);
  for (const [name, value] of all) {
    if (!attributeName.test(name) || name.length > attributeNameCharsMax)
      return wrong(`SQS does not accept the name "${name}"`);
    if (typeof value !== 'string' || value === '' || notSendable.test(value)) {
      return wrong(`the value of ${name} must be a non-empty string without control characters`);
    }
  }
  return undefined;
}
