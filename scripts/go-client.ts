// The AWS SDKs for Go, one of the clients of clients.ts: both versions are in one program, the bridge that
// the tests drive (packages/broker/test/sdk/go-bridge), which is built into the folder .clients/go.
//
// The program's name contains a hash of its sources, so an outdated build is never used. Go comes from the
// path, or from Debian; go.mod pins SDK versions that Debian's Go can build.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installWithApt } from './apt-get.ts';
import type { Found, OtherClient } from './client-program.ts';
import { refusalToInstall } from './installs.ts';
import { run } from './run-command.ts';

const versionMsMax = 20_000;
const buildMsMax = 300_000;
const why = 'tests drive the server with the AWS SDKs for Go';

const sources = fileURLToPath(new URL('../../packages/broker/test/sdk/go-bridge', import.meta.url));
const folder = fileURLToPath(new URL('../../.clients/go', import.meta.url));

export const goClient: OtherClient = { name: 'aws-sdk-go', find, install };

async function find(): Promise<Found> {
  const program = programPath();
  if (!existsSync(program)) return {};
  return {
    query: { command: [program, 'query'], env: {} },
    json: { command: [program, 'json'], env: {} },
  };
}

async function install(): Promise<string | undefined> {
  const where = `${folder} and Go's module cache`;
  const refusal = refusalToInstall({ what: 'the AWS SDKs for Go', where, why });
  if (refusal !== undefined) return refusal;
  if (!(await run(['go', 'version'], {}, versionMsMax)).ok) {
    const complaint = await installWithApt(['golang-go', 'ca-certificates'], why);
    if (complaint !== undefined) return `it needs Go 1.19 or newer; apt-get: ${complaint}`;
  }
  rmSync(folder, { recursive: true, force: true });
  // Without cgo, no C compiler is needed. The user's own build settings must not affect this build.
  const env = { CGO_ENABLED: '0', GOFLAGS: '', GOWORK: 'off' };
  const build = ['go', 'build', '-buildvcs=false', '-o', programPath(), '.'];
  const { ok, complaint } = await run(build, env, buildMsMax, sources);
  return ok ? undefined : `go build, which needs Go 1.19 or newer: ${complaint}`;
}

function programPath(): string {
  const hash = createHash('sha256');
  for (const name of ['main.go', 'go.mod', 'go.sum'])
    hash.update(readFileSync(join(sources, name)));
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return join(folder, `bridge-${hash.digest('hex').slice(0, 16)}${suffix}`);
}
