/**
 * Ends a process that was started in a group of its own, and all that it has started in turn. What has left the group, as
 * daemons do, is not found.
 */

import { constants } from 'node:os';

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Should this process be told to end, the group ends with it: it hears nothing of it by itself. Answers how to let it go. */
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
    // It has ended by itself.
  }
}
