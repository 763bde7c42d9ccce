/**
 * AddPermission and RemovePermission: statements in the queue's Policy attribute (rules 5.13, 5.14). No request of a
 * client is checked against the policy; deliveries of topics are, where policies are enforced (topic/fan-out.ts).
 */

import type { CommandOf, Outcome } from '../commands.ts';
import { utf8Length } from '../digest/digests.ts';
import { type Refusal, refuse } from '../errors.ts';
import { parseObject } from '../json-object.ts';
import { nameLengthMax } from '../limits.ts';
import { queuePolicyQuotas } from '../policy/policy-quotas.ts';
import type { Transaction } from '../transaction.ts';
import type { Queue } from './queue.ts';

interface PolicyDocument {
  readonly Statement: readonly unknown[];
}

/** What the owner may let others do. */
const sharedActions: readonly string[] = [
  '*',
  'SendMessage',
  'ReceiveMessage',
  'DeleteMessage',
  'ChangeMessageVisibility',
  'GetQueueAttributes',
  'GetQueueUrl',
  'ListDeadLetterSourceQueues',
  'PurgeQueue',
];

/** What the owner alone may do. */
const ownerActions: readonly string[] = [
  'AddPermission',
  'CancelMessageMoveTask',
  'CreateQueue',
  'DeleteQueue',
  'ListMessageMoveTasks',
  'ListQueues',
  'ListQueueTags',
  'RemovePermission',
  'SetQueueAttributes',
  'StartMessageMoveTask',
  'TagQueue',
  'UntagQueue',
];

const labelForm = /^[A-Za-z0-9_-]+$/;

export function addPermission(
  queue: Queue,
  command: CommandOf<'add-permission'>,
  tx: Transaction,
): Outcome<'add-permission'> {
  const refusal = checkPermission(command);
  if (refusal !== undefined) return refusal;
  const { accounts, actions } = command;
  const label = command.label as string;
  const policy = policyOf(queue);
  if (policy.Statement.some((statement) => sidOf(statement) === label)) {
    return refuse('label-exists', { value: label });
  }
  const count = policy.Statement.length + 1;
  if (count > queuePolicyQuotas.statements) return refuse('statements-too-many', { count });
  const statement = {
    Sid: label,
    Effect: 'Allow',
    Principal: { AWS: oneOrList(accounts.map((account) => `arn:aws:iam::${account}:root`)) },
    Action: oneOrList(actions.map((action) => `SQS:${action}`)),
    Resource: queue.arn,
  };
  const changed = { ...policy, Statement: [...policy.Statement, statement] };
  // A policy from before there were quotas may have too much elsewhere; only its size is this statement's.
  if (utf8Length(JSON.stringify(changed)) > queuePolicyQuotas.bytes) return refuse('policy-bytes');
  setPolicy(queue, changed, tx);
  return { ok: true };
}

export function removePermission(
  queue: Queue,
  { label }: CommandOf<'remove-permission'>,
  tx: Transaction,
): Outcome<'remove-permission'> {
  if (label === undefined || label === '') return refuse('parameter-missing', { name: 'Label' });
  const policy = policyOf(queue);
  const remaining = policy.Statement.filter((statement) => sidOf(statement) !== label);
  if (remaining.length === policy.Statement.length)
    return refuse('label-unknown', { value: label });
  setPolicy(queue, { ...policy, Statement: remaining }, tx);
  return { ok: true };
}

function checkPermission(command: CommandOf<'add-permission'>): Refusal | undefined {
  const { label, accounts, actions } = command;
  if (label === undefined || label === '') return refuse('parameter-missing', { name: 'Label' });
  if (accounts.length === 0) return refuse('parameter-missing', { name: 'AWSAccountIds' });
  if (actions.length === 0) return refuse('parameter-missing', { name: 'Actions' });
  if (label.length > nameLengthMax || !labelForm.test(label)) {
    return refuse('label-invalid', { value: label });
  }
  if (actions.length > queuePolicyQuotas.actions)
    return refuse('actions-too-many', { count: actions.length });
  if (accounts.length > queuePolicyQuotas.principals) {
    return refuse('principals-too-many', { count: accounts.length });
  }
  for (const value of actions) {
    if (ownerActions.includes(value)) return refuse('action-owner-only', { value });
    if (!sharedActions.includes(value)) return refuse('action-unknown', { value });
  }
  const unknown = accounts.find((account) => !/^\d{12}$/.test(account));
  return unknown === undefined ? undefined : refuse('account-invalid', { value: unknown });
}

function policyOf(queue: Queue): PolicyDocument {
  const fresh = { Version: '2008-10-17', Id: `${queue.arn}/SQSDefaultPolicy`, Statement: [] };
  const policy = parseObject(queue.kept.attributes['Policy'] ?? '');
  if (policy === undefined) return fresh;
  const statements = policy['Statement'];
  const list = Array.isArray(statements)
    ? statements
    : statements === undefined
      ? []
      : [statements];
  return { ...policy, Statement: list };
}

function sidOf(statement: unknown): unknown {
  return (statement as { Sid?: unknown } | null)?.Sid;
}

function setPolicy(queue: Queue, policy: PolicyDocument, tx: Transaction): void {
  const { Policy: _, ...others } = queue.kept.attributes;
  const attributes =
    policy.Statement.length === 0 ? others : { ...others, Policy: JSON.stringify(policy) };
  queue.configure(tx, { ...queue.kept, attributes, modifiedAt: tx.now });
}

function oneOrList(values: readonly string[]): string | readonly string[] {
  return values.length === 1 ? (values[0] as string) : values;
}
