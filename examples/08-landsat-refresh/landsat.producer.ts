/**
 * The producer of the example: a scene of the Landsat satellites was refreshed. Everything that makes a scene unique is
 * in its key, and the key is in the body. `oncemq verify examples` checks it against the contract.
 */

import { defineProducer, key, type Producer } from '@oncemq/toolkit';

export interface Scene {
  readonly path: number;
  readonly row: number;
  readonly day: string;
}

export const landsatRefresh: Producer<Scene> = defineProducer<Scene>({
  source: 'kfm.remote-sensing.landsat-refresh',
  dedupeKey: ({ path, row, day }) => key('landsat', path, row, day),
  eventTime: ({ day }) => `${day}T00:00:00Z`,
  groupId: ({ path }) => `path-${path}`,
  schema: {
    type: 'object',
    required: ['path', 'row', 'day'],
    properties: { path: { type: 'integer' }, row: { type: 'integer' }, day: { type: 'string' } },
  },
  samples: [
    { path: 32, row: 29, day: '2025-12-04' },
    { path: 32, row: 30, day: '2025-12-04' },
  ],
});
