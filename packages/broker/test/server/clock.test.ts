/**
 * Clocks never go back: not before the time that is kept with the data, and not when the system clock is set back. These
 * tests read real time, but never wait for it.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { manualClock, realClock, virtualClock } from '../../src/server/clock.ts';
import { startTestServer } from '../../src/testing.ts';
import { ServerProcess } from '../support/server-process.ts';

const hourMs = 3_600_000;

for (const open of [realClock, virtualClock, manualClock]) {
  test(`a ${open().kind} clock starts where the kept data left off, even ahead of the machine's`, () => {
    const kept = Date.now() + hourMs;
    const clock = open();
    clock.notBefore(kept);
    assert.ok(clock.now() >= kept);
    assert.ok(clock.now() < kept + hourMs);
  });

  test(`a ${open().kind} clock is not moved by older data`, () => {
    const clock = open();
    clock.notBefore(Date.now() - hourMs);
    assert.ok(Math.abs(clock.now() - Date.now()) < hourMs / 2);
  });
}

test("a real clock keeps running when the machine's is set back", (t) => {
  const clock = realClock();
  const before = clock.now();
  const wall = Date.now;
  t.mock.method(Date, 'now', () => wall() - hourMs);
  assert.ok(clock.now() >= before);
  clock.notBefore(before + hourMs);
  assert.ok(clock.now() >= before + hourMs);
});

test("a start on data that is ahead of the machine's clock says by how much", async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'oncemq-clock-'));
  t.after(() => rmSync(data, { recursive: true }));
  const leadOf = async (): Promise<string | undefined> => {
    const server = await ServerProcess.start(['--data', data]);
    assert.equal(await server.kill('SIGTERM'), 0);
    return /^oncemq: the clock is (\S+) s ahead of the machine's/m.exec(server.said())?.[1];
  };
  assert.equal(await leadOf(), undefined);
  const tested = await startTestServer({ data });
  await tested.clock.advance(86_400);
  await fetch(`${tested.url}/?Action=CreateQueue&QueueName=jobs`);
  await tested.close();
  assert.match((await leadOf()) ?? '', /^86,[34]\d\d$/);
  assert.match((await leadOf()) ?? '', /^86,[34]\d\d$/, 'a restart does not end it');
});
