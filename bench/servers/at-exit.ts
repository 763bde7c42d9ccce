/**
 * What must not outlive a run, however it ends: servers, loads and the folders they wrote to. Questions give these back
 * themselves when all goes well; this is for an error and for Ctrl-C.
 */

const left: Set<() => void> = new Set();

/** Gives the function that does it now, instead of at the exit; a second call does nothing. */
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
