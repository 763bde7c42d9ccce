/**
 * Clocks never go back: not before the time that is kept with the data, and not when the system clock is set back. These
 * tests read real time, but never wait for it.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock, realClock, virtualClock } from '../../src/server/clock.ts';

const hourMs = 3_600_000;

for (const open of [realClock, virtualClock, manualClock]) {
  test(`a ${open().kind} clock starts where the kept data left off, be it ahead of the machine's`, () => {
    const kept = Date.now() + hourMs;
    const clock = open();
    clock.notBefore(kept);
    assert.ok(clock.now() >= kept);
    assert.ok(clock.now() < kept + hourMs);
  });

  test(`a ${open().kind} clock is not moved by data of the past`, () => {
    const clock = open();
    clock.notBefore(Date.now() - hourMs);
    assert.ok(Math.abs(clock.now() - Date.now()) < hourMs / 2);
  });
}

test("a real clock runs on when the machine's is set back", (t) => {
  const clock = realClock();
  const before = clock.now();
  const wall = Date.now;
  t.mock.method(Date, 'now', () => wall() - hourMs);
  assert.ok(clock.now() >= before);
  clock.notBefore(before + hourMs);
  assert.ok(clock.now() >= before + hourMs);
});
