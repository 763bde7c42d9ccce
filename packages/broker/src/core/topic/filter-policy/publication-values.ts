/**
 * What filter policies look up in a publication, found on demand and remembered for all subscriptions of the publish: the
 * values of an attribute, or those at a path of the message.
 *
 * A path is a text with dots, and every way to split it into keys counts: `a.b` is the key `a.b`, and `b` inside of `a`
 * (11.6). Arrays on the way are entered at any depth, and every element counts (11.5). The search goes through the message
 * with a stack of its own and visits each node at most once, however deeply it is nested.
 */

import type { MessageAttribute } from '../../changes.ts';
import type { Scalar } from './condition.ts';
import type { FilterValues } from './filter-policy.ts';

export class PublicationValues implements FilterValues {
  readonly #message: string;
  readonly #attributes: readonly MessageAttribute[];
  readonly #found: Map<string, readonly Scalar[]> = new Map();
  /** Null until the message was parsed; undefined if it is no JSON object. */
  #body: object | undefined | null = null;
  readonly #foundInBody: Map<string, readonly Scalar[]> = new Map();

  constructor(message: string, attributes: readonly MessageAttribute[]) {
    this.#message = message;
    this.#attributes = attributes;
  }

  attribute(name: string): readonly Scalar[] {
    const known = this.#found.get(name);
    if (known !== undefined) return known;
    const attribute = this.#attributes.find((each) => each.name === name);
    const values = attribute === undefined ? none : attributeValues(attribute);
    this.#found.set(name, values);
    return values;
  }

  body(path: string): readonly Scalar[] {
    const known = this.#foundInBody.get(path);
    if (known !== undefined) return known;
    const body = this.#parsed();
    const values = body === undefined ? none : valuesAt(body, path);
    this.#foundInBody.set(path, values);
    return values;
  }

  isObject(): boolean {
    return this.#parsed() !== undefined;
  }

  #parsed(): object | undefined {
    if (this.#body === null) this.#body = parsedObject(this.#message);
    return this.#body;
  }
}

const none: readonly Scalar[] = [];

/** Binary counts as absent, and so does a String.Array that is no array (11.4). */
function attributeValues({ type, value }: MessageAttribute): readonly Scalar[] {
  if (typeof value !== 'string') return none;
  if (type === 'String.Array') {
    const list = parsedJson(value);
    return Array.isArray(list) ? list.filter(isScalar) : none;
  }
  return [type.startsWith('Number') ? Number(value) : value];
}

function valuesAt(body: object, path: string): Scalar[] {
  const values: Scalar[] = [];
  /** Nodes to look at, each with what is left of the path there; undefined at its end. */
  const open: { readonly node: unknown; readonly left: string | undefined }[] = [
    { node: body, left: path },
  ];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { node, left } = place;
    if (Array.isArray(node)) {
      for (const element of node as unknown[]) open.push({ node: element, left });
    } else if (left === undefined) {
      if (isScalar(node)) values.push(node);
    } else if (typeof node === 'object' && node !== null) {
      for (const [key, rest] of firstKeys(left)) {
        if (Object.hasOwn(node, key)) {
          open.push({ node: (node as Record<string, unknown>)[key], left: rest });
        }
      }
    }
  }
  return values;
}

/** Every way to split the first key off a path: `a.b` is `a.b` with no rest, and `a` with the rest `b`. */
function firstKeys(path: string): [key: string, rest: string | undefined][] {
  const splits: [string, string | undefined][] = [[path, undefined]];
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
    splits.push([path.slice(0, dot), path.slice(dot + 1)]);
  }
  return splits;
}

function parsedObject(text: string): object | undefined {
  const value = parsedJson(text);
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMap ? value : undefined;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
