/**
 * Good producers that look suspicious: they use dates, the locale, the host or joined values in ways that change nothing.
 * `oncemq verify` must find nothing; planted.test.ts lists them.
 */

import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { type AnyProducer, defineProducer, key } from '@oncemq/toolkit';
import { type Order, orders, planted } from './orders.ts';

class Parcel {
  readonly code: string;
  readonly sent: Date;
  constructor(code: string) {
    this.code = code;
    this.sent = new Date('2025-12-04T10:00:00Z');
  }
}

export const plain: AnyProducer = planted('plain', {});
export const everyKind: AnyProducer = planted('every-kind', {
  dedupeKey: ({ id, week, tags, marks, buyer }) =>
    key(id, week, JSON.stringify(tags), JSON.stringify(marks), buyer.name, buyer.city),
});
export const jsonKey: AnyProducer = planted('json-key', {
  dedupeKey: ({ id, shop, tags, week }) => JSON.stringify([id, shop, tags, week]),
});
export const hashedKey: AnyProducer = planted('hashed-key', {
  dedupeKey: ({ id, shop }) =>
    createHash('sha256')
      .update(JSON.stringify([id, shop]))
      .digest('hex'),
});
export const limitedValues: AnyProducer = planted('limited-values', {
  dedupeKey: ({ shop, id }) => `${shop}/${id}`,
  payload: ({ shop, id }) => ({ shop, id }),
  schema: {
    type: 'object',
    properties: { shop: { pattern: '^[a-z]+$' }, id: { pattern: '^o-[0-9]+$' } },
  },
});
export const fixedWidth: AnyProducer = planted('fixed-width', {
  dedupeKey: ({ id, week, lines }) => `${String(week).padStart(9, '0')}/${lines.toFixed(3)}/${id}`,
});
export const oneValue: AnyProducer = planted('one-value', { dedupeKey: ({ id }) => `order-${id}` });
export const keptId: AnyProducer = planted('kept-id', { eventId: 'random' });
export const fixedZone: AnyProducer = planted('fixed-zone', {
  payload: ({ placedAt }) => ({
    day: new Date(placedAt).toLocaleDateString('en-GB', { timeZone: 'Europe/Lisbon' }),
    total: (1234.5).toLocaleString('de-DE'),
  }),
});
export const sortedMembers: AnyProducer = planted('sorted-members', {
  dedupeKey: ({ id, buyer }) => JSON.stringify([id, ...Object.entries(buyer).sort().flat()]),
});
export const hostInAttribute: AnyProducer = planted('host-in-attribute', {
  attributes: () => ({ sender_host: hostname(), attempt: String(Math.random()) }),
});
export const wordAsValue: AnyProducer = planted('word-as-value', {
  dedupeKey: ({ buyer, id }) => key(buyer.name, id),
  samples: orders.map((order) => ({ ...order, buyer: { name: 'None', city: 'undefined' } })),
});
export const dates: AnyProducer = defineProducer<Parcel>({
  source: 'kfm.planted.parcels',
  dedupeKey: ({ code, sent }) => key(code, sent),
  eventTime: ({ sent }) => sent,
  samples: [new Parcel('a'), new Parcel('b')],
});
export const normalized: AnyProducer = planted('normalized', {
  dedupeKey: ({ shop, id }: Order) => key(shop.trim().toLowerCase(), id),
});

const shared = { source: 'kfm.planted.replayed', eventTime: () => 0, samples: orders } as const;
export const live: AnyProducer = defineProducer<Order>({ ...shared, dedupeKey: ({ id }) => id });
export const backfill: AnyProducer = defineProducer<Order>({
  ...shared,
  dedupeKey: ({ id }) => id,
});
