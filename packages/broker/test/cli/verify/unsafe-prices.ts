/**
 * A producer module that breaks the contract in two ways, for the tests of `oncemq verify`: its key is joined by hand,
 * and its payload contains the time of sending. It is not named *.producer.ts, so that `oncemq verify` passes in a clone.
 */

import { defineProducer, type Producer } from '@oncemq/toolkit';

interface Price {
  readonly part: string;
  readonly shop: string;
}

export const prices: Producer<Price> = defineProducer<Price>({
  source: 'kfm.parts.prices',
  dedupeKey: ({ part, shop }) => `${part}-${shop}`,
  eventTime: () => 0,
  payload: (price) => ({ ...price, sentAt: Date.now() }),
  samples: [
    { part: 'brake pad', shop: 'north' },
    { part: 'brake pad', shop: 'south' },
  ],
});
