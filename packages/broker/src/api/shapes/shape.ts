/**
 * How an action's input and output are described: once, as data. The two wire forms, the checks of types and the page
 * docs/reference/actions.md are all driven by it.
 *
 * A member has one name, that of AWS JSON; `query` is its name in the older AWS Query form where that differs, since
 * lists and maps are flattened there: `Attribute.1.Name`, `Tag.1.Key`, `SendMessageBatchRequestEntry.1.Id`.
 */

export type Type =
  | { readonly is: 'string' | 'integer' | 'long' | 'boolean' | 'blob' }
  | { readonly is: 'list'; readonly of: Type }
  /** In Query each entry is a pair under these two names. */
  | { readonly is: 'map'; readonly of: Type; readonly key: string; readonly value: string }
  | { readonly is: 'structure'; readonly members: Members };

export interface Member {
  readonly type: Type;
  readonly doc: string;
  readonly isRequired?: boolean;
  /** The member's name in AWS Query, if it is another. */
  readonly query?: string;
}

export type Members = Readonly<Record<string, Member>>;

export interface ActionShape {
  readonly doc: string;
  readonly input: Members;
  /** Undefined for actions that answer with an empty body. */
  readonly output: Members | undefined;
  /** What differs from Amazon's action, in the user's words. */
  readonly differs?: string;
}

export const string: Type = { is: 'string' };
export const integer: Type = { is: 'integer' };
export const long: Type = { is: 'long' };
export const boolean: Type = { is: 'boolean' };
export const blob: Type = { is: 'blob' };

export function list(of: Type): Type {
  return { is: 'list', of };
}

export function map(of: Type, key: string, value: string): Type {
  return { is: 'map', of, key, value };
}

export function structure(members: Members): Type {
  return { is: 'structure', members };
}

/** A value of any shape, as it came in or goes out: members that were not given are absent. */
export type Value = string | number | boolean | Uint8Array | ValueList | ValueMap;
export type ValueList = readonly Value[];
export type ValueMap = { readonly [name: string]: Value | undefined };
