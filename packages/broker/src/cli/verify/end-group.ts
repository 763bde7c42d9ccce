/**
 * Ends a process that was started in a group of its own, and all that it has started in turn. What has left the group, as
 * daemons do, is not found.
 */

export function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
