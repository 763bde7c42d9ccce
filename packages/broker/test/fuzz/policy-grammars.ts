/**
 * Grammars of the JSON that clients put into attributes: access policies, filter policies, redrive policies, and the
 * policies of topics. Each gives a document that is right, or nearly so; json-grammar.ts makes it wrong.
 */

import type { Chance } from '../support/chance.ts';
import { prototypeNames } from './hostile-values.ts';
import { Members, object, type Tree } from './json-grammar.ts';

const account = '000000000000';

/** The names of the queue and the topic that a document is about. */
export interface About {
  readonly queue: string;
  readonly topic: string;
}

function queueArn(name: string): string {
  return `arn:aws:sqs:us-east-1:${account}:${name}`;
}

function topicArn(name: string): string {
  return `arn:aws:sns:us-east-1:${account}:${name}`;
}

/** One value, or a list of some: most elements of a policy may be either. */
function oneOrMore(chance: Chance, make: () => Tree): Tree {
  if (chance.isOneIn(2)) return make();
  return Array.from({ length: 1 + chance.below(3) }, make);
}

export function accessPolicy(chance: Chance, about: About): Tree {
  return object({
    Version: chance.pick(['2012-10-17', '2008-10-17']),
    Id: chance.isOneIn(3) ? 'policy' : undefined,
    Statement: oneOrMore(chance, () => statement(chance, about)),
  });
}

function statement(chance: Chance, about: About): Tree {
  const not = (): string => (chance.isOneIn(9) ? 'Not' : '');
  const action = (): Tree =>
    chance.pick(['sqs:SendMessage', 'SQS:*', '*', 'sqs:Send?essage', 'sqs:*e*a*e*', 'sns:Publish']);
  const resource = (): Tree =>
    chance.pick(['*', queueArn(about.queue), 'arn:aws:sqs:*:*:request-*', topicArn(about.topic)]);
  return object({
    Sid: chance.isOneIn(2) ? `statement-${chance.below(100)}` : undefined,
    Effect: chance.isOneIn(4) ? 'Deny' : 'Allow',
    [`${not()}Principal`]: principal(chance),
    [`${not()}Action`]: oneOrMore(chance, action),
    [`${not()}Resource`]: oneOrMore(chance, resource),
    Condition: chance.isOneIn(4) ? undefined : conditions(chance, about),
  });
}

function principal(chance: Chance): Tree {
  const aws = (): Tree => chance.pick(['*', account, `arn:aws:iam::${account}:root`]);
  return chance.pick<() => Tree>([
    () => '*',
    () => object({ Service: oneOrMore(chance, () => 'sns.amazonaws.com') }),
    () => object({ AWS: oneOrMore(chance, aws) }),
    () => object({ Service: 'sns.amazonaws.com', AWS: '*' }),
  ])();
}

const operators: readonly string[] = [
  'ArnEquals',
  'ArnLike',
  'ArnNotLike',
  'StringEquals',
  'StringEqualsIgnoreCase',
  'StringLike',
  'StringNotEquals',
  'Bool',
  'ArnLikeIfExists',
  'ForAllValues:StringLike',
  'NumericLessThan',
  'DateGreaterThan',
  'IpAddress',
  'Null',
];

/** Among the operators and keys are names that every object has: a lookup of one must not find what it inherits. */
function conditions(chance: Chance, about: About): Tree {
  const keys = ['aws:SourceArn', 'AWS:sourcearn', 'aws:SourceAccount', 'aws:SecureTransport'];
  const key = (): string =>
    chance.pick([...keys, ...keys, 'aws:SourceIp', '__proto__', 'toString']);
  const value = (): Tree =>
    chance.pick<Tree>([topicArn(about.topic), 'arn:aws:sns:*', account, 'true', true, 5]);
  return new Members(
    Array.from({ length: 1 + chance.below(3) }, () => [
      chance.pick([...operators, ...prototypeNames]),
      new Members([[key(), oneOrMore(chance, value)]]),
    ]),
  );
}

export function redrivePolicy(chance: Chance, { queue }: About): Tree {
  return object({
    deadLetterTargetArn: queueArn(queue),
    maxReceiveCount: chance.pick<Tree>([1, 5, '5', 1_000]),
  });
}

