/**
 * Cleans up what must not outlive a run, however it ends: servers, loads and the folders they wrote to. Benchmarks clean
 * up themselves when all goes well; this is for errors and for Ctrl-C.
 */

const left: Set<() => void> = new Set();

/** Returns a function that runs the action now instead of at exit; a second call does nothing. */
export function atExit(action: () => void): () => void {
  const once = (): void => {
    if (left.delete(once)) action();
  };
  left.add(once);
  return once;
}

process.on('exit', () => {
  for (const action of [...left].reverse()) action();
});
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
