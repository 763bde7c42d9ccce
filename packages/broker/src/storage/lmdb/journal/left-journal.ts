/**
 * Reads what an earlier run has left in the journal: the commits that LMDB's file lacks, up to the last usable one, and what
 * is wrong with the rest. A torn end is normal after a crash; a commit that is missing before others is damage.
 */

import { flawsIn, type JournalFlaws } from './journal-damage.ts';
import { type Checkpoint, type JournalIndex, layersOf } from './journal-index.ts';

export interface LeftJournal {
  /** The journal's files, up to the last commit that can be used. */
  readonly files: readonly Buffer[];
  /** Its records, the oldest first. */
  readonly layers: readonly JournalIndex[];
  /** The number of the last commit that can be used. */
  readonly last: number;
  readonly flaws: Flaws;
}

interface Flaws extends JournalFlaws {
  /** Whether a power cut may have taken commits that were answered. */
  readonly isExpected: boolean;
  /** Why it is not known which commits LMDB's file has. */
  readonly unknown: string | undefined;
}

export const noFlaws: Flaws = { cutOff: 0, isTorn: false, isExpected: false, unknown: undefined };

export const nothingLeft: LeftJournal = { files: [], layers: [], last: 0, flaws: noFlaws };

/** `checkpointed`: which frame LMDB's file has last; undefined if there was never a journal. */
export function readLeft(
  files: readonly Buffer[],
  checkpointed: Checkpoint | undefined,
): LeftJournal {
  if (checkpointed === undefined) return { ...nothingLeft, files };
  const found = layersOf(files, checkpointed);
  const { layers, last, ends } = found;
  const isExpected = checkpointed.durability === 'os';
  return {
    files: files.map((bytes, index) => bytes.subarray(0, ends[index])),
    layers,
    last,
    flaws: { ...noFlaws, ...flawsIn(files, checkpointed, found), isExpected },
  };
}

/** Returns what is damaged. Calls `onNotice` with what is missing, if no client was told that it is durable. */
export function damageOf(
  { cutOff, isTorn, isExpected, unknown }: Flaws,
  onNotice: (text: string) => void,
): string | undefined {
  if (unknown !== undefined) {
    return `${unknown}, so the commits that are only in the journal are lost`;
  }
  if (isTorn) {
    onNotice(
      'the last commit in the journal is not whole and was left out: the server was stopped while it was written and had not answered it, or it is damaged',
    );
  }
  if (cutOff === 0) return undefined;
  const commits = cutOff === 1 ? 'a later commit' : `${cutOff} later commits`;
  const what = `the journal lacks a commit, and ${commits} cannot be used without it`;
  if (!isExpected) return what;
  onNotice(`${what}, as can happen after a power cut with --durability os`);
  return undefined;
}
