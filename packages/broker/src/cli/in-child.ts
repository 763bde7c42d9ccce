/**
 * Reads a data directory in a child process: LMDB trusts its file, and a damaged page can crash the process that reads it.
 * The parent then explains what happened, and the command can clean up.
 *
 * The child runs the same command with the same arguments, on the same terminal.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { DataError, damaged } from '../storage/lmdb/tools.ts';
import { childEnvironment } from './is-child.ts';

/** The signals that end a process that reads invalid memory or is aborted by LMDB. */
const signalsOfDamage: readonly string[] = ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV'];

const signalsToPass = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs the command of this process again in a child that reads the directory; its exit code becomes ours. */
export async function runInChild(directory: string): Promise<void> {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, ...childEnvironment },
  });
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of signalsToPass) process.on(signal, pass);
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  for (const name of signalsToPass) process.off(name, pass);
  if (signal !== null) {
    if (signalsOfDamage.includes(signal))
      throw damaged(directory, `a process that read it ended with ${signal}`);
    throw new DataError(`The process that read ${directory} was stopped by ${signal}.`);
  }
  process.exitCode = code ?? 1;
}
