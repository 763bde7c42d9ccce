/**
 * Bad producers whose keys do not tell events apart, or that tell them apart by something else, and some that break the
 * rest of the contract. planted.test.ts says what is found of each.
 */

import { type AnyProducer, defineProducer } from '@oncemq/toolkit';
import { type Order, orders, planted } from './orders.ts';

const keyed = (name: string, dedupeKey: (order: Order) => string): AnyProducer =>
  planted(name, { dedupeKey });
const [order] = orders as [Order];

export const dash: AnyProducer = keyed('dash', ({ shop, id }) => `${shop}-${id}`);
export const noSeparator: AnyProducer = keyed('no-separator', ({ shop, id }) => shop + id);
export const rareSeparator: AnyProducer = keyed(
  'rare-separator',
  ({ shop, id }) => `${shop} ~@~ ${id}`,
);
export const longSeparator: AnyProducer = keyed(
  'long-separator',
  ({ shop, id }) => `${shop} (the shop; its order is) ${id}`,
);
export const arrow: AnyProducer = keyed('arrow', ({ shop, id }) => [shop, id].join('→'));
export const tab: AnyProducer = keyed('tab', ({ shop, id }) => [shop, id].join('\t'));
export const quoted: AnyProducer = keyed('quoted', ({ shop, id }) => `"${shop}","${id}"`);
export const upperCase: AnyProducer = keyed('upper-case', ({ shop, id }) =>
  `${shop}__${id}`.toUpperCase(),
);
export const nested: AnyProducer = keyed(
  'nested',
  ({ id, buyer }) => `${encodeURIComponent(id)}/${buyer.name};${buyer.city}`,
);
export const nestedAndTop: AnyProducer = keyed(
  'nested-and-top',
  ({ id, buyer }) => `${buyer.city}=${id}`,
);
export const joinedList: AnyProducer = keyed('joined-list', ({ id, tags }) =>
  JSON.stringify([id, tags.join()]),
);
export const twoLists: AnyProducer = keyed('two-lists', ({ id, tags, marks }) =>
  JSON.stringify([id, ...tags, ...marks]),
);
export const twoNumbers: AnyProducer = keyed(
  'two-numbers',
  ({ id, week, lines }) => `${encodeURIComponent(id)}/${week}${lines}`,
);
export const numbersWithPoint: AnyProducer = keyed(
  'numbers-with-point',
  ({ id, week, lines }) => `${encodeURIComponent(id)}/${week}.${lines}`,
);
export const textAndNumber: AnyProducer = keyed(
  'text-and-number',
  ({ id, week }) => `${id}${week}`,
);
export const textMinusNumber: AnyProducer = keyed(
  'text-minus-number',
  ({ id, week }) => `${id}-${week}`,
);
export const numberAndText: AnyProducer = keyed(
  'number-and-text',
  ({ id, week }) => `${week}${id}`,
);
export const undefinedPart: AnyProducer = keyed('undefined-part', ({ id, coupon }) =>
  JSON.stringify(`${coupon} ${id}`),
);
export const objectPart: AnyProducer = keyed('object-part', ({ id, buyer }) =>
  JSON.stringify(`${buyer} ${id}`),
);
export const invalidDate: AnyProducer = keyed('invalid-date', ({ id }) =>
  JSON.stringify(`${new Date(Number.NaN)} ${id}`),
);
export const sharedKey: AnyProducer = keyed('shared-key', ({ shop }) => shop);
export const noSamples: AnyProducer = planted('no-samples', { samples: [] });
export const refused: AnyProducer = planted('refused', { eventTime: () => 'yesterday' });
export const throwing: AnyProducer = keyed('throwing', ({ coupon }) => (coupon as string).trim());
export const tooLarge: AnyProducer = planted('too-large', { sizeBytesMax: 100 });
export const attributesDecide: AnyProducer = planted('attributes-decide', {
  dedupeKey: () => 'one',
  payload: () => ({ one: 'body' }),
  attributes: ({ id }) => ({ channel: id }),
});
export const groupDecides: AnyProducer = planted('group-decides', {
  dedupeKey: () => 'one',
  payload: () => ({ one: 'body' }),
  groupId: ({ id }) => id,
});
export const randomIdSentTwice: AnyProducer = planted('random-id-sent-twice', {
  eventId: 'random',
  samples: [...orders, order],
});

const shared = { source: 'kfm.planted.shared', eventTime: () => 0, samples: orders } as const;
export const onePipeline: AnyProducer = defineProducer<Order, object>({
  ...shared,
  dedupeKey: ({ id }) => id,
});
export const otherPipeline: AnyProducer = defineProducer<Order, object>({
  ...shared,
  dedupeKey: ({ id }) => id,
  payload: ({ id }) => ({ id, isCancelled: true }),
});
