/**
 * The thread that producer modules are verified on, and who watches it: a module that does not come to its end in time, be
 * it by a promise or by a loop, is ended with the thread and told by its name. No process is left behind, since there is
 * none.
 */

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { UsageError } from '../usage.ts';
import type { Verified } from './report.ts';

type Told = { readonly begun: string } | { readonly all: Verified[] };

/** Ends with an error of exit code 2 when a module takes longer than this, to load or to be tested. */
export async function verifyInTime(
  files: readonly string[],
  secondsMax: number,
): Promise<Verified[]> {
  if (files.length === 0) return [];
  const worker = new Worker(new URL(import.meta.url), { workerData: { files } });
  let current = files[0] as string;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Verified[]>((resolve, reject) => {
      const fail = (text: string): void => reject(new UsageError(`${current} ${text}`));
      const late = (): void =>
        fail(`did not come to an end within ${secondsMax} s, and was ended (--timeout).`);
      worker.on('message', (told: Told) => {
        if ('all' in told) return resolve(told.all);
        current = told.begun;
        clearTimeout(timer);
        timer = setTimeout(late, secondsMax * 1000);
      });
      worker.on('error', ({ message }) => fail(`failed: ${message}`));
      // An awaited promise that nothing will ever settle, or process.exit().
      worker.on('exit', () => fail('ended before it was verified.'));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

if (!isMainThread && parentPort !== null) {
  const { files } = workerData as { files: readonly string[] };
  const tell = (told: Told): void => parentPort?.postMessage(told);
  const { verifyModules } = await import('./verify-modules.ts');
  tell({ all: await verifyModules(files, (begun) => tell({ begun })) });
}
