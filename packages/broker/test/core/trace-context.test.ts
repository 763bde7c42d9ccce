/**
 * Attributes that carry a trace: the broker and the toolkit have a list each, since core imports nothing. What the list
 * does is in conformance/events.test.ts.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { traceContextNames as toolkitNames } from '@oncemq/toolkit';
import { traceContextNames } from '../../src/core/trace-context.ts';

test('attributes that carry a trace are the same for core and for the toolkit', () => {
  assert.ok(traceContextNames.has('traceparent') && traceContextNames.has('sentry-trace'));
  assert.deepEqual(traceContextNames, toolkitNames);
});
