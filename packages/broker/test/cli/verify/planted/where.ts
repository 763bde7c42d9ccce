/**
 * Bad producers whose messages depend on the machine, the process or the order of members. planted.test.ts says what is
 * found of each, and which difference is blamed.
 */

import { homedir, hostname, tmpdir, userInfo } from 'node:os';
import type { AnyProducer } from '@oncemq/toolkit';
import { type Order, planted } from './orders.ts';

const inPayload = (name: string, value: (order: Order) => unknown): AnyProducer =>
  planted(name, { payload: (order) => ({ ...order, value: value(order) }) });
const loadedHost = hostname();

export const localTime: AnyProducer = inPayload('local-time', ({ placedAt }) =>
  new Date(placedAt).toString(),
);
export const localDay: AnyProducer = planted('local-day', {
  dedupeKey: ({ id, placedAt }) => `${id} ${new Date(placedAt).getDate()}`,
});
export const offset: AnyProducer = inPayload('offset', ({ placedAt }) =>
  new Date(placedAt).getTimezoneOffset(),
);
export const zoneName: AnyProducer = inPayload(
  'zone-name',
  () => Intl.DateTimeFormat().resolvedOptions().timeZone,
);
export const zonedTime: AnyProducer = planted('zoned-time', {
  eventTime: () => new Date(2025, 11, 4),
});
export const localeNumber: AnyProducer = inPayload('locale-number', () =>
  (1234.5).toLocaleString(),
);
export const localeOrder: AnyProducer = planted('locale-order', {
  dedupeKey: ({ id, buyer }) =>
    JSON.stringify([id, ...['z', 'i', 'ı', buyer.city].sort((a, b) => a.localeCompare(b))]),
});
export const localeName: AnyProducer = inPayload(
  'locale-name',
  () => Intl.NumberFormat().resolvedOptions().locale,
);
export const localeDate: AnyProducer = inPayload('locale-date', ({ placedAt }) =>
  new Date(placedAt).toLocaleDateString(undefined, { timeZone: 'UTC' }),
);
export const host: AnyProducer = planted('host', { dedupeKey: ({ id }) => `${hostname()} ${id}` });
export const hostAtLoad: AnyProducer = planted('host-at-load', { groupId: () => loadedHost });
export const home: AnyProducer = inPayload('home', () => homedir());
export const temporary: AnyProducer = inPayload('temporary', () => tmpdir());
export const workingDirectory: AnyProducer = inPayload('working-directory', () => process.cwd());
export const processId: AnyProducer = planted('process-id', {
  dedupeKey: ({ id }) => `${process.pid} ${id}`,
});
export const runId: AnyProducer = planted('run-id', {
  dedupeKey: ({ id }) => `${process.env['GITHUB_RUN_ID']} ${id}`,
});
export const user: AnyProducer = inPayload('user', () => process.env['USER']);
export const userName: AnyProducer = inPayload('user-name', () => userInfo().username);
export const environmentOrder: AnyProducer = inPayload(
  'environment-order',
  () => Object.keys(process.env).indexOf('TZ') < Object.keys(process.env).indexOf('PWD'),
);
export const memberOrder: AnyProducer = planted('member-order', {
  dedupeKey: ({ buyer, id }) => JSON.stringify({ id, buyer }),
});
export const namesInOrder: AnyProducer = inPayload('names-in-order', (order) =>
  Object.keys(order).join(),
);
