// Prometheus's promtool, which checks and tests docs/telemetry/prometheus-rules.yml.
//
//   promtool.js              fetches it if there is none, and prints one line about it
//   promtool.js --find       for the tests: prints its path as JSON (null for none); fetches nothing
//
// Any on the machine will do: PROMTOOL_PATH first, then the path. A missing one comes from Debian's package, unpacked into
// .clients and not installed: installing it would start a Prometheus. Every step has a timeout and may fail; the script
// then says why.

import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { downloadWithApt } from './apt-get.ts';
import { run } from './run-command.ts';

const startMsMax = 20_000;
const unpackMsMax = 120_000;
const why = 'promtool tests the rules for Prometheus';

const folder = fileURLToPath(new URL('../../.clients/prometheus', import.meta.url));
const unpacked = join(folder, 'usr', 'bin', 'promtool');

if (process.argv[2] === '--find') {
  console.log(JSON.stringify((await find()) ?? null));
} else {
  const present = await find();
  const complaint = present === undefined ? await fetchPackage() : undefined;
  const found = present ?? (await find());
  console.log(
    found === undefined
      ? `promtool: not available: ${complaint ?? 'fetched, but it does not start'}`
      : `promtool: ${present === undefined ? 'fetched' : 'present'}: ${found}`,
  );
}

async function find(): Promise<string | undefined> {
  for (const path of [process.env['PROMTOOL_PATH'], 'promtool', unpacked]) {
    if (path !== undefined && (await run([path, '--version'], {}, startMsMax)).ok) return path;
  }
  return undefined;
}

/** Returns undefined, or why it failed. */
async function fetchPackage(): Promise<string | undefined> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const complaint = await downloadWithApt('prometheus', folder, why);
  if (complaint !== undefined) return `apt-get: ${complaint}`;
  const [archive = ''] = readdirSync(folder).filter((name) => name.endsWith('.deb'));
  const unpacking = await run(['dpkg-deb', '-x', archive, '.'], {}, unpackMsMax, folder);
  rmSync(join(folder, archive), { force: true });
  return unpacking.ok ? undefined : `dpkg-deb: ${unpacking.complaint}`;
}
