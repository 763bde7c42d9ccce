/**
 * Compiles JSON Schemas and phrases their errors for a sentence. Schemas without `$schema` count as draft 2020-12;
 * draft-07 is supported too. The two schemas that the package publishes are in published-schemas.ts.
 */

import { Ajv, type ErrorObject, type FuncKeywordDefinition, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Returns the first error in a value, or undefined if it is valid. */
export type SchemaCheck = (value: unknown) => ErrorObject | undefined;

/** Throws if the schema itself is invalid. */
export function compileSchema(schema: JsonSchema): SchemaCheck {
  // Validation would return promises, which are always truthy.
  if (schema['$async'] !== undefined) throw new Error('$async is not supported');
  const isDraft7 = String(schema['$schema'] ?? '').includes('draft-07');
  // Strict about the schema, so that a misspelled keyword or an unknown format does not go unnoticed.
  // Ajv decides whether to copy what a $ref names into its place by a search that takes time exponential in the depth of an enum
  // or const there; a function for each $ref needs no such search.
  const options = {
    strict: true,
    strictTypes: false,
    strictRequired: false,
    inlineRefs: false,
  } as const;
  const ajv = isDraft7 ? new Ajv(options) : new Ajv2020(options);
  formats.default(ajv);
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword(uniqueItems);
  const validate: ValidateFunction = ajv.compile(schema);
  return (value) => (validate(value) ? undefined : validate.errors?.[0]);
}

/**
 * Ajv compares each item with all others, unless the schema says that they are plain: a second for ten thousand objects, in
 * which a server would answer nobody.
 */
const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  error: { message: 'must NOT have duplicate items' },
  validate: (isWanted: boolean, items: readonly unknown[]) =>
    !isWanted || new Set(items.map(textOf)).size === items.length,
};

/** Texts are equal if the values are, by the rules of JSON Schema: the order of an object's members does not matter. */
function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  }
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
  const members = Object.entries(value).map(
    ([name, each]) => `${JSON.stringify(name)}:${textOf(each)}`,
  );
  return `{${members.sort().join()}}`;
}

/** A schema error as part of a sentence: `/payload/tile must be string`. */
export function schemaReason({ instancePath, message, params }: ErrorObject): string {
  const name = params['additionalProperty'] ?? params['unevaluatedProperty'];
  const which = typeof name === 'string' ? ` (${name})` : '';
  return `${instancePath || 'it'} ${message ?? 'is not valid'}${which}`;
}
