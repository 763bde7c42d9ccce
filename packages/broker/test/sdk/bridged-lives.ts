/**
 * The lives that all clients share, of queues and of topics, with an SDK of another language behind a bridge: for each wire
 * form that it speaks here. Which SDK is at hand is found out when the tests run; one that is missing is skipped by name.
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
