/**
 * What is done to one node at a time, while the others must go on: it is killed, frozen at any moment or while it holds
 * locks, and its connections to the database are cut, stalled, refused, or broken around a COMMIT.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../support/chance.ts';
import type { KilledServer } from './killed-server.ts';
import type { Link } from './link.ts';

export interface CrashedNode {
  readonly server: KilledServer;
  /** One to each database. */
  readonly links: readonly Link[];
}

/** Resolves when the node is well again. While it is not, `harmed` is called once, and awaited before it is healed. */
type Fault = (node: CrashedNode, chance: Chance, harmed: () => Promise<void>) => Promise<void>;

export interface NemesisOptions {
  /** How long a node is frozen or cut off at most. */
  readonly harmMsMax: number;
}

/** If the node does not do what a fault waits for. */
const momentMsMax = 3_000;
/** A second pause as long as the idle limit of a transaction, and one longer than that. */
const delayMsMax = 400;

export function faults({ harmMsMax }: NemesisOptions): Readonly<Record<string, Fault>> {
  const harm = async (chance: Chance, harmed: () => Promise<void>): Promise<void> => {
    await Promise.all([harmed(), pause(chance.below(harmMsMax))]);
  };
  const atCommit =
    (kind: 'cut before' | 'cut after'): Fault =>
    async ({ links }, _, harmed) => {
      await anyOf(links.map((link) => link.atCommit(kind)));
      for (const link of links) link.calm();
      await harmed();
    };
  return {
    killed: async ({ server }, _, harmed) => {
      await server.kill();
      await harmed();
      await server.start();
    },
    frozen: async ({ server }, chance, harmed) => {
      server.freeze();
      await harm(chance, harmed);
      server.thaw();
    },
    'frozen with locks': async ({ server, links }, chance, harmed) => {
      await anyOf(links.map((link) => link.nextLock()));
      server.freeze();
      await harm(chance, harmed);
      server.thaw();
    },
    cut: async ({ links }, _, harmed) => {
      for (const link of links) link.cut();
      await harmed();
    },
    'cut before a commit': atCommit('cut before'),
    'cut between a commit and its answer': atCommit('cut after'),
    'slow before commits': async ({ links }, chance, harmed) => {
      for (let commits = 0; commits < 5; commits += 1) {
        await anyOf(links.map((link) => link.atCommit('delay', chance.below(delayMsMax))));
      }
      for (const link of links) link.calm();
      await harmed();
    },
    stalled: async ({ links }, chance, harmed) => {
      for (const link of links) link.stall();
      await harm(chance, harmed);
      for (const link of links) link.flow();
    },
    'cut off': async ({ links }, chance, harmed) => {
      for (const link of links) link.down();
      await harm(chance, harmed);
      for (const link of links) link.up();
    },
  };
}

async function anyOf(moments: readonly Promise<void>[]): Promise<void> {
  await Promise.race([...moments, pause(momentMsMax)]);
}
