/**
 * The format of the store: a number, in a record of its own. A store of an older format is upgraded at the start, step by
 * step. A store of a newer format is refused, because this program would misread it.
 */

import { DataError, damaged } from './data-error.ts';
import type { Environment } from './environment.ts';
import type { Put } from './lmdb-file.ts';

/**
 * 1: each content has a record of its own. 2: contents share records (content-pack.ts). 3: window entries are found by a keyed
 * digest of their id (block.ts). 4: commits can be in the journal only (environment.ts). 5: each record has a checksum (seal.ts),
 * which the upgrade adds; beyond that, what the older ones wrote is still read.
 */
export const currentFormat = 5;

/** From this one on, records have checksums. */
export const firstSealedFormat = 5;

/** Upgrades a store of format n to n + 1, by n, beyond the first that has checksums; it is committed with the new number. */
export type Upgrade = (environment: Environment, put: Put) => void;

export interface Formats {
  readonly current: number;
  readonly upgrades: Readonly<Record<number, Upgrade>>;
}

/** `onProgress` is called now and then with the number of records that were converted. */
export async function bringUpToDate(
  environment: Environment,
  { current, upgrades }: Formats = { current: currentFormat, upgrades: {} },
  onProgress: (records: number) => void = () => {},
): Promise<void> {
  let format = knownFormat(environment, current);
  if (format === undefined) {
    await environment.write(() => {}, { format: current });
    return;
  }
  if (!environment.isSealed) {
    await environment.sealRecords(firstSealedFormat, onProgress);
    format = firstSealedFormat;
  }
  for (; format < current; format += 1) {
    const step = upgrades[format];
    if (step === undefined) throw new Error(`no upgrade from format ${format}`);
    await environment.write((put) => step(environment, put), { format: format + 1 });
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
  const { format } = environment;
  if (format !== undefined || environment.usage().records === 0) return format;
  throw damaged(environment.directory, 'it has records, but no format number');
}

/**
 * The text of the format's record, the only one without a checksum, because versions without checksums must be able to read it.
 * They read `5.0` as the number 5, and no change of a single byte makes it a number that they or this version would accept.
 */
export function formatText(format: number): string {
  return format < firstSealedFormat ? String(format) : `${format}.0`;
}

/** Undefined if it is not a format's text. */
export function formatIn(text: string): number | undefined {
  const format = Number.parseInt(text, 10);
  return format > 0 && formatText(format) === text ? format : undefined;
}
