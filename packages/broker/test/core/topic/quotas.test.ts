/**
 * Quotas of an account that need many of something: FIFO topics, filter policies, message move tasks. Each is
 * reached exactly, and one more is refused.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  endpointLengthMax,
  fifoTopicsMax,
  filterPoliciesMax,
  moveTasksActiveMax,
} from '../../../src/core/limits.ts';
import { accepted, arnOf, assertRefused, redrivePolicy } from '../fixture.ts';
import { openTopic, openTopics } from './fixture.ts';

test('an account has a limited number of FIFO topics', () => {
  const home = openTopics();
  const fifo = { FifoTopic: 'true' };
  for (let at = 0; at < fifoTopicsMax; at += 1) accepted(home.tryCreateTopic(`t${at}.fifo`, fifo));
  assertRefused(home.tryCreateTopic('more.fifo', fifo), 'TopicLimitExceededException');
  assert.ok(home.tryCreateTopic('t0.fifo', fifo).ok, 'an existing one is found');
  assert.ok(home.tryCreateTopic('more').ok, 'standard topics have a limit of their own');
});

test('an account has a limited number of filter policies', () => {
  const topic = openTopic();
  const subscribe = (name: string) =>
    topic.trySubscribe({ endpoint: arnOf(name), attributes: { FilterPolicy: '{"k":["v"]}' } });
  for (let at = 0; at < filterPoliciesMax; at += 1) accepted(subscribe(`q${at}`));
  assertRefused(subscribe('more'), 'FilterPolicyLimitExceededException');
  assert.ok(topic.trySubscribe({ endpoint: arnOf('more') }).ok, 'without a policy it is accepted');
});

test('an endpoint has a limited length', () => {
  const topic = openTopic();
  const url = (length: number) => `http://a.example/${'x'.repeat(length)}`.slice(0, length);
  accepted(topic.trySubscribe({ protocol: 'http', endpoint: url(endpointLengthMax) }));
  const longer = topic.trySubscribe({ protocol: 'http', endpoint: url(endpointLengthMax + 1) });
  assertRefused(longer, 'InvalidParameterException');
});

test('an account has a limited number of active message move tasks', () => {
  const home = openTopics();
  const start = (name: string) => {
    const dead = home.createQueue(`dead-${name}`);
    home.createQueue(name, { RedrivePolicy: redrivePolicy(dead.arn, 1) });
    dead.send();
    return home.apply({ type: 'start-move-task', sourceArn: dead.arn });
  };
  for (let at = 0; at < moveTasksActiveMax; at += 1) accepted(start(`q${at}`));
  assertRefused(start('more'), 'OverLimit');
});
