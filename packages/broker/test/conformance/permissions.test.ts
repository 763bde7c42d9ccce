/**
 * AddPermission and RemovePermission, which write the queue's Policy. That the policy can keep a topic from sending is in
 * topic/arrivals.
 */

import assert from 'node:assert/strict';
import type { Outcome } from '../../src/core/commands.ts';
import { accepted, assertRefused, type TestQueue, test } from './fixture.ts';

interface Permission {
  readonly label?: string | undefined;
  readonly accounts?: readonly string[];
  readonly actions?: readonly string[];
}

async function tryAdd(
  queue: TestQueue,
  permission: Permission = {},
): Promise<Outcome<'add-permission'>> {
  return await queue.home.run({
    type: 'add-permission',
    queue: queue.name,
    label: 'one',
    accounts: ['111122223333'],
    actions: ['SendMessage'],
    ...permission,
  });
}

async function tryDrop(
  queue: TestQueue,
  label: string | undefined,
): Promise<Outcome<'remove-permission'>> {
  return await queue.home.run({ type: 'remove-permission', queue: queue.name, label });
}

async function policyOf(
  queue: TestQueue,
): Promise<{ Statement: readonly Record<string, unknown>[] }> {
  return JSON.parse((await queue.attributes('Policy'))['Policy'] as string);
}

async function sids(queue: TestQueue): Promise<readonly unknown[]> {
  return (await policyOf(queue)).Statement.map(({ Sid }) => Sid);
}

test('a permission becomes a statement of the Policy (5.13)', async (open) => {
  const queue = await open.queue();
  accepted(await tryAdd(queue));
  assert.deepEqual(await policyOf(queue), {
    Version: '2008-10-17',
    Id: `${queue.arn}/SQSDefaultPolicy`,
    Statement: [
      {
        Sid: 'one',
        Effect: 'Allow',
        Principal: { AWS: 'arn:aws:iam::111122223333:root' },
        Action: 'SQS:SendMessage',
        Resource: queue.arn,
      },
    ],
  });
});

test('several accounts or actions become lists (5.13)', async (open) => {
  const queue = await open.queue();
  const accounts = ['111122223333', '444455556666'];
  accepted(await tryAdd(queue, { accounts, actions: ['SendMessage', 'ReceiveMessage'] }));
  const [statement] = (await policyOf(queue)).Statement;
  assert.deepEqual(statement?.['Principal'], {
    AWS: ['arn:aws:iam::111122223333:root', 'arn:aws:iam::444455556666:root'],
  });
  assert.deepEqual(statement?.['Action'], ['SQS:SendMessage', 'SQS:ReceiveMessage']);
});

test('further statements are appended, also to a Policy that was set (5.13)', async (open) => {
  const queue = await open.queue();
  const zero = { Sid: 'zero', Effect: 'Deny', Principal: '*', Action: 'sqs:*' };
  await queue.set({ Policy: JSON.stringify({ Version: '2012-10-17', Statement: zero }) });
  accepted(await tryAdd(queue, { label: 'one' }));
  accepted(await tryAdd(queue, { label: 'two' }));
  assert.deepEqual(await sids(queue), ['zero', 'one', 'two']);
});

test('a label is used once (5.13)', async (open) => {
  const queue = await open.queue();
  accepted(await tryAdd(queue));
  const text = 'Value one for parameter Label is invalid. Reason: Already exists.';
  assertRefused(await tryAdd(queue), 'InvalidParameterValue', text);
});

test('a permission has up to seven actions (5.13)', async (open) => {
  const seven = [
    'SendMessage',
    'ReceiveMessage',
    'DeleteMessage',
    'ChangeMessageVisibility',
    'GetQueueAttributes',
    'GetQueueUrl',
    'PurgeQueue',
  ];
  accepted(await tryAdd(await open.queue(), { actions: seven }));
  const eight = [...seven, 'ListDeadLetterSourceQueues'];
  const text = '8 Actions were found, maximum allowed is 7.';
  assertRefused(await tryAdd(await open.queue(), { actions: eight }), 'OverLimit', text);
});

test('a permission has up to fifty accounts (5.13)', async (open) => {
  const queue = await open.queue();
  const accounts = Array.from({ length: 51 }, (_, index) => String(index).padStart(12, '0'));
  const text = '51 Principals were found, maximum allowed is 50.';
  assertRefused(await tryAdd(queue, { accounts }), 'OverLimit', text);
  assert.equal((await tryAdd(queue, { accounts: accounts.slice(1) })).ok, true);
});

test('owner-only actions cannot be granted (5.13)', async (open) => {
  const text =
    'Value SQS:CreateQueue for parameter ActionName is invalid. Reason: Only the queue owner is allowed to invoke this action.';
  const outcome = await tryAdd(await open.queue(), { actions: ['SendMessage', 'CreateQueue'] });
  assertRefused(outcome, 'InvalidParameterValue', text);
});

test('an unknown action is refused (5.13)', async (open) => {
  const text =
    'Value SQS:Dance for parameter ActionName is invalid. Reason: Please refer to the appropriate WSDL for a list of valid actions.';
  assertRefused(
    await tryAdd(await open.queue(), { actions: ['Dance'] }),
    'InvalidParameterValue',
    text,
  );
});

test('label, accounts and actions are required, and labels and accounts must be well formed (5.13)', async (open) => {
  const queue = await open.queue();
  const missing = (name: string): string => `The request must contain the parameter ${name}.`;
  assertRefused(await tryAdd(queue, { label: undefined }), 'MissingParameter', missing('Label'));
  assertRefused(
    await tryAdd(queue, { accounts: [] }),
    'MissingParameter',
    missing('AWSAccountIds'),
  );
  assertRefused(await tryAdd(queue, { actions: [] }), 'MissingParameter', missing('Actions'));
  assertRefused(await tryAdd(queue, { label: 'a b' }), 'InvalidParameterValue');
  assertRefused(await tryAdd(queue, { accounts: ['12'] }), 'InvalidParameterValue');
  assert.deepEqual(await queue.attributes('Policy'), {});
});

test('a Policy holds up to 20 statements (5.13)', async (open) => {
  const queue = await open.queue();
  for (let at = 0; at < 20; at += 1) accepted(await tryAdd(queue, { label: `label${at}` }));
  assertRefused(await tryAdd(queue, { label: 'label20' }), 'OverLimit');
});

test('removing a permission drops its statement, and the last one the whole Policy (5.14)', async (open) => {
  const queue = await open.queue();
  accepted(await tryAdd(queue, { label: 'one' }));
  accepted(await tryAdd(queue, { label: 'two' }));
  accepted(await tryDrop(queue, 'one'));
  assert.deepEqual(await sids(queue), ['two']);
  accepted(await tryDrop(queue, 'two'));
  assert.deepEqual(await queue.attributes('Policy'), {});
});

test('an unknown or missing label cannot be removed (5.14)', async (open) => {
  const text = "Value one for parameter Label is invalid. Reason: can't find label.";
  assertRefused(await tryDrop(await open.queue(), 'one'), 'InvalidParameterValue', text);
  const missing = 'The request must contain the parameter Label.';
  assertRefused(await tryDrop(await open.queue(), undefined), 'MissingParameter', missing);
});
