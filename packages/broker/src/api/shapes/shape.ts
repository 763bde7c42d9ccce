/**
 * Describes an action's input and output once, as data. This description drives the two wire forms, the type checks and
 * the page docs/reference/actions.md.
 *
 * A member has one name, that of AWS JSON; `query` is its name in the older AWS Query form if it differs, since SQS
 * flattens lists and maps there: `Attribute.1.Name`, `Tag.1.Key`, `SendMessageBatchRequestEntry.1.Id`.
 *
 * Members are defined as objects and converted to lists of fields once, when the program loads, because the wire forms
 * iterate over them with every request.
 */

export type Type = Scalar | List | Dictionary | Structure;

export interface Scalar {
  readonly is: 'string' | 'integer' | 'long' | 'boolean' | 'blob';
  /** A string that only the server produces and that needs no escaping in JSON. */
  readonly isPlain?: boolean;
}

export interface List {
  readonly is: 'list';
  readonly of: Type;
  /** SNS does not flatten: its items are inside an element of this name, `Topics/member`, `TagKeys.member.1`. */
  readonly within?: string;
}

/** In Query each entry is a pair under the names `key` and `value`. */
export interface Dictionary {
  readonly is: 'map';
  readonly of: Type;
  readonly key: string;
  readonly value: string;
  /** As with a list: `Attributes.entry.1.key`. */
  readonly within?: string;
}

export interface Structure {
  readonly is: 'structure';
  readonly fields: readonly Field[];
  /** The same by their names in AWS JSON. */
  readonly byName: ReadonlyMap<string, Field>;
}

/** A member as it is defined. */
export interface Member {
  readonly type: Type;
  readonly doc: string;
  readonly isRequired?: boolean;
  /** The member's name in AWS Query, if it differs. */
  readonly query?: string;
}

export type Members = Readonly<Record<string, Member>>;

/** A member as the wire forms use it. */
export interface Field {
  /** Its name in AWS JSON, and in values. */
  readonly name: string;
  /** Its name in AWS Query. */
  readonly query: string;
  readonly type: Type;
  readonly doc: string;
  readonly isRequired: boolean;
  /** Copied from the type: all fields have one object shape, types have several, so reading it here is faster. */
  readonly is: Type['is'];
  readonly isPlain: boolean;
}

export interface ActionShape {
  readonly doc: string;
  readonly input: Structure;
  /** Undefined for actions that answer with an empty body. */
  readonly output: Structure | undefined;
  /** What differs from Amazon's action, in the user's words. */
  readonly differs?: string;
}

/** An action as it is defined. */
export interface ActionText extends Omit<ActionShape, 'input' | 'output'> {
  readonly input: Members;
  readonly output: Members | undefined;
}

export const string: Scalar = { is: 'string' };
export const plainString: Scalar = { is: 'string', isPlain: true };
export const integer: Scalar = { is: 'integer' };
export const long: Scalar = { is: 'long' };
export const boolean: Scalar = { is: 'boolean' };
export const blob: Scalar = { is: 'blob' };

export function list(of: Type): List {
  return { is: 'list', of };
}

export function map(of: Type, key: string, value: string): Dictionary {
  return { is: 'map', of, key, value };
}

/** A list as SNS writes it. */
export function memberList(of: Type): List {
  return { is: 'list', of, within: 'member' };
}

/** A map as SNS writes it. */
export function entryMap(of: Type, key = 'key', value = 'value'): Dictionary {
  return { is: 'map', of, key, value, within: 'entry' };
}

export function structure(members: Members): Structure {
  const fields = Object.entries(members).map(([name, member]): Field => {
    const { type, doc, query = name, isRequired = false } = member;
    const { is } = type;
    const isPlain = is === 'string' && type.isPlain === true;
    return { name, query, type, doc, isRequired, is, isPlain };
  });
  return { is: 'structure', fields, byName: new Map(fields.map((field) => [field.name, field])) };
}

/** The only member of an output that is one list. */
export function listIn({ output }: ActionShape): { name: string; query: string; of: Type } {
  const [field, other] = output?.fields ?? [];
  if (field?.type.is !== 'list' || other !== undefined) throw new Error('This is not one list.');
  return { name: field.name, query: field.query, of: field.type.of };
}

export function actions(
  texts: Readonly<Record<string, ActionText>>,
): Readonly<Record<string, ActionShape>> {
  const shapes = Object.entries(texts).map(([name, text]): [string, ActionShape] => {
    const output = text.output === undefined ? undefined : structure(text.output);
    return [name, { ...text, input: structure(text.input), output }];
  });
  return Object.fromEntries(shapes);
}

/** A value of any shape, as it came in or goes out: members that were not given are absent or undefined. */
export type Value = string | number | boolean | Uint8Array | ValueList | ValueMap;
export type ValueList = readonly Value[];
export type ValueMap = { readonly [name: string]: Value | undefined };
