/**
 * A topic's policy (3.6, 4.2, 4.3): the default that every topic has, and the statements that AddPermission and
 * RemovePermission write. It is kept and shown; no request is checked against it.
 */

import type { Refusal } from '../errors.ts';
import { refuse } from '../errors.ts';
import { parseObject } from '../json-object.ts';
import { parsePolicy } from '../policy/policy.ts';
import { type Excess, excessOf, topicPolicyQuotas } from '../policy/policy-quotas.ts';
import type { Transaction } from '../transaction.ts';
import type { TopicCommandOf, TopicOutcomes } from './commands.ts';
import type { Topic } from './topic.ts';

const defaultActions: readonly string[] = [
  'GetTopicAttributes',
  'SetTopicAttributes',
  'AddPermission',
  'RemovePermission',
  'DeleteTopic',
  'Subscribe',
  'ListSubscriptionsByTopic',
  'Publish',
];

const grantedActions: readonly string[] = [...defaultActions, 'Receive'];

export function defaultPolicy(arn: string, account: string): string {
  return JSON.stringify({
    Version: '2008-10-17',
    Id: '__default_policy_ID',
    Statement: [
      {
        Sid: '__default_statement_ID',
        Effect: 'Allow',
        Principal: { AWS: '*' },
        Action: defaultActions.map((action) => `SNS:${action}`),
        Resource: arn,
        Condition: { StringEquals: { 'AWS:SourceOwner': account } },
      },
    ],
  });
}

export function addTopicPermission(
  topic: Topic,
  command: TopicCommandOf<'add-topic-permission'>,
  tx: Transaction,
): TopicOutcomes['add-topic-permission'] | Refusal {
  const { label, accounts, actions } = command;
  if (label === undefined || label === '') return missing('Label');
  if (accounts.length === 0) return missing('AWSAccountId');
  if (actions.length === 0) return missing('ActionName');
  const { policy, statements } = policyOf(topic);
  if (statements.some((statement) => sidOf(statement) === label)) {
    return refuse('topic-label-exists');
  }
  if (!actions.every((action) => grantedActions.includes(action))) {
    return refuse('topic-action-unknown');
  }
  const statement = {
    Sid: label,
    Effect: 'Allow',
    Principal: { AWS: oneOrList(accounts.map((account) => `arn:aws:iam::${account}:root`)) },
    Action: oneOrList(actions.map((action) => `SNS:${action}`)),
    Resource: topic.arn,
  };
  const changed = { ...policy, Statement: [...statements, statement] };
  const text = JSON.stringify(changed);
  const read = parsePolicy(text);
  const excess = read.ok ? excessOf(text, read.policy, topicPolicyQuotas) : undefined;
  if (excess !== undefined) {
    return refuse('topic-policy-invalid', { reason: excessText(excess) });
  }
  setPolicy(topic, changed, tx);
  return { ok: true };
}

export function excessText({ what, count, limit }: Excess): string {
  return `${count} ${what} were found, maximum allowed is ${limit}`;
}

/** Removing an unknown label is no error. */
export function removeTopicPermission(
  topic: Topic,
  { label }: TopicCommandOf<'remove-topic-permission'>,
  tx: Transaction,
): TopicOutcomes['remove-topic-permission'] | Refusal {
  if (label === undefined || label === '') return missing('Label');
  const { policy, statements } = policyOf(topic);
  const remaining = statements.filter((statement) => sidOf(statement) !== label);
  if (remaining.length < statements.length) {
    setPolicy(topic, { ...policy, Statement: remaining }, tx);
  }
  return { ok: true };
}

function policyOf(topic: Topic): { policy: object; statements: readonly unknown[] } {
  const own = topic.kept.attributes['Policy'] ?? defaultPolicy(topic.arn, topic.account);
  const policy = parseObject(own) ?? {};
  const { Statement: statements } = policy as { Statement?: unknown };
  const list = Array.isArray(statements) ? statements : [statements];
  return { policy, statements: statements === undefined ? [] : list };
}

function setPolicy(topic: Topic, policy: object, tx: Transaction): void {
  const attributes = { ...topic.kept.attributes, Policy: JSON.stringify(policy) };
  topic.configure(tx, { ...topic.kept, attributes });
}

function sidOf(statement: unknown): unknown {
  return (statement as { Sid?: unknown } | null)?.Sid;
}

function missing(name: string): Refusal {
  return refuse('topic-parameter-missing', { name });
}

function oneOrList(values: readonly string[]): string | readonly string[] {
  return values.length === 1 ? (values[0] as string) : values;
}
