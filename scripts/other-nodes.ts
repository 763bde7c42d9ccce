/**
 * Other Node.js majors than the one that runs this: npm has Node itself as packages of prebuilt programs. They are fetched
 * into the folder .nodes, pinned and without install scripts; what is there is used again.
 *
 * Tests on such a program find it first in the path, so that what they start as `node` is the same. The build stays that of
 * the Node which made it.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { refusalToInstall } from './installs.ts';
import { run } from './run-command.ts';

/** The newest of each major that npm has for the usual machines. */
export const otherVersions: readonly string[] = ['22.23.3', '24.21.0'];

const installMsMax = 300_000;
const isWindows = process.platform === 'win32';

/** Runs `npm test` without its build on that program; returns the exit code. */
export function testOn(program: string, args: readonly string[]): number {
  const path = [dirname(program), process.env['PATH'] ?? ''].join(delimiter);
  const { status } = spawnSync(program, [join('.build', 'scripts', 'test.js'), ...args], {
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
  return status ?? 1;
}

/** Returns undefined, or why it failed. */
export async function fetchNode(version: string): Promise<string | undefined> {
  if (existsSync(programOf(version))) return undefined;
  const folder = folderOf(version);
  const name = `${packageName()}@${version}`;
  const why = 'the tests run on every Node.js major that OnceMQ promises';
  const refusal = refusalToInstall({ what: name, where: folder, why });
  if (refusal !== undefined) return refusal;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // A project of its own, so that npm leaves the repository's alone.
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = ['npm', 'install', ...quiet, '--save-exact', name];
  const { ok, complaint } = await run(npm, {}, installMsMax, folder);
  if (!ok) return `${npm.join(' ')}: ${complaint}`;
  return existsSync(programOf(version)) ? undefined : `${name} has no program`;
}

export function programOf(version: string): string {
  const program = isWindows ? 'node.exe' : 'node';
  return join(folderOf(version), 'node_modules', packageName(), 'bin', program);
}

function folderOf(version: string): string {
  return resolve('.nodes', version);
}

function packageName(): string {
  return `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
}
