// Writes the JSON Schemas that the toolkit uses to packages/toolkit/schemas/*.json, published for programs in other
// languages.
//
// `npm run docs` runs it; test/schemas.test.ts fails if the files are out of date.

import { mkdirSync, writeFileSync } from 'node:fs';
import { contractSchema, envelopeSchema, keyedSchema, telemetrySchema } from '@oncemq/toolkit';

const folder = 'packages/toolkit/schemas';
const schemas = {
  contract: contractSchema,
  envelope: envelopeSchema,
  keyed: keyedSchema,
  telemetry: telemetrySchema,
};

mkdirSync(folder, { recursive: true });
for (const [name, schema] of Object.entries(schemas)) {
  writeFileSync(`${folder}/${name}.schema.json`, `${JSON.stringify(schema, undefined, 2)}\n`);
}
