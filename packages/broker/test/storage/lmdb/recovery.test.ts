/**
 * When a store adds nothing more because the room is needed for removing. And what it tries after a failed commit, and when: small commits at growing intervals while it is frozen, a large one when
 * the disk has room or something was removed. No time passes here; each call of `next` is one of its seconds.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Attempt, Recovery } from '../../../src/storage/lmdb/commit/recovery.ts';

const full = (): boolean => false;
const roomy = (): boolean => true;

/** The seconds until something is tried on a full disk, and what. */
function untilNext(recovery: Recovery): [seconds: number, attempt: Attempt] {
  for (let seconds = 1; ; seconds += 1) {
    const attempt = recovery.next(full);
    if (attempt !== undefined) return [seconds, attempt];
  }
}

test('on a full disk a small commit is tried first, after which messages can be received and removed', () => {
  const recovery = new Recovery();
  assert.deepEqual([recovery.reason, recovery.isFrozen], [undefined, false]);
  recovery.failed('the disk is full', 100);
  assert.deepEqual([recovery.reason, recovery.isFrozen], ['the disk is full', true]);
  assert.deepEqual(untilNext(recovery), [1, 'drain']);
  recovery.succeeded('drain');
  assert.deepEqual([recovery.reason, recovery.isFrozen], ['the disk is full', false]);
  assert.equal(recovery.next(full), undefined, 'nothing was removed yet');
});

test('when something was removed, a commit as large as the lost one is tried', () => {
  const recovery = new Recovery();
  recovery.failed('the disk is full', 1_000_000);
  assert.equal(recovery.attemptBytes, 1_000_000);
  recovery.succeeded('drain');
  recovery.committed();
  assert.equal(recovery.next(full), 'add');
  recovery.attemptFailed('add', 'the disk is full');
  assert.deepEqual([recovery.reason, recovery.isFrozen], ['the disk is full', false]);
  assert.equal(recovery.next(full), undefined, 'not again before more is removed');
  recovery.committed();
  assert.equal(recovery.next(full), 'add');
  recovery.succeeded('add');
  assert.deepEqual([recovery.reason, recovery.isFrozen], [undefined, false]);
});

test('when the disk has room for twice the lost commit, that is tried at once', () => {
  const recovery = new Recovery();
  recovery.failed('the disk is full', 1_000_000);
  const asked: number[] = [];
  const attempt = recovery.next((bytes) => {
    asked.push(bytes);
    return true;
  });
  assert.deepEqual([attempt, asked], ['add', [2_000_000]]);
  recovery.attemptFailed('add', 'an I/O error');
  assert.deepEqual([recovery.reason, recovery.isFrozen], ['an I/O error', true]);
  assert.equal(recovery.next(roomy), 'drain', 'there may be room that the store cannot use');
  recovery.attemptFailed('drain', 'an I/O error');
  assert.equal(recovery.next(roomy), 'add');
});

test('each new freeze waits twice as long, up to a minute, until a full recovery', () => {
  const recovery = new Recovery();
  const waits: number[] = [];
  for (let time = 0; time < 9; time += 1) {
    recovery.failed('the disk is full', 100);
    const [seconds] = untilNext(recovery);
    waits.push(seconds);
    recovery.succeeded('drain');
  }
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
  recovery.succeeded('add');
  recovery.failed('the disk is full', 100);
  assert.deepEqual(untilNext(recovery), [1, 'drain']);
});

test('while the room is needed for removing nothing is added, and nothing is tried', () => {
  const recovery = new Recovery();
  const drainingBytes = 1000;
  assert.equal(recovery.measured({ bytes: 1000, drainingBytes }), false);
  assert.equal(recovery.measured({ bytes: 999, drainingBytes }), true);
  assert.deepEqual([recovery.reason, recovery.isFrozen], ['the disk is full', false]);
  recovery.committed();
  assert.equal(recovery.next(roomy), undefined);
  assert.equal(recovery.measured({ bytes: 1124, drainingBytes }), false, 'not at once again');
  assert.equal(recovery.measured({ bytes: 1125, drainingBytes }), true);
  assert.equal(recovery.reason, undefined);
  recovery.measured({ bytes: 0, drainingBytes });
  assert.equal(recovery.measured(undefined), true, 'the journal takes commits');
  assert.equal(recovery.reason, undefined);
});

test('a commit that failed is not followed by a large one before there is more room than removing needs', () => {
  const recovery = new Recovery();
  recovery.failed('the disk is full', 100);
  assert.equal(recovery.measured({ bytes: 0, drainingBytes: 1000 }), false, 'it stays frozen');
  recovery.succeeded('drain');
  recovery.committed();
  assert.equal(recovery.next(full, { bytes: 1124, drainingBytes: 1000 }), undefined);
  assert.equal(recovery.next(full, { bytes: 1125, drainingBytes: 1000 }), 'add');
});
