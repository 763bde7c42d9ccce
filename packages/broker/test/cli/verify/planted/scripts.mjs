// Planted producers in JavaScript, which has no types: two good ones, and bad ones that no compiler would let pass.

import { defineProducer, key } from '@oncemq/toolkit';

const samples = [
  { id: 'a', at: '2025-12-04T10:00:00Z' },
  { id: 'b', at: '2025-12-04T10:00:00Z' },
];
const planted = (name, changed) =>
  defineProducer({
    source: `kfm.scripts.${name}`,
    dedupeKey: ({ id }) => key('script', id),
    eventTime: ({ at }) => at,
    samples,
    ...changed,
  });

export const good = planted('good', {});
export const goodNumber = planted('good-number', { dedupeKey: ({ id }) => key(1, id) });
export const numericKey = planted('numeric-key', { dedupeKey: () => 1 });
export const asyncKey = planted('async-key', { dedupeKey: async ({ id }) => id });
export const missingMember = planted('missing-member', {
  dedupeKey: ({ identifier, id }) => JSON.stringify([String(identifier), id]),
});
export const noPayload = planted('no-payload', { payload: () => undefined });
export const groupWithSpace = planted('group', { groupId: () => 'a b' });
export const keyInAttribute = planted('attribute', {
  attributes: ({ id }) => ({ dataset_version: `v-${id}` }),
});
