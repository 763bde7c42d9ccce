/**
 * The three clocks. Time never goes back on any of them: the engine's order rests on it, so when the machine's clock is
 * set back, ours stands still until it has caught up.
 */

import type { Clock } from '../storage/clock.ts';

export type { Clock };

export function realClock(): Clock {
  let last = 0;
  return {
    kind: 'real',
    now: () => {
      last = Math.max(last, Date.now());
      return last;
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
  return {
    kind: 'virtual',
    now,
    moveTo: (time) => {
      aheadMs += Math.max(0, time - now());
    },
  };
}

/** Stands still until it is moved. */
export function manualClock(start: number = Date.now()): Clock {
  let time = start;
  return {
    kind: 'manual',
    now: () => time,
    moveTo: (later) => {
      time = Math.max(time, later);
    },
  };
}
