/**
 * The good producer that every planted one is made from. Each planted producer changes the one thing that its name says, so
 * that what `oncemq verify` finds is due to that. No file here is named *.producer.ts, so that `oncemq verify` passes in a
 * clone.
 */

import { type AnyProducer, defineProducer, key, type ProducerOptions } from '@oncemq/toolkit';

export interface Order {
  readonly id: string;
  readonly shop: string;
  readonly placedAt: string;
  readonly week: number;
  readonly lines: number;
  readonly tags: readonly string[];
  readonly marks: readonly string[];
  readonly buyer: { readonly name: string; readonly city: string };
  readonly coupon?: string;
}

export const orders: readonly Order[] = ['o-1', 'o-2'].map((id) => ({
  id,
  shop: 'north',
  placedAt: '2025-12-04T10:00:00Z',
  week: 49,
  lines: 2,
  tags: ['gift', 'blue'],
  marks: ['new'],
  buyer: { name: 'Ines', city: 'Lisbon' },
}));

/** The name makes a source of its own, so that no two planted producers share a key. */
export function planted(
  name: string,
  changed: Partial<ProducerOptions<Order, object>>,
): AnyProducer {
  return defineProducer<Order, object>({
    source: `kfm.planted.${name}`,
    dedupeKey: ({ shop, id }) => key('order', shop, id),
    eventTime: ({ placedAt }) => placedAt,
    samples: orders,
    ...changed,
  });
}
