// The published JSON Schemas about the code: each file says what the toolkit checks. `npm run docs` writes them anew.
//
// The two are compared as values; how the files are laid out is the formatter's.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { envelopeSchema, telemetrySchema } from '@oncemq/toolkit';

for (const [name, schema] of Object.entries({
  envelope: envelopeSchema,
  telemetry: telemetrySchema,
})) {
  test(`the published schema of ${name} is the one that is used`, () => {
    const text = readFileSync(`packages/toolkit/schemas/${name}.schema.json`, 'utf8');
    assert.deepEqual(JSON.parse(text), schema, 'run npm run docs');
  });
}
