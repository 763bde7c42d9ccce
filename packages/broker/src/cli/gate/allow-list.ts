/**
 * Exceptions from the gate: a list in the repository of files whose findings of one code are allowed, each with a reason.
 * The reason is required, for the next person who reads the list.
 *
 *   { "allow": [ { "file": "src/legacy/mailer.ts", "code": "send-bypasses-producer", "reason": "goes away with 4.0" } ] }
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../usage.ts';

export const allowFileDefault = 'oncemq-gate.json';

export interface AllowList {
  /** The reason, if the finding is allowed. */
  reasonFor(file: string, code: string): string | undefined;
}

interface Exception {
  readonly file: string;
  readonly code: string;
  readonly reason: string;
}

/** A file named explicitly must exist; the default one need not. */
export function readAllowList(root: string, named: string | undefined): AllowList {
  const path = named ?? join(root, allowFileDefault);
  if (named === undefined && !existsSync(path)) return { reasonFor: () => undefined };
  const exceptions = exceptionsIn(path);
  return {
    reasonFor: (file, code) =>
      exceptions.find((each) => each.file === file && each.code === code)?.reason,
  };
}

function exceptionsIn(path: string): Exception[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new UsageError(`The allow-list ${path} cannot be read: ${(cause as Error).message}`);
  }
  const { allow } = (content ?? {}) as { allow?: unknown };
  if (!Array.isArray(allow)) throw new UsageError(`${path}: allow must be a list.`);
  return allow.map((item: unknown, index) => {
    const {
      file,
      code = 'send-bypasses-producer',
      reason,
    } = (item ?? {}) as Record<string, unknown>;
    const isWhole = [file, code, reason].every(
      (each) => typeof each === 'string' && each.trim() !== '',
    );
    if (!isWhole) throw new UsageError(`${path}: allow[${index}] needs a file and a reason.`);
    return { file, code, reason } as Exception;
  });
}
