/**
 * Kills a process that was started in its own process group, with everything that it started in turn. Processes that have
 * left the group, as daemons do, are not found.
 */

import { constants } from 'node:os';

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Kills the group when this process is told to end, since the group gets no signal itself. Returns a function to undo this. */
export function endGroupWithUs(pid: number | undefined): () => void {
  const end = (signal: NodeJS.Signals): void => {
    endGroup(pid);
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of endings) process.on(signal, end);
  return () => {
    for (const signal of endings) process.off(signal, end);
  };
}

export function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}
