// The published JSON Schemas match the code: each file says what the toolkit checks. `npm run docs` rewrites them.
//
// Files and schemas are compared as values, because the formatter decides the layout of the files.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { contractSchema, envelopeSchema, keyedSchema, telemetrySchema } from '@oncemq/toolkit';

for (const [name, schema] of Object.entries({
  contract: contractSchema,
  envelope: envelopeSchema,
  keyed: keyedSchema,
  telemetry: telemetrySchema,
})) {
  test(`the published schema of ${name} is the one in use`, () => {
    const text = readFileSync(`packages/toolkit/schemas/${name}.schema.json`, 'utf8');
    assert.deepEqual(JSON.parse(text), schema, 'run npm run docs');
  });
}
