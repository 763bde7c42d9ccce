/**
 * The producer of the example: a scene of the Landsat satellites was refreshed. Everything that makes a scene unique is
 * in its key, and the key is in the body. `oncemq verify examples` checks it against the contract.
 */

import { defineProducer, key, type Producer } from '@oncemq/toolkit';

export interface Scene {
  readonly tile: string;
  readonly day: string;
}

export const landsatRefresh: Producer<Scene> = defineProducer<Scene>({
  source: 'kfm.remote-sensing.landsat-refresh',
  dedupeKey: ({ tile, day }) => key('landsat', tile, day),
  eventTime: ({ day }) => `${day}T00:00:00Z`,
  groupId: ({ tile }) => tile,
  schema: {
    type: 'object',
    required: ['tile', 'day'],
    properties: { tile: { type: 'string' }, day: { type: 'string' } },
  },
  samples: [
    { tile: 'p32r29', day: '2025-12-04' },
    { tile: 'p32r30', day: '2025-12-04' },
  ],
});
