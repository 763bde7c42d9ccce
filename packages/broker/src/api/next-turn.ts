/**
 * Gives way to other requests in the middle of work that takes many milliseconds. Of all that wait here, one goes on in each
 * turn of the event loop. With `setImmediate` all of them would go on in the same turn: eighty answers of megabytes, made in
 * pieces of 25 ms, would make turns of two seconds. What waits is bounded by the requests that are under way.
 */

const waiting: (() => void)[] = [];

/** Resolves in a turn of its own, after those that wait already. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(goOn);
}
