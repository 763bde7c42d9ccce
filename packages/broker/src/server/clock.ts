/**
 * The three clocks. Time never goes back on any of them, since the engine's order rests on it: when the machine's clock is
 * set back, ours runs on from where it was, by the monotonic one.
 */

import type { Clock } from '../storage/clock.ts';

export type { Clock };

export function realClock(): Clock {
  let offset = 0;
  const now = (): number => {
    const running = Math.floor(performance.now() + offset);
    const wall = Date.now();
    if (wall <= running) return running;
    offset += wall - running;
    return wall;
  };
  return {
    kind: 'real',
    now,
    notBefore: (time) => {
      // Looked at first: it may set the offset itself.
      const missing = time - now();
      offset += Math.max(0, missing);
    },
    moveTo: () => {
      throw new Error('a real clock cannot be moved');
    },
  };
}

/** Runs at wall speed and can be moved forward. */
export function virtualClock(): Clock {
  const wall = realClock();
  let aheadMs = 0;
  const now = (): number => wall.now() + aheadMs;
  const moveTo = (time: number): void => {
    aheadMs += Math.max(0, time - now());
  };
  return {
    kind: 'virtual',
    now,
    notBefore: moveTo,
    moveTo,
  };
}

/** Stands still until it is moved. */
export function manualClock(start: number = Date.now()): Clock {
  let time = start;
  const moveTo = (later: number): void => {
    time = Math.max(time, later);
  };
  return {
    kind: 'manual',
    now: () => time,
    notBefore: moveTo,
    moveTo,
  };
}
