/**
 * The schema of a payload: a JSON Schema, or any object with the Standard Schema interface (`~standard`), which Zod,
 * Valibot, ArkType and others have. Only whether the payload is valid counts: what such a schema would change (defaults,
 * conversions) is not sent, because a message must say exactly what the event says.
 */

import { compileSchema, type JsonSchema, schemaReason } from './schemas.ts';

/** The part of Standard Schema (version 1) that is used here; declared, so that nothing need be installed. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
  };
}

interface StandardResult {
  readonly issues?: readonly StandardIssue[] | undefined;
}

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Why a payload is not valid, as part of a sentence; undefined if it is. */
export type PayloadCheck = (payload: unknown) => string | undefined;

/** Throws if the schema itself is invalid. */
export function payloadCheck(schema: JsonSchema | StandardSchema): PayloadCheck {
  if (isStandard(schema)) return standardCheck(schema);
  const findError = compileSchema(schema);
  return (payload) => {
    const error = findError(payload);
    return error && schemaReason(error);
  };
}

function isStandard(schema: JsonSchema | StandardSchema): schema is StandardSchema {
  return '~standard' in schema;
}

function standardCheck({
  '~standard': { version, vendor, validate },
}: StandardSchema): PayloadCheck {
  if (version !== 1) throw new Error(`Standard Schema version ${String(version)} is not supported`);
  return (payload) => {
    const result = validate(payload);
    if (result instanceof Promise) {
      // Nothing awaits it, so a rejection would go unhandled.
      result.catch(() => {});
      return `the schema (${vendor}) validates asynchronously, and a message is built without waiting; use one without async checks`;
    }
    const [issue] = result.issues ?? [];
    return issue === undefined ? undefined : `${pathOf(issue)} ${issue.message}`;
  };
}

function pathOf({ path = [] }: StandardIssue): string {
  const steps = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return steps.length === 0 ? 'it' : `/${steps.join('/')}`;
}
