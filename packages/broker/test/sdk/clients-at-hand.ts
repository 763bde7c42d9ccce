/**
 * The clients that are not npm packages: which of them this machine has, as `scripts/clients.ts` finds them, and what
 * happens to a test whose client is missing. It is skipped by name, with how to get the client; if REQUIRE_CLIENTS is 1,
 * as in `.ci/run`, it fails instead. (The variable has no prefix ONCEMQ_, because a server refuses such variables unless
 * they are settings.)
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { credentials, region, type Wire } from './wire-client.ts';

/** How to start a client: the command with its arguments, and additional environment variables. */
export interface Program {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface ClientsAtHand {
  /** Its usual name. */
  readonly name: string;
  readonly found: Readonly<Partial<Record<Wire, Program>>>;
}

const root = fileURLToPath(new URL('../../../../../', import.meta.url));

export function clientsAtHand(
  name: 'boto3' | 'awscli' | 'aws-sdk-go' | 'aws-sdk-java',
): ClientsAtHand {
  const finder = `${root}.build/scripts/clients.js`;
  const { stdout, stderr, status } = spawnSync(process.execPath, [finder, '--find', name], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return { name, found: JSON.parse(stdout) as ClientsAtHand['found'] };
}

export function describeClient(
  { name, found }: ClientsAtHand,
  wire: Wire,
  body: (program: Program) => void,
): void {
  const title = `${name} that speaks ${wire === 'json' ? 'JSON' : 'Query'}`;
  const program = found[wire];
  if (program !== undefined) {
    describe(title, { concurrency: true }, () => body(program));
    return;
  }
  const missing = `no ${title} is at hand; npm run clients gets one`;
  const skip = process.env['REQUIRE_CLIENTS'] === '1' ? false : missing;
  test(title, { skip }, () => assert.fail(missing));
}

/** The caller's environment without its AWS settings, with dummy ones instead. */
export function environment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_'));
  return {
    ...Object.fromEntries(own),
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_DEFAULT_REGION: region,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: 'none',
    AWS_SHARED_CREDENTIALS_FILE: 'none',
    AWS_PAGER: '',
    PYTHONUTF8: '1',
    ...env,
  };
}
