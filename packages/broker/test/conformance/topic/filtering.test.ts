/**
 * Filter policies as clients meet them: set on a subscription, changed and removed. What they match is a function, and tested in
 * core/topic/filter-policies.
 */

import assert from 'node:assert/strict';
import { accepted, arnOf, assertRefused, test } from '../fixture.ts';

test('an empty text removes the policy, and a change takes effect at once (11.1, 11.2)', async (open) => {
  const topic = await open.topic();
  const filter = { FilterPolicy: '{"kind":["price"]}' };
  const { queue, subscriptionArn } = await topic.subscribeQueue('jobs', filter);
  await topic.publish({ message: 'dropped' });
  accepted(await topic.trySetOn(subscriptionArn, 'FilterPolicy', ''));
  await topic.publish({ message: 'passed' });
  assert.deepEqual(await queue.receiveBodies(), ['passed']);
});

test('a filtered message is reported as an event (11.1)', async (open) => {
  const topic = await open.topic();
  await topic.subscribeQueue('jobs', { FilterPolicy: '{"kind":["price"]}' });
  const { messageId } = await topic.publish();
  assert.equal((await topic.home.told('filtered-out'))[0]?.messageId, messageId);
});

test('nested policies are allowed only for the message body (11.9)', async (open) => {
  const topic = await open.topic();
  const { subscriptionArn } = await topic.subscribeQueue('jobs');
  const nested = '{"a":{"b":["x"]}}';
  const text = 'Filter policy scope MessageAttributes does not support nested filter policy';
  assertRefused(
    await topic.trySetOn(subscriptionArn, 'FilterPolicy', nested),
    'InvalidParameterException',
    `Invalid parameter: ${text}`,
  );
  accepted(await topic.trySetOn(subscriptionArn, 'FilterPolicyScope', 'MessageBody'));
  accepted(await topic.trySetOn(subscriptionArn, 'FilterPolicy', nested));
  assertRefused(
    await topic.trySetOn(subscriptionArn, 'FilterPolicyScope', 'MessageAttributes'),
    'InvalidParameterException',
  );
});

test('the text follows the attribute name, and in Subscribe a longer prefix (11.10)', async (open) => {
  const topic = await open.topic();
  const { subscriptionArn } = await topic.subscribeQueue('jobs');
  const text = 'FilterPolicy: Empty arrays are not allowed';
  assertRefused(
    await topic.trySetOn(subscriptionArn, 'FilterPolicy', '{"k":[]}'),
    'InvalidParameterException',
    `Invalid parameter: ${text}`,
  );
  assertRefused(
    await topic.trySubscribe({ endpoint: arnOf('new'), attributes: { FilterPolicy: '{"k":[]}' } }),
    'InvalidParameterException',
    `Invalid parameter: Attributes Reason: ${text}`,
  );
});
