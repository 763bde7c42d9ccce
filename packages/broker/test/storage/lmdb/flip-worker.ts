/**
 * Flips bits for flips.test.ts, in a process of its own: LMDB trusts its file, and may end the process that reads a damaged
 * one. For each flip it says whether anybody would have noticed.
 */

import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkDirectory } from '../../../src/storage/lmdb/file/check.ts';
import { DataError } from '../../../src/storage/lmdb/file/data-error.ts';
import { answersOf, openStore } from './flip-scenario.ts';

/** The bit of a file of the store. */
export interface Flip {
  readonly file: string;
  readonly byte: number;
  readonly bit: number;
}

/** `none`: all answers are right. `reported`: the start, a request or the log says what is wrong. */
export type Effect = 'none' | 'reported' | { readonly silent: string };

export interface Task {
  readonly template: string;
  readonly scratch: string;
  readonly answers: readonly string[];
}

async function effectOf({ template, scratch, answers }: Task, flip: Flip): Promise<Effect> {
  const directory = join(scratch, `${flip.file}-${flip.byte}-${flip.bit}`);
  const renew = (): void => {
    rmSync(directory, { recursive: true, force: true });
    cpSync(template, directory, { recursive: true });
    const bytes = readFileSync(join(template, flip.file));
    bytes[flip.byte] = (bytes[flip.byte] as number) ^ (1 << flip.bit);
    writeFileSync(join(directory, flip.file), bytes);
  };
  let isReported = false;
  const report = (): void => {
    isReported = true;
  };
  try {
    renew();
    const found = await answersOf(directory, { onNotice: report, onUnreadable: report });
    const at = found.findIndex((answer, index) => answer !== answers[index]);
    if (isReported) return 'reported';
    return at === -1 && found.length === answers.length
      ? 'none'
      : { silent: `${found[at]} instead of ${answers[at]}` };
  } catch (error) {
    const text = String(error);
    if (!(error instanceof DataError) && !/damaged|cannot be read/.test(text))
      return { silent: text };
    return /--accept-loss/.test(text) ? await afterLoss(directory, renew) : 'reported';
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What a start refuses is found by `check`; with the loss accepted it starts, and then nothing is wrong any more. */
async function afterLoss(directory: string, renew: () => void): Promise<Effect> {
  try {
    renew();
    const before = await checkDirectory(directory);
    assert.ok(before.problems.length > 0, 'check finds nothing');
    const notices: string[] = [];
    const onNotice = (text: string): void => void notices.push(text);
    await (await openStore(directory, { acceptsLoss: true, onNotice })).close();
    assert.match(notices.join(), /damaged, and lost: /);
    const after = await checkDirectory(directory);
    // What is lost with a key that is another's now cannot always be told from what was never there.
    assert.deepEqual(
      after.problems.filter((problem) => !/has no content$/.test(problem)),
      [],
    );
    await (await openStore(directory)).close();
    return 'reported';
  } catch (error) {
    return { silent: `after the loss: ${error}` };
  }
}

let task: Task | undefined;
process.on('message', async (message: Task | Flip) => {
  if ('template' in message) task = message;
  else if (task !== undefined)
    process.send?.({ flip: message, effect: await effectOf(task, message) });
});
