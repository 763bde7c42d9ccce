/**
 * Output of results: the machine they come from, files in bench/results/ (neither committed nor linted, since they hold
 * for one machine on one day), and whether expectations were met.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const resultFolder: string = fileURLToPath(
  new URL('../../../bench/results', import.meta.url),
);

export interface Expectation {
  /** What was measured and what was expected, in words. */
  readonly text: string;
  /** Undefined if this run did not measure it. */
  readonly isMet: boolean | undefined;
}

export function machineText(): string {
  const processor = cpus()[0]?.model.trim() ?? 'unknown processor';
  const memory = Math.round(totalmem() / 2 ** 30);
  return `node ${process.version}, ${cpus().length} × ${processor}, ${memory} GiB, ${process.platform}`;
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function printExpectations(expectations: readonly Expectation[]): void {
  print('');
  for (const { text, isMet } of expectations) {
    print(`${text}: ${isMet === undefined ? 'not measured' : isMet ? 'met' : 'MISSED'}`);
  }
}

/** Writes to the requested file, or to `name` in the results folder. */
export function save(name: string, text: string, asked?: string | undefined): void {
  const file = asked ?? join(resultFolder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  print(`written: ${file}`);
}

export function saveJson(name: string, results: object, asked?: string | undefined): void {
  save(name, JSON.stringify({ machine: machineText(), ...results }, undefined, 2), asked);
}
