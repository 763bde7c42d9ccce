/**
 * Times as texts, as archives and envelopes have them: written and parsed as Date does, without making one for each.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoTime, readIsoTime } from '../../src/core/iso-time.ts';
import { startedAt } from './fixture.ts';

test('times are written and parsed as Date does', () => {
  for (const time of [0, -1, startedAt, 951_782_400_000, 4_107_542_399_999, 1_709_164_800_000]) {
    assert.equal(isoTime(time), new Date(time).toISOString());
    assert.equal(readIsoTime(isoTime(time)), time);
  }
  assert.equal(readIsoTime('2026-01-01T01:00:00+01:00'), Date.UTC(2026, 0, 1));
  assert.equal(readIsoTime('2026-01-01T00:00Z'), Date.UTC(2026, 0, 1));
  for (const text of ['2026-01-01', '2026-01-01T24:00:00Z', '2026-00-01T00:00:00Z']) {
    assert.equal(readIsoTime(text), undefined);
  }
});
