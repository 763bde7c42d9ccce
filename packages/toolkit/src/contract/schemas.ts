/**
 * Compiles JSON Schemas and phrases their errors for a sentence. Schemas without `$schema` count as draft 2020-12;
 * draft-07 is supported too. The two schemas that the package publishes are in published-schemas.ts.
 */

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
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
  const validate: ValidateFunction = ajv.compile(schema);
  return (value) => (validate(value) ? undefined : validate.errors?.[0]);
}

/** A schema error as part of a sentence: `/payload/tile must be string`. */
export function schemaReason({ instancePath, message, params }: ErrorObject): string {
  const name = params['additionalProperty'] ?? params['unevaluatedProperty'];
  const which = typeof name === 'string' ? ` (${name})` : '';
  return `${instancePath || 'it'} ${message ?? 'is not valid'}${which}`;
}
