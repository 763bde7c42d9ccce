/**
 * JSON Schemas: compiling them, and saying in a sentence what they found. Schemas without `$schema` are taken for draft
 * 2020-12; draft-07 is known too. The two that the package publishes are in published-schemas.ts.
 */

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What is wrong with a value, first thing first; undefined if nothing is. */
export type SchemaCheck = (value: unknown) => ErrorObject | undefined;

/** Throws when the schema itself is wrong. */
export function compileSchema(schema: JsonSchema): SchemaCheck {
  // It would answer with promises, which are never false.
  if (schema['$async'] !== undefined) throw new Error('$async is not known here');
  const isDraft7 = String(schema['$schema'] ?? '').includes('draft-07');
  // Strict about the schema, so that a misspelt keyword does not go unnoticed; an unknown format is one, too.
  const options = { strict: true, strictTypes: false, strictRequired: false };
  const ajv = isDraft7 ? new Ajv(options) : new Ajv2020(options);
  formats.default(ajv);
  const validate: ValidateFunction = ajv.compile(schema);
  return (value) => (validate(value) ? undefined : validate.errors?.[0]);
}

/** A finding of the schema as a part of a sentence: `/payload/tile must be string`. */
export function schemaReason({ instancePath, message, params }: ErrorObject): string {
  const name = params['additionalProperty'] ?? params['unevaluatedProperty'];
  const which = typeof name === 'string' ? ` (${name})` : '';
  return `${instancePath || 'it'} ${message ?? 'is wrong'}${which}`;
}
