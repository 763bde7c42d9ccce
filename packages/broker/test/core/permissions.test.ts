/**
 * AddPermission and RemovePermission, which write the queue's Policy. That the policy can keep a topic from sending is in
 * topic/arrivals.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '../../src/core/commands.ts';
import { accepted, assertRefused, openQueue, type TestQueue } from './fixture.ts';

interface Permission {
  readonly label?: string | undefined;
  readonly accounts?: readonly string[];
  readonly actions?: readonly string[];
}

function tryAdd(queue: TestQueue, permission: Permission = {}): Outcome<'add-permission'> {
  return queue.home.apply({
    type: 'add-permission',
    queue: queue.name,
    label: 'one',
    accounts: ['111122223333'],
    actions: ['SendMessage'],
    ...permission,
  });
}

function tryDrop(queue: TestQueue, label: string | undefined): Outcome<'remove-permission'> {
  return queue.home.apply({ type: 'remove-permission', queue: queue.name, label });
}

function policyOf(queue: TestQueue): { Statement: readonly Record<string, unknown>[] } {
  return JSON.parse(queue.attributes('Policy')['Policy'] as string);
}

function sids(queue: TestQueue): readonly unknown[] {
  return policyOf(queue).Statement.map(({ Sid }) => Sid);
}

test('a permission becomes a statement of the Policy (5.13)', () => {
  const queue = openQueue();
  accepted(tryAdd(queue));
  assert.deepEqual(policyOf(queue), {
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

test('several accounts or actions become lists (5.13)', () => {
  const queue = openQueue();
  const accounts = ['111122223333', '444455556666'];
  accepted(tryAdd(queue, { accounts, actions: ['SendMessage', 'ReceiveMessage'] }));
  const [statement] = policyOf(queue).Statement;
  assert.deepEqual(statement?.['Principal'], {
    AWS: ['arn:aws:iam::111122223333:root', 'arn:aws:iam::444455556666:root'],
  });
  assert.deepEqual(statement?.['Action'], ['SQS:SendMessage', 'SQS:ReceiveMessage']);
});

test('further statements are appended, also to a Policy that was set (5.13)', () => {
  const queue = openQueue();
  const zero = { Sid: 'zero', Effect: 'Deny', Principal: '*', Action: 'sqs:*' };
  queue.set({ Policy: JSON.stringify({ Version: '2012-10-17', Statement: zero }) });
  accepted(tryAdd(queue, { label: 'one' }));
  accepted(tryAdd(queue, { label: 'two' }));
  assert.deepEqual(sids(queue), ['zero', 'one', 'two']);
});

test('a label is used once (5.13)', () => {
  const queue = openQueue();
  accepted(tryAdd(queue));
  const text = 'Value one for parameter Label is invalid. Reason: Already exists.';
  assertRefused(tryAdd(queue), 'InvalidParameterValue', text);
});

test('a permission has up to seven actions (5.13)', () => {
  const seven = [
    'SendMessage',
    'ReceiveMessage',
    'DeleteMessage',
    'ChangeMessageVisibility',
    'GetQueueAttributes',
    'GetQueueUrl',
    'PurgeQueue',
  ];
  accepted(tryAdd(openQueue(), { actions: seven }));
  const eight = [...seven, 'ListDeadLetterSourceQueues'];
  const text = '8 Actions were found, maximum allowed is 7.';
  assertRefused(tryAdd(openQueue(), { actions: eight }), 'OverLimit', text);
});

test('a permission has up to fifty accounts (5.13)', () => {
  const queue = openQueue();
  const accounts = Array.from({ length: 51 }, (_, index) => String(index).padStart(12, '0'));
  const text = '51 Principals were found, maximum allowed is 50.';
  assertRefused(tryAdd(queue, { accounts }), 'OverLimit', text);
  assert.equal(tryAdd(queue, { accounts: accounts.slice(1) }).ok, true);
});

test('owner-only actions cannot be granted (5.13)', () => {
  const text =
    'Value SQS:CreateQueue for parameter ActionName is invalid. Reason: Only the queue owner is allowed to invoke this action.';
  const outcome = tryAdd(openQueue(), { actions: ['SendMessage', 'CreateQueue'] });
  assertRefused(outcome, 'InvalidParameterValue', text);
});

test('an unknown action is refused (5.13)', () => {
  const text =
    'Value SQS:Dance for parameter ActionName is invalid. Reason: Please refer to the appropriate WSDL for a list of valid actions.';
  assertRefused(tryAdd(openQueue(), { actions: ['Dance'] }), 'InvalidParameterValue', text);
});

test('label, accounts and actions are required, and labels and accounts must be well formed (5.13)', () => {
  const queue = openQueue();
  const missing = (name: string): string => `The request must contain the parameter ${name}.`;
  assertRefused(tryAdd(queue, { label: undefined }), 'MissingParameter', missing('Label'));
  assertRefused(tryAdd(queue, { accounts: [] }), 'MissingParameter', missing('AWSAccountIds'));
  assertRefused(tryAdd(queue, { actions: [] }), 'MissingParameter', missing('Actions'));
  assertRefused(tryAdd(queue, { label: 'a b' }), 'InvalidParameterValue');
  assertRefused(tryAdd(queue, { accounts: ['12'] }), 'InvalidParameterValue');
  assert.deepEqual(queue.attributes('Policy'), {});
});

test('a Policy holds up to 20 statements (5.13)', () => {
  const queue = openQueue();
  for (let at = 0; at < 20; at += 1) accepted(tryAdd(queue, { label: `label${at}` }));
  assertRefused(tryAdd(queue, { label: 'label20' }), 'OverLimit');
});

test('removing a permission drops its statement, and the last one the whole Policy (5.14)', () => {
  const queue = openQueue();
  accepted(tryAdd(queue, { label: 'one' }));
  accepted(tryAdd(queue, { label: 'two' }));
  accepted(tryDrop(queue, 'one'));
  assert.deepEqual(sids(queue), ['two']);
  accepted(tryDrop(queue, 'two'));
  assert.deepEqual(queue.attributes('Policy'), {});
});

test('an unknown or missing label cannot be removed (5.14)', () => {
  const text = "Value one for parameter Label is invalid. Reason: can't find label.";
  assertRefused(tryDrop(openQueue(), 'one'), 'InvalidParameterValue', text);
  const missing = 'The request must contain the parameter Label.';
  assertRefused(tryDrop(openQueue(), undefined), 'MissingParameter', missing);
});
