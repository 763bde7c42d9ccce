/**
 * The parameters of an AWS Query request as a tree: `Tag.1.Key=team` stores the value `team` under Tag, 1, Key. Names come
 * from the client, so children are Maps, where no name has a special meaning.
 *
 * Bounds: 10,000 parameters, and names of at most 8 parts, as many as the deepest of Amazon's has
 * (`PublishBatchRequestEntries.member.1.MessageAttributes.entry.2.Value.DataType`). If a name occurs twice, the last counts.
 */

import { detached } from '../../core/detached.ts';
import type { ApiRequest } from '../request.ts';
import { type Fault, malformed } from './error-codes.ts';

const parametersMax = 10_000;
const depthMax = 8;

export class Parameter {
  value: string | undefined;
  readonly #children: Map<string, Parameter> = new Map();

  child(name: string): Parameter | undefined {
    return this.#children.get(name);
  }

  /** The children whose name is a number, in numerical order (3.5). */
  numbered(): [string, Parameter][] {
    return [...this.#children]
      .filter(([name]) => isNumeral(name))
      .sort(([one], [other]) => Number(one) - Number(other));
  }

  /** The descendant with this name, created if needed; undefined if the name has too many parts. */
  grow(name: string): Parameter | undefined {
    let parameter: Parameter = this;
    let start = 0;
    for (let depth = 0; depth < depthMax; depth += 1) {
      const dot = name.indexOf('.', start);
      parameter = parameter.#ensure(dot < 0 ? name.slice(start) : name.slice(start, dot));
      if (dot < 0) return parameter;
      start = dot + 1;
    }
    return undefined;
  }

  #ensure(name: string): Parameter {
    let child = this.#children.get(name);
    if (child === undefined) {
      child = new Parameter();
      this.#children.set(name, child);
    }
    return child;
  }
}

/** All parameters of the texts, each in the form `a=1&b=2`. */
export function readParameters(...texts: readonly string[]): Parameter | Fault {
  const root = new Parameter();
  let count = 0;
  for (const text of texts) {
    for (let start = 0; start < text.length; ) {
      const end = text.indexOf('&', start);
      const pair = end < 0 ? text.slice(start) : text.slice(start, end);
      start = end < 0 ? text.length : end + 1;
      // Empty ones count, too: each takes a step.
      count += 1;
      if (count > parametersMax) return malformed(`There are over ${parametersMax} parameters.`);
      if (pair === '') continue;
      const problem = addPair(root, pair, text.length);
      if (problem !== undefined) return problem;
    }
  }
  return root;
}

/** In body and query, how often a short name is looked at; what follows is noise. */
const occurrencesMax = 100;
const plainValueLengthMax = 256;

/**
 * The value of a parameter that is written without percent-encoding, in the body or else in the query string. Searches the
 * bytes and parses nothing, so it takes no longer for a body with many parameters.
 */
export function plainValueOf({ query, body }: ApiRequest, name: string): string | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return foundIn(bytes, name) ?? foundIn(Buffer.from(query, 'latin1'), name);
}

function foundIn(bytes: Buffer, name: string): string | undefined {
  const ampersand = 0x26;
  const pattern = `${name}=`;
  let at = bytes.indexOf(pattern, 0, 'latin1');
  for (let occurrences = 0; at >= 0 && occurrences < occurrencesMax; occurrences += 1) {
    if (at === 0 || bytes[at - 1] === ampersand) {
      const start = at + pattern.length;
      const text = bytes.toString('latin1', start, start + plainValueLengthMax);
      return text.split('&', 1)[0];
    }
    at = bytes.indexOf(pattern, at + 1, 'latin1');
  }
  return undefined;
}

function addPair(root: Parameter, pair: string, textLength: number): Fault | undefined {
  const equals = pair.indexOf('=');
  const name = decode(equals < 0 ? pair : pair.slice(0, equals));
  const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
  if (name === undefined || value === undefined) {
    return malformed('A parameter is not percent-encoded UTF-8.');
  }
  const parameter = root.grow(name);
  if (parameter === undefined) return malformed(`A parameter name has over ${depthMax} parts.`);
  // A value that makes up most of the request, as a body does, is worth no copy.
  parameter.value = value.length * 2 < textLength ? detached(value) : value;
  return undefined;
}

const plus = 0x2b;
const space = 0x20;

/** As `replaceAll` does, which takes half a second for a million of them. */
function withSpaces(text: string): string {
  if (!text.includes('+')) return text;
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === plus) bytes[at] = space;
  return bytes.toString();
}

function decode(text: string): string | undefined {
  const spaced = withSpaces(text);
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}

function isNumeral(name: string): boolean {
  return /^\d{1,9}$/.test(name);
}
