/**
 * Python's boto3: the tests of queues and of topics that all clients share, with an old version that speaks Query
 * (Debian's, say) and a new one that speaks JSON. A test drives it through boto3-bridge.py, a child process that makes the
 * calls it is told to.
 *
 * The tests detect which versions of boto3 are installed; a missing one is skipped by name.
 */

import { after, before } from 'node:test';
import { Bridge } from './boto3-bridge.ts';
import { clientsAtHand, describeClient } from './clients-at-hand.ts';
import { everydayLife } from './everyday-life.ts';
import { topicLife } from './topic-life.ts';

const atHand = clientsAtHand('boto3');

for (const wire of ['query', 'json'] as const) {
  describeClient(atHand, wire, (program) => {
    let bridge: Bridge;
    before(async () => {
      bridge = await Bridge.start(program);
    });
    after(() => bridge.close());
    everydayLife({ wire, open: (endpoint) => bridge.open(endpoint) });
    topicLife((endpoint) => bridge.openTopics(endpoint));
  });
}
