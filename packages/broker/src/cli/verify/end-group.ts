/**
 * Kills processes that were started in their own process groups, with everything that they started in turn. Processes that
 * have left the group, as daemons do, are not found.
 */

import { constants } from 'node:os';

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The groups that end with this process. */
const groups = new Set<number>();

/** Kills the group when this process is told to end, since the group gets no signal itself. Returns a function to undo this. */
export function endGroupWithUs(pid: number | undefined): () => void {
  if (pid === undefined) return () => {};
  if (groups.size === 0) for (const signal of endings) process.on(signal, endAll);
  groups.add(pid);
  return () => {
    groups.delete(pid);
    if (groups.size === 0) for (const signal of endings) process.off(signal, endAll);
  };
}

function endAll(signal: NodeJS.Signals): void {
  for (const pid of groups) endGroup(pid);
  process.exit(128 + constants.signals[signal]);
}

export function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}
