/**
 * The three clocks. None of them ever goes back, since the engine's ordering depends on it: when the system clock is set
 * back, ours continues from where it was, driven by the monotonic clock.
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
      // Called first, because now() may change the offset.
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
