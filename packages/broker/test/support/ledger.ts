/**
 * Ledgers in tests: a folder for one, its records, each checked against the published schema, and what `oncemq trace`
 * prints about it.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compileSchema, schemaReason } from '@oncemq/toolkit';
import type { LedgerRecord } from '../../src/server/ledger/record.ts';

const schemaFile = new URL('../../../schemas/ledger.schema.json', import.meta.url);
const findError = compileSchema(JSON.parse(readFileSync(schemaFile, 'utf8')));
/** The command, compiled. */
export const main: string = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-ledger-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function segmentPaths(directory: string): string[] {
  return readdirSync(directory)
    .sort()
    .map((name) => join(directory, name));
}

/** Every record, each checked against the schema. */
export function readLedger(directory: string): LedgerRecord[] {
  const lines = segmentPaths(directory).flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    assert.ok(text.endsWith('\n'), 'whole lines');
    return text.slice(0, -1).split('\n');
  });
  return lines.map((line) => {
    const record = JSON.parse(line) as LedgerRecord;
    const error = findError(record);
    assert.equal(error && schemaReason(error), undefined, line);
    return record;
  });
}

/** Waits until the records on disk are as expected; it reads them repeatedly, since nothing signals when they are. */
export async function untilLedger(
  directory: string,
  isReached: (text: string) => boolean,
): Promise<void> {
  const text = (): string =>
    segmentPaths(directory)
      .map((path) => readFileSync(path, 'utf8'))
      .join('');
  while (!isReached(text())) await new Promise((resolve) => setImmediate(resolve));
}

export interface Traced {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

export async function trace(...args: string[]): Promise<Traced> {
  const env = { PATH: process.env['PATH'] };
  const child = spawn(process.execPath, [main, 'trace', ...args], { env });
  let out = '';
  let error = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    error += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, error };
}
