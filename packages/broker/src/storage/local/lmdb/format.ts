/**
 * The format of the store, by number, in a record of its own. A store of an older format is upgraded at the start, step
 * by step, each step one transaction; one of a newer format is refused, because this program would misread it.
 */

import { DataError, damaged } from './data-error.ts';
import type { Environment } from './environment.ts';
import { nameKeyOf } from './keys.ts';
import type { Put } from './lmdb-file.ts';

/**
 * 1: each content has a record of its own. 2: contents share records (content-run.ts). 3: window entries are found by a keyed
 * digest of their id (block.ts). 4: commits can be in the journal only (environment.ts). What the older ones wrote is still read,
 * so nothing is converted.
 */
export const currentFormat = 4;

/** Upgrades a store of format n to n + 1, by n; what it writes is committed together with the new number. */
export type Upgrade = (environment: Environment, put: Put) => void;

export const upgrades: Readonly<Record<number, Upgrade>> = {
  1: () => {},
  2: () => {},
  3: () => {},
};

export interface Formats {
  readonly current: number;
  readonly upgrades: Readonly<Record<number, Upgrade>>;
}

/** Older versions know no journal: they must find in LMDB's file that they are too old. */
const inFile = { isDirect: true };

export async function bringUpToDate(
  environment: Environment,
  { current, upgrades: steps }: Formats = { current: currentFormat, upgrades },
): Promise<void> {
  let format = knownFormat(environment, current);
  if (format === undefined) {
    await environment.write((put) => put(key(), bytesOf(current)), inFile);
    return;
  }
  for (; format < current; format += 1) {
    const step = steps[format];
    const next = format + 1;
    if (step === undefined) throw new Error(`no upgrade from format ${format}`);
    await environment.write((put) => {
      step(environment, put);
      put(key(), bytesOf(next));
    }, inFile);
  }
}

/** The store's format; undefined if it is empty. Throws DataError if this program cannot read it. */
export function knownFormat(
  environment: Environment,
  current: number = currentFormat,
): number | undefined {
  const format = formatOf(environment);
  if (format === undefined || format <= current) return format;
  throw new DataError(
    `The data in ${environment.directory} was written by a newer OnceMQ (format ${format}; this version reads up to ${current}). Upgrade OnceMQ, or choose another directory.`,
  );
}

/** The store's format; undefined if it is empty. */
export function formatOf(environment: Environment): number | undefined {
  const bytes = environment.get(key());
  if (bytes === undefined) {
    if (environment.usage().records === 0) return undefined;
    throw damaged(environment.directory, 'it has records, but no format number');
  }
  const format = Number(bytes.toString('utf8'));
  if (Number.isInteger(format) && format > 0) return format;
  throw damaged(environment.directory, 'its format number is not valid');
}

function key(): Buffer {
  return nameKeyOf('store', 'format');
}

function bytesOf(format: number): Buffer {
  return Buffer.from(String(format), 'utf8');
}
