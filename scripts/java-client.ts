// The AWS SDK for Java v2, one of the clients of clients.ts: the bridge that the tests drive
// (packages/broker/test/sdk/java-bridge), built with a new SDK, which speaks JSON, and with an old one, which
// speaks Query. Maven downloads the SDKs into the folder .clients/java, and javac compiles the bridge there.
//
// The folder's name contains a hash of the sources, so an outdated build is never used. The JDK and Maven
// come from the path, or from Debian.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installWithApt } from './apt-get.ts';
import type { Found, OtherClient, Wire } from './client-program.ts';
import { refusalToInstall } from './installs.ts';
import { run } from './run-command.ts';

const versionMsMax = 20_000;
const mavenMsMax = 300_000;
const compileMsMax = 120_000;
const why = 'tests drive the server with the AWS SDK for Java';

const wires: readonly Wire[] = ['query', 'json'];

const sources = fileURLToPath(
  new URL('../../packages/broker/test/sdk/java-bridge', import.meta.url),
);
const pom = join(sources, 'pom.xml');
const program = join(sources, 'Bridge.java');
const folder = fileURLToPath(new URL('../../.clients/java', import.meta.url));

/** The process lives for seconds, so a fast start matters more than fast code. */
const startOptions = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

export const javaClient: OtherClient = { name: 'aws-sdk-java', find, install };

async function find(): Promise<Found> {
  const found: Found = {};
  if (!(await run(['java', '-version'], {}, versionMsMax)).ok) return found;
  for (const wire of wires) {
    if (!existsSync(join(builtFolder(wire), 'Bridge.class'))) continue;
    const command = ['java', ...startOptions, '-cp', classPath(wire), 'Bridge'];
    found[wire] = { command, env: {} };
  }
  return found;
}

async function install(): Promise<string | undefined> {
  const where = `${folder} and Maven's repository in your home`;
  const refusal = refusalToInstall({ what: 'the AWS SDK for Java', where, why });
  if (refusal !== undefined) return refusal;
  if (!(await haveTools())) {
    const complaint = await installWithApt(['default-jdk-headless', 'maven'], why);
    if (complaint !== undefined) return `it needs JDK 17 or newer and Maven; apt-get: ${complaint}`;
  }
  rmSync(folder, { recursive: true, force: true });
  for (const wire of wires) {
    const jars = `-DoutputDirectory=${jarFolder(wire)}`;
    const get = ['mvn', '-B', '-q', '-f', pom, '-P', wire, 'dependency:copy-dependencies', jars];
    // Maven prints errors on standard output, which `run` does not collect.
    const { ok } = await run(get, {}, mavenMsMax);
    if (!ok) return `Maven did not get the SDK; to see why: ${get.join(' ')}`;
    const compile = ['javac', '-nowarn', '-cp', classPath(wire), '-d', builtFolder(wire), program];
    const compiled = await run(compile, {}, compileMsMax);
    if (!compiled.ok) return `javac, which must be 17 or newer: ${compiled.complaint}`;
  }
  return undefined;
}

async function haveTools(): Promise<boolean> {
  const tools = [
    ['java', '-version'],
    ['javac', '-version'],
    ['mvn', '-version'],
  ];
  const runs = await Promise.all(tools.map((tool) => run(tool, {}, versionMsMax)));
  return runs.every(({ ok }) => ok);
}

function classPath(wire: Wire): string {
  return [builtFolder(wire), join(jarFolder(wire), '*')].join(delimiter);
}

function jarFolder(wire: Wire): string {
  return join(builtFolder(wire), 'jars');
}

function builtFolder(wire: Wire): string {
  const hash = createHash('sha256').update(readFileSync(pom)).update(readFileSync(program));
  return join(folder, `${wire}-${hash.digest('hex').slice(0, 16)}`);
}
