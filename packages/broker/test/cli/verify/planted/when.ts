/**
 * Bad producers whose messages depend on when they are made, or on chance: in their functions, or when the module is
 * loaded. planted.test.ts says what is found of each.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import type { AnyProducer } from '@oncemq/toolkit';
import { planted } from './orders.ts';

const loadedAt = Date.now();
const loadedId = randomUUID();
const loadedDay = new Date().toISOString().slice(0, 10);
let count = 0;

export const runDate: AnyProducer = planted('run-date', {
  dedupeKey: ({ id }) => `${new Date().toISOString().slice(0, 10)} ${id}`,
});
export const runMinute: AnyProducer = planted('run-minute', {
  payload: (order) => ({ ...order, at: new Date().getUTCMinutes() }),
});
export const runHour: AnyProducer = planted('run-hour', {
  payload: (order) => ({ ...order, at: new Date().getUTCHours() }),
});
export const runMonth: AnyProducer = planted('run-month', {
  payload: (order) => ({ ...order, at: new Date().getUTCMonth() }),
});
export const runYear: AnyProducer = planted('run-year', {
  dedupeKey: ({ id }) => `${id} ${new Date().getUTCFullYear()}`,
});
export const runTime: AnyProducer = planted('run-time', { eventTime: () => new Date() });
export const dateCalled: AnyProducer = planted('date-called', {
  payload: (order) => ({ ...order, at: String(Date()) }),
});
export const loadTime: AnyProducer = planted('load-time', {
  payload: (order) => ({ ...order, loadedAt }),
});
export const loadId: AnyProducer = planted('load-id', {
  dedupeKey: ({ id }) => `${loadedId} ${id}`,
});
export const loadDay: AnyProducer = planted('load-day', {
  dedupeKey: ({ id }) => `${loadedDay} ${id}`,
});
export const intlNow: AnyProducer = planted('intl-now', {
  payload: (order) => ({
    ...order,
    at: new Intl.DateTimeFormat('en-US', { timeZone: 'UTC' }).format(),
  }),
});
export const intlPartsNow: AnyProducer = planted('intl-parts-now', {
  payload: (order) => ({
    ...order,
    at: new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', month: 'short' }).formatToParts()[0]
      ?.value,
  }),
});
export const performanceNow: AnyProducer = planted('performance-now', {
  payload: (order) => ({ ...order, at: performance.now() }),
});
export const performanceDays: AnyProducer = planted('performance-days', {
  payload: (order) => ({ ...order, at: Math.floor(performance.now() / 86_400_000) }),
});
export const monotonicDays: AnyProducer = planted('monotonic-days', {
  payload: (order) => ({
    ...order,
    at: [process.hrtime()[0] / 86_400, Number(process.hrtime.bigint() / 86_400_000_000_000n)].map(
      Math.floor,
    ),
  }),
});
export const performanceOrigin: AnyProducer = planted('performance-origin', {
  payload: (order) => ({ ...order, at: Math.floor(performance.timeOrigin / 86_400_000) }),
});
export const uptime: AnyProducer = planted('uptime', {
  payload: (order) => ({ ...order, at: process.uptime() }),
});
export const randomNumber: AnyProducer = planted('random-number', {
  payload: (order) => ({ ...order, nonce: Math.random() }),
});
export const randomGroup: AnyProducer = planted('random-group', {
  groupId: () => randomBytes(8).toString('hex'),
});
export const counter: AnyProducer = planted('counter', {
  payload: (order) => ({ ...order, count: ++count }),
});
export const changingSamples: AnyProducer = planted('changing-samples', {
  samples: ['a', 'b'].map((id) => ({
    id: `${id}-${loadedAt}`,
    shop: 'north',
    placedAt: '2025-12-04T10:00:00Z',
    week: 1,
    lines: 1,
    tags: [],
    marks: [],
    buyer: { name: 'Ines', city: 'Lisbon' },
  })),
});
