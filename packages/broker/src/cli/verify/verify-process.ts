/**
 * The process that producer modules are verified in, and who watches it: a module that does not come to its end in time, be
 * it by a promise, a loop or a call that blocks, is killed with whatever it has started, and told by its name. A thread would
 * not do: it cannot be ended while it waits in a system call.
 */

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../usage.ts';
import { endGroup, endGroupWithUs } from './end-group.ts';
import type { Verified } from './report.ts';

type Told = { readonly begun: string } | { readonly all: Verified[] } | { readonly failed: string };

const role = 'verify-modules';

/** Ends with an error of exit code 2 when a module takes longer than this, to load or to be tested. */
export async function verifyInTime(
  files: readonly string[],
  secondsMax: number,
): Promise<Verified[]> {
  if (files.length === 0) return [];
  const child = fork(fileURLToPath(import.meta.url), [role, ...files], {
    // A group of its own, so that what the modules have started ends with it.
    detached: process.platform !== 'win32',
    serialization: 'advanced',
    // What modules print is no part of the report.
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  const letGo = endGroupWithUs(child.pid);
  let current = files[0] as string;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Verified[]>((resolve, reject) => {
      const fail = (text: string): void => reject(new UsageError(`${current} ${text}`));
      const late = (): void =>
        fail(`did not come to an end within ${secondsMax} s, and was ended (--timeout).`);
      child.on('message', (told: Told) => {
        // A module can send messages, too.
        if (told === null || typeof told !== 'object') return;
        if ('all' in told) resolve(told.all);
        else if ('failed' in told) fail(`failed: ${told.failed}`);
        else {
          current = told.begun;
          clearTimeout(timer);
          timer = setTimeout(late, secondsMax * 1000);
        }
      });
      child.on('error', ({ message }) => fail(`failed: ${message}`));
      // An awaited promise that nothing will ever settle, or process.exit().
      child.on('exit', () => fail('ended before it was verified.'));
    });
  } finally {
    clearTimeout(timer);
    letGo();
    endGroup(child.pid);
  }
}

if (process.send !== undefined && process.argv[2] === role) {
  const tell = (told: Told): void => {
    process.send?.(told);
  };
  process.on('uncaughtException', ({ message }) => tell({ failed: message }));
  // Whoever asked is gone.
  process.on('disconnect', () => process.exit());
  // Of a module that waits for nothing, the process ends.
  process.channel?.unref();
  const { verifyModules } = await import('./verify-modules.ts');
  tell({ all: await verifyModules(process.argv.slice(3), (begun) => tell({ begun })) });
}
