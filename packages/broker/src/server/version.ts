/**
 * The version of the package, read from its manifest: what the health check, the banner and exported telemetry say.
 * There is one place for it, so that they cannot differ.
 */

import { readFileSync } from 'node:fs';

export const version: string = (
  JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  }
).version;
