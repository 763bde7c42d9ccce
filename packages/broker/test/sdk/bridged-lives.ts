/**
 * The tests of queues and of topics that all clients share, with an SDK of another language behind a bridge, for both wire
 * forms. The tests detect which SDKs are installed; a missing one is skipped by name.
 */

import { after, before } from 'node:test';
import { Bridge } from './bridge.ts';
import { type ClientsAtHand, describeClient, type Program } from './clients-at-hand.ts';
import { everydayLife } from './everyday-life.ts';
import { topicLife } from './topic-life.ts';

export function bridgedLives(
  atHand: ClientsAtHand,
  asBridge: (program: Program) => Program = (program) => program,
): void {
  for (const wire of ['query', 'json'] as const) {
    describeClient(atHand, wire, (program) => {
      let bridge: Bridge;
      before(async () => {
        bridge = await Bridge.start(asBridge(program));
      });
      after(() => bridge.close());
      everydayLife({ wire, open: (endpoint) => bridge.open(endpoint) });
      topicLife((endpoint) => bridge.openTopics(endpoint));
    });
  }
}