export function redriveAllowPolicy(chance: Chance, { queue }: About): Tree {
  const isByQueue = chance.isOneIn(2);
  const sources = Array.from({ length: 1 + chance.below(10) }, (_, at) =>
    queueArn(at === 0 ? queue : `source-${at}`),
  );
  return object({
    redrivePermission: isByQueue ? 'byQueue' : chance.pick(['allowAll', 'denyAll']),
    sourceQueueArns: isByQueue ? sources : undefined,
  });
}

/** Keys that publications in this test have, and names that every object has. */
export const filterKeys: readonly string[] = ['a', 'b', 'a.b', ...prototypeNames.slice(0, 4)];

export function filterPolicy(chance: Chance): Tree {
  const keys = Array.from({ length: 1 + chance.below(4) }, () => chance.pick(filterKeys));
  return new Members(keys.map((key) => [key, filterNode(chance, 3)]));
}

function filterNode(chance: Chance, depthMax: number): Tree {
  if (depthMax > 0 && chance.isOneIn(4)) {
    const inner = filterNode(chance, depthMax - 1);
    const alternatives = [object({ a: inner }), object({ b: [1] })];
    return chance.isOneIn(3)
      ? object({ $or: alternatives })
      : new Members([[chance.pick(filterKeys), inner]]);
  }
  return Array.from({ length: 1 + chance.below(3) }, () => filterCondition(chance));
}

function filterCondition(chance: Chance): Tree {
  const text = chance.pick(['x', 'xyz', 'é', '']);
  return chance.pick<() => Tree>([
    () => chance.pick<Tree>(['x', 1, 1.5, true, null]),
    () => object({ [chance.pick(['prefix', 'suffix', 'equals-ignore-case'])]: text }),
    () => object({ wildcard: chance.pick(['x*', '*x*y*', '*']) }),
    () => object({ 'anything-but': chance.pick<Tree>(['x', ['x', 1], object({ prefix: 'x' })]) }),
    () => object({ numeric: ['>=', chance.below(10), '<', 10 + chance.below(10)] }),
    () => object({ numeric: [chance.pick(['=', '<', '>']), 5] }),
    () => object({ cidr: chance.pick(['10.0.0.0/8', '::/0', '255.255.255.255/32']) }),
    () => object({ exists: chance.isOneIn(2) }),
  ])();
}

export function deliveryPolicy(chance: Chance): Tree {
  return object({
    healthyRetryPolicy: object({
      numRetries: chance.below(101),
      minDelayTarget: 1,
      maxDelayTarget: 20,
      numNoDelayRetries: 0,
      numMinDelayRetries: 1,
      numMaxDelayRetries: 1,
      backoffFunction: chance.pick(['linear', 'arithmetic', 'geometric', 'exponential']),
    }),
    throttlePolicy: chance.isOneIn(2) ? object({ maxReceivesPerSecond: 5 }) : undefined,
    requestPolicy: chance.isOneIn(2) ? object({ headerContentType: 'text/plain' }) : undefined,
  });
}

export function replayPolicy(chance: Chance): Tree {
  return object({
    PointType: 'Timestamp',
    StartingPoint: chance.pick<Tree>(['2026-01-01T00:00:00.000Z', 1_767_225_600_000]),
    EndingPoint: chance.isOneIn(2) ? '2026-02-01T00:00:00.000Z' : undefined,
  });
}

export function archivePolicy(chance: Chance): Tree {
  return object({ MessageRetentionPeriod: chance.pick<Tree>([1, '30', 365]) });
}

export function subscriptionRedrivePolicy(_: Chance, { queue }: About): Tree {
  return object({ deadLetterTargetArn: queueArn(queue) });
}

/** What a publication's message may be for a policy on bodies: members with the keys of filter policies. */
export function publication(chance: Chance): Tree {
  const value = (): Tree =>
    chance.pick<() => Tree>([
      () => chance.pick<Tree>(['x', 'xyz', 1, 5, true, null, '10.1.2.3']),
      () => ['x', 5, ['y']],
      () => object({ a: 'x', b: object({ a: 1 }) }),
      () => [object({ a: 'x' }), object({ a: [1, object({ b: 2 })] })],
    ])();
  return new Members(filterKeys.map((key) => [key, value()]));
}
