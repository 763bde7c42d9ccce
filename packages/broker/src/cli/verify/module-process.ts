/**
 * The process in which producer modules are verified, and its watchdog: a module that does not finish in time, because of
 * a promise, a loop or a blocking call, is killed with everything it has started, and the error names it. A thread would
 * not do, because it cannot be terminated while it waits in a system call.
 */

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../usage.ts';
import { endGroup, endGroupWithUs } from './end-group.ts';
import type { Environment } from './environments.ts';
import type { ModulesToVerify, VerifiedProducer } from './verify-modules.ts';

type Told =
  | { readonly begun: string }
  | { readonly all: VerifiedProducer[] }
  | { readonly failed: string };

const role = 'verify-modules';

export interface ModuleProcess extends Omit<ModulesToVerify, 'areMembersReversed'> {
  readonly environment: Environment;
  readonly secondsMax: number;
}

/** Rejects with an error of exit code 2 if a module takes longer than this to load or to be tested. */
export async function verifyInProcess({
  environment: { env, cwd, areMembersReversed },
  secondsMax,
  ...given
}: ModuleProcess): Promise<VerifiedProducer[]> {
  const modules: ModulesToVerify = { ...given, areMembersReversed };
  const child = fork(fileURLToPath(import.meta.url), [role, JSON.stringify(modules)], {
    env,
    cwd,
    // A process group of its own, so that what the modules start ends with it.
    detached: process.platform !== 'win32',
    serialization: 'advanced',
    // What modules print is not part of the report, and printed once.
    stdio: given.task === 'check' ? ['ignore', 2, 2, 'ipc'] : ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const letGo = endGroupWithUs(child.pid);
  let current = given.files[0] as string;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<VerifiedProducer[]>((resolve, reject) => {
      const fail = (text: string): void => reject(new UsageError(`${current} ${text}`));
      const late = (): void =>
        fail(`did not end within ${secondsMax} s (--timeout) and was killed.`);
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
      // The module awaited a promise that never settles, or called process.exit().
      child.on('exit', () => fail('ended its process before it could be verified.'));
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
  // The parent is gone.
  process.on('disconnect', () => process.exit());
  // Lets the process end if a module has nothing left to wait for.
  process.channel?.unref();
  const modules = JSON.parse(process.argv[3] as string) as ModulesToVerify;
  const { verifyModules } = await import('./verify-modules.ts');
  tell({ all: await verifyModules(modules, (begun) => tell({ begun })) });
}
