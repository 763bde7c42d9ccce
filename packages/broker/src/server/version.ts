/**
 * The version of the package, read from its manifest. The health check, the banner and exported telemetry all take it from
 * here, so that they cannot differ.
 */

import { readFileSync } from 'node:fs';

export const version: string = (
  JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  }
).version;
