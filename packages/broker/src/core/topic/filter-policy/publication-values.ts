/**
 * What filter policies look up in a publication, found on demand and remembered for all subscriptions of the publish: the
 * values of an attribute, or those at a path of the message.
 *
 * A path is a text with dots, and every way to split it into keys counts: `a.b` is the key `a.b`, and `b` inside of `a`
 * (11.6). Arrays on the way are entered at any depth, and every element counts (11.5). The search goes through the message
 * with a stack of its own and visits each node at most once, however deeply it is nested.
 */

import type { MessageAttribute } from '../../changes.ts';
import { jsonSizeOf, parseJson } from '../../json-object.ts';
import type { FilterValues } from './filter-policy.ts';
import { FilterWork, unitsOf } from './filter-work.ts';
import { isScalar, noValues, type Scalar, ValueList } from './value-list.ts';

/** Visiting a node of the message takes as long as this many comparisons. */
const nodeUnits = 5;
/** Parsing a value of the message, or of a list in an attribute, takes as long as this many. */
const parsedUnits = 4;
/** Making a character of a key takes as long as comparing this many. */
const keyChars = 16;

export class PublicationValues implements FilterValues {
  readonly work: FilterWork;
  readonly #message: string;
  readonly #attributes: readonly MessageAttribute[];
  readonly #found: Map<string, ValueList> = new Map();
  /** Null until the message was parsed; undefined if it is no JSON object. */
  #body: object | undefined | null = null;
  readonly #foundInBody: Map<string, ValueList> = new Map();

  constructor(
    message: string,
    attributes: readonly MessageAttribute[],
    work: FilterWork = new FilterWork(),
  ) {
    this.#message = message;
    this.#attributes = attributes;
    this.work = work;
  }

  attribute(name: string): ValueList {
    const known = this.#found.get(name);
    if (known !== undefined) return known;
    const attribute = this.#attributes.find((each) => each.name === name);
    const values = attribute === undefined ? noValues : attributeValues(attribute, this.work);
    this.work.spend(this.#attributes.length + nodeUnits * values.size);
    this.#found.set(name, values);
    return values;
  }

  body(path: string): ValueList {
    const known = this.#foundInBody.get(path);
    if (known !== undefined) return known;
    const body = this.#parsed();
    const values = body === undefined ? noValues : valuesAt(body, path, this.work);
    this.#foundInBody.set(path, values);
    return values;
  }

  isObject(): boolean {
    return this.#parsed() !== undefined;
  }

  #parsed(): object | undefined {
    if (this.#body === null) this.#body = parsedObject(this.#message, this.work);
    return this.#body;
  }
}

/** Binary counts as absent, and so does a String.Array that is no array (11.4). */
function attributeValues({ type, value }: MessageAttribute, work: FilterWork): ValueList {
  if (typeof value !== 'string') return noValues;
  if (type === 'String.Array') {
    const list = parsedJson(value, work);
    return Array.isArray(list) ? new ValueList(list.filter(isScalar)) : noValues;
  }
  return new ValueList([type.startsWith('Number') ? Number(value) : value]);
}

/** Ends early if the work is more than there may be. */
function valuesAt(body: object, path: string, work: FilterWork): ValueList {
  const values: Scalar[] = [];
  const splits = new Splits(path);
  /** Nodes to look at, each with how many parts of the path led there. */
  const open: { readonly node: unknown; readonly at: number }[] = [{ node: body, at: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, at } = next;
    if (!work.spend(nodeUnits)) return noValues;
    if (Array.isArray(node)) {
      for (const element of node as unknown[]) open.push({ node: element, at });
    } else if (at === splits.parts) {
      if (isScalar(node)) values.push(node);
    } else if (typeof node === 'object' && node !== null) {
      const keys = splits.from(at, work);
      work.spend(keys.length);
      for (const { key, end } of keys) {
        if (Object.hasOwn(node, key)) {
          open.push({ node: (node as Record<string, unknown>)[key], at: end });
        }
      }
    }
  }
  return new ValueList(values);
}

interface Split {
  readonly key: string;
  /** The part of the path that follows the key. */
  readonly end: number;
}

/** Every way to take the next key from a path: of `a.b` it is `a`, and `a.b`. Each is made once for all nodes, as it may be long. */
class Splits {
  readonly #parts: readonly string[];
  readonly #from: Map<number, readonly Split[]> = new Map();

  constructor(path: string) {
    this.#parts = path.split('.');
  }

  get parts(): number {
    return this.#parts.length;
  }

  /** The keys that begin with this part; none if making them is too much work. */
  from(part: number, work: FilterWork): readonly Split[] {
    let splits = this.#from.get(part);
    if (splits === undefined) {
      const rest = this.#parts.slice(part);
      const chars = rest.reduce(
        (sum, { length }, at) => sum + (length + 1) * (rest.length - at),
        0,
      );
      if (!work.spend(unitsOf(keyChars * chars))) return [];
      splits = rest.map((_, at) => ({
        key: asPropertyName(rest.slice(0, at + 1).join('.')),
        end: part + at + 1,
      }));
      this.#from.set(part, splits);
    }
    return splits;
  }
}

/** The same text as the engine keeps it for property names: looking up any other reads all its characters, each time. */
function asPropertyName(text: string): string {
  return Object.keys({ [text]: true })[0] as string;
}

function parsedObject(text: string, work: FilterWork): object | undefined {
  const value = parsedJson(text, work);
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMap ? value : undefined;
}

/** Undefined also if parsing it is too much work. */
function parsedJson(text: string, work: FilterWork): unknown {
  const bounds = { levels: Number.POSITIVE_INFINITY, values: work.left / parsedUnits };
  if (!work.spend(parsedUnits * jsonSizeOf(text, bounds).values)) return undefined;
  return parseJson(text);
}
