/**
 * A producer module as users write them, for the tests of `oncemq verify`: one producer that fulfills the contract. It is
 * verified both as TypeScript and as compiled JavaScript.
 */

import { defineProducer, key, type Producer } from '@oncemq/toolkit';
import { type Scene, sceneTime } from './scene.ts';

export const landsatRefresh: Producer<Scene> = defineProducer<Scene>({
  source: 'kfm.remote-sensing.landsat-refresh',
  dedupeKey: ({ tile, day }) => key('landsat', tile, day),
  eventTime: sceneTime,
  samples: [
    { tile: 'p32r29', day: '2025-12-04' },
    { tile: 'p32r30', day: '2025-12-04' },
  ],
});
