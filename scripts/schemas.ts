// Writes the JSON Schemas that the toolkit publishes, from the ones that it uses: packages/toolkit/schemas/*.json, for
// programs in other languages.
//
// `npm run docs` runs it; test/schemas.test.ts says when it should have been run.

import { mkdirSync, writeFileSync } from 'node:fs';
import { envelopeSchema, telemetrySchema } from '@oncemq/toolkit';

const folder = 'packages/toolkit/schemas';
const schemas = { envelope: envelopeSchema, telemetry: telemetrySchema };

mkdirSync(folder, { recursive: true });
for (const [name, schema] of Object.entries(schemas)) {
  writeFileSync(`${folder}/${name}.schema.json`, `${JSON.stringify(schema, undefined, 2)}\n`);
}
