/**
 * Distinguishes damage from a torn end. A crash can leave the last commit of the journal half written, and nobody was told
 * that it is durable. But each commit is on disk before the next one is written. So if a commit is incomplete and a complete
 * one of the same run follows, the journal is damaged. It is damaged too if LMDB's file is older than the journal.
 *
 * Behind the last commit the file still has bytes of an earlier use. Frames of the same run have smaller numbers there; frames
 * of another run can have any number, even the next one, but are complete.
 */

import { type FrameHead, frameAt, headAt, headBytes, runAt } from './frame.ts';
import type { Checkpoint, JournalLayers } from './journal-index.ts';

export interface JournalFlaws {
  /** How many whole commits follow one that is missing. */
  readonly cutOff: number;
  /** Whether the last commit is there, but not whole. */
  readonly isTorn: boolean;
}

/** Direct commits have numbers too, but there are never this many between two frames. */
const numbersSkippedMax = 1_000_000;

export function flawsIn(
  files: readonly Buffer[],
  { run }: Checkpoint,
  { last, ends }: JournalLayers,
): JournalFlaws {
  let cutOff = 0;
  for (const bytes of files) cutOff += wholeFramesAfter(bytes, run, last);
  const isTorn = files.some((bytes, index) => isBegunAt(bytes, ends[index] ?? 0, run, last));
  return { cutOff, isTorn: cutOff === 0 && isTorn };
}

/** How many frames of the run, anywhere in the bytes, have a greater number. */
function wholeFramesAfter(bytes: Buffer, run: number, last: number): number {
  const mark = Buffer.alloc(8);
  mark.writeDoubleLE(run);
  let count = 0;
  for (
    let found = bytes.indexOf(mark, runAt);
    found !== -1;
    found = bytes.indexOf(mark, found + 1)
  ) {
    const at = found - runAt;
    const isLater = at + headBytes <= bytes.length && headAt(bytes, at).number > last;
    if (isLater && frameAt(bytes, at) !== undefined) count += 1;
  }
  return count;
}

/** Whether the head of a frame that follows the last one is here, with one wrong field at most. A whole one is another run's. */
function isBegunAt(bytes: Buffer, at: number, run: number, last: number): boolean {
  if (at + headBytes > bytes.length || frameAt(bytes, at) !== undefined) return false;
  const head: FrameHead = headAt(bytes, at);
  const isNumbered = head.number > last && head.number <= last + numbersSkippedMax;
  const right = [head.run === run, head.after === last, isNumbered];
  return right.filter(Boolean).length >= 2;
}
