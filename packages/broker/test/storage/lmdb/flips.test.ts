/**
 * A flipped bit anywhere in a data directory either changes no answer, or somebody is told: the start, the request that
 * meets it, or the log. Each flip is tried on a copy of a small store, in other processes (flip-worker.ts).
 *
 * By default a sample, chosen anew each time; ONCEMQ_FLIPS=N tries a sample of N, ONCEMQ_FLIPS=bytes a bit of every byte, and
 * ONCEMQ_FLIPS=bits every bit.
 */

import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { framesIn } from '../../../src/storage/lmdb/journal/frame.ts';
import { answersOf, writeStore } from './flip-scenario.ts';
import type { Effect, Flip, Task } from './flip-worker.ts';

const wanted = process.env['ONCEMQ_FLIPS'] ?? '250';
/** In memory where there is such a place: each flip writes a store anew, and nobody needs it on a disk. */
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
/** A process that takes longer for one flip hangs. */
const flipMsMax = 30_000;

for (const left of ['killed', 'stopped'] as const) {
  test(`no flipped bit in the data of a server that was ${left} changes an answer in silence`, () =>
    withDirectory(async (path) => {
      const [source, template, scratch] = ['source', 'template', 'scratch'].map((name) =>
        join(path, name),
      ) as [string, string, string];
      await writeStore(source, () => cpSync(source, template, { recursive: true }));
      if (left === 'stopped') cpSync(source, template, { recursive: true, force: true });
      if (left === 'stopped')
        for (const name of ['journal-1', 'journal-2']) rmSync(join(template, name));
      rmSync(join(template, 'lock.mdb'));
      for (const name of readdirSync(template).filter((file) => file.startsWith('journal'))) {
        const file = join(template, name);
        truncateSync(file, framesIn(readFileSync(file)).at(-1)?.end ?? 0);
      }
      mkdirSync(scratch);
      cpSync(template, join(scratch, 'right'), { recursive: true });
      const answers = await answersOf(join(scratch, 'right'), {});
      const effects = await tryAll(chosen(template), { template, scratch, answers });
      const wrong = effects.filter(({ effect }) => typeof effect === 'object');
      const reported = effects.filter(({ effect }) => effect === 'reported').length;
      console.log(`${effects.length} flips: ${reported} reported, ${wrong.length} silent`);
      assert.deepEqual(wrong.slice(0, 20), []);
      assert.ok(reported > 0);
    }));
}

async function withDirectory(run: (path: string) => Promise<void>): Promise<void> {
  const path = mkdtempSync(join(parent, 'oncemq-test-'));
  try {
    await run(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

/** Bits of all files of the store. */
function chosen(template: string): Flip[] {
  const bytes = readdirSync(template).flatMap((file) =>
    Array.from(readFileSync(join(template, file)), (_, byte) => ({ file, byte })),
  );
  if (wanted === 'bits') {
    return bytes.flatMap((each) => [0, 1, 2, 3, 4, 5, 6, 7].map((bit) => ({ ...each, bit })));
  }
  const all = bytes.map((each) => ({ ...each, bit: Math.floor(Math.random() * 8) }));
  if (wanted === 'bytes') return all;
  return Array.from(
    { length: Number(wanted) },
    () => all[Math.floor(Math.random() * all.length)] as Flip,
  );
}

interface Tried {
  readonly flip: Flip;
  readonly effect: Effect;
}

async function tryAll(flips: readonly Flip[], task: Task): Promise<Tried[]> {
  const left = [...flips];
  const tried: Tried[] = [];
  const work = async (): Promise<void> => {
    let child: ChildProcess | undefined;
    for (let flip = left.pop(); flip !== undefined; flip = left.pop()) {
      if (child === undefined) {
        child = fork(fileURLToPath(new URL('./flip-worker.js', import.meta.url)), {
          stdio: 'ignore',
        });
        child.send(task);
      }
      const effect = await effectIn(child, flip);
      tried.push({ flip, effect });
      if (child.exitCode !== null || child.signalCode !== null) child = undefined;
    }
    child?.kill();
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, work));
  return tried;
}

/** A process that ends without a word has told nobody what is wrong. */
function effectIn(child: ChildProcess, flip: Flip): Promise<Effect> {
  return new Promise((resolve) => {
    const end = (effect: Effect): void => {
      clearTimeout(timeout);
      child.removeAllListeners();
      resolve(effect);
    };
    const timeout = setTimeout(() => child.kill('SIGKILL'), flipMsMax);
    child.once('message', ({ effect }: Tried) => end(effect));
    child.once('exit', (code, signal) => end({ silent: `the process ended: ${signal ?? code}` }));
    child.send(flip);
  });
}
