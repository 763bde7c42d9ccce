/**
 * JSON Schemas: the two that the package publishes, and those that users bring. The published files are the one source;
 * what the code checks is what they say, because it reads them.
 *
 * Schemas are compiled once. Those without `$schema` are taken for draft 2020-12; draft-07 is known too.
 */

import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

export type JsonSchema = Readonly<Record<string, unknown>>;

export const envelopeSchema: JsonSchema = publishedSchema('envelope');
export const telemetrySchema: JsonSchema = publishedSchema('telemetry');

/** What is wrong with a value, first thing first; undefined if nothing is. */
export type SchemaCheck = (value: unknown) => ErrorObject | undefined;

/** Throws when the schema itself is wrong. */
export function compileSchema(schema: JsonSchema): SchemaCheck {
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

function publishedSchema(name: string): JsonSchema {
  const file = new URL(`../../../schemas/${name}.schema.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as JsonSchema;
}
