/**
 * Ports that stay free while a server is dead: below the range that systems use for outgoing connections, since a client
 * that keeps reconnecting would sooner or later be given the very port that it tries.
 */

import { createServer } from 'node:net';
import { Chance } from '../support/chance.ts';

export async function freePorts(seed: number, count: number): Promise<number[]> {
  const chance = new Chance(seed, process.pid);
  const free = new Set<number>();
  for (let tries = 0; tries < 100; tries += 1) {
    const port = 15_000 + chance.below(15_000);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    free.add(port);
    if (free.size === count) return [...free];
  }
  throw new Error('no free port was found between 15000 and 30000');
}
