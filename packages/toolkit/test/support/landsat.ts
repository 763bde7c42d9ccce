/**
 * The producer that most tests use, and its events: satellite scenes, each refreshed once a day. A test only sets the
 * options it is about.
 */

import { key } from '../../src/contract/keys.ts';
import {
  defineProducer,
  type Producer,
  type ProducerOptions,
} from '../../src/producer/define-producer.ts';

export interface Scene {
  readonly tile: string;
  readonly day: string;
  readonly cloud?: number;
}

export const scene: Scene = { tile: 'p32r29', day: '2025-12-04', cloud: 0.25 };

export function scenes(count: number): Scene[] {
  return Array.from({ length: count }, (_, index) => ({ ...scene, tile: `p${index}r29` }));
}

export function landsat(options: Partial<ProducerOptions<Scene>> = {}): Producer<Scene> {
  return defineProducer<Scene>({
    source: 'kfm.remote-sensing.landsat-refresh',
    dedupeKey: ({ tile, day }) => key('landsat', tile, day),
    eventTime: ({ day }) => `${day}T00:00:00Z`,
    samples: scenes(3),
    ...options,
  });
}
