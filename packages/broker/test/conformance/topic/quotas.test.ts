/**
 * Quotas of an account that need many of something: FIFO topics and filter policies. Each is reached exactly, and one more
 * is refused.
 */

import assert from 'node:assert/strict';
import { endpointLengthMax, fifoTopicsMax, filterPoliciesMax } from '../../../src/core/limits.ts';
import { accepted, arnOf, assertRefused, atOnce, test } from '../fixture.ts';

test('an account has a limited number of FIFO topics', async (open) => {
  const home = await open.home();
  const fifo = { FifoTopic: 'true' };
  const create = (at: number) => home.tryCreateTopic(`t${at}.fifo`, fifo);
  for (const outcome of await atOnce(fifoTopicsMax, create)) accepted(outcome);
  assertRefused(await home.tryCreateTopic('more.fifo', fifo), 'TopicLimitExceededException');
  assert.ok((await home.tryCreateTopic('t0.fifo', fifo)).ok, 'an existing one is found');
  assert.ok((await home.tryCreateTopic('more')).ok, 'standard topics have a limit of their own');
});

test('an account has a limited number of filter policies', async (open) => {
  const topic = await open.topic();
  const subscribe = async (name: string) =>
    await topic.trySubscribe({
      endpoint: arnOf(name),
      attributes: { FilterPolicy: '{"k":["v"]}' },
    });
  const outcomes = await atOnce(filterPoliciesMax, (at) => subscribe(`q${at}`));
  for (const outcome of outcomes) accepted(outcome);
  assertRefused(await subscribe('more'), 'FilterPolicyLimitExceededException');
  assert.ok(
    (await topic.trySubscribe({ endpoint: arnOf('more') })).ok,
    'without a policy it is accepted',
  );
});

test('an endpoint has a limited length', async (open) => {
  const topic = await open.topic();
  const url = (length: number) => `http://a.example/${'x'.repeat(length)}`.slice(0, length);
  accepted(await topic.trySubscribe({ protocol: 'http', endpoint: url(endpointLengthMax) }));
  const longer = await topic.trySubscribe({
    protocol: 'http',
    endpoint: url(endpointLengthMax + 1),
  });
  assertRefused(longer, 'InvalidParameterException');
});
