/**
 * Hostile requests from grammars: what a client sets is mostly right and wrong in a few places (json-grammar.ts), so that it
 * often passes the first checks; then it is used. A policy is asked whether a topic may send, a filter policy whether a
 * publication matches, a stored policy is extended by AddPermission. Each case has a queue of its own, so that it can be
 * repeated alone.
 */

import type { Chance } from '../support/chance.ts';
import type { Hostile, Source } from './hostile.ts';
import { topicArnOf } from './hostile-topics.ts';
import { prototypeNames } from './hostile-values.ts';
import type { Targets } from './inputs.ts';
import { jsonText, Members, mutated, object, type Tree } from './json-grammar.ts';
import {
  type About,
  accessPolicy,
  archivePolicy,
  deliveryPolicy,
  filterKeys,
  filterPolicy,
  publication,
  redriveAllowPolicy,
  redrivePolicy,
  replayPolicy,
  subscriptionRedrivePolicy,
} from './policy-grammars.ts';
import {
  encodeForm,
  formRequest,
  getRequest,
  jsonRequest,
  type WholeRequest,
} from './whole-request.ts';

const account = '000000000000';

interface Case extends About {
  readonly isFifo: boolean;
  /** The queue of this case alone. */
  readonly queueArn: string;
}

function caseOf({ chance, targets }: { chance: Chance; targets: Targets }): Case {
  const isFifo = chance.isOneIn(2);
  const queue = isFifo ? `${targets.unique}.fifo` : targets.unique;
  const topic = isFifo ? targets.fifo : targets.standard;
  return { isFifo, queue, topic, queueArn: `arn:aws:sqs:us-east-1:${account}:${queue}` };
}

/** The text of a policy, with mutations. */
function policyText(chance: Chance, tree: Tree): string {
  return jsonText(mutated(tree, chance));
}

function createQueue({ queue, isFifo }: Case, attributes: Record<string, string>): WholeRequest {
  const Attributes = isFifo ? { FifoQueue: 'true', ...attributes } : attributes;
  return jsonRequest('CreateQueue', JSON.stringify({ QueueName: queue, Attributes }));
}

function snsForm(action: string, pairs: readonly (readonly [string, string])[]): WholeRequest {
  const form = pairs.map(([key, value]) => `${key}=${encodeForm(value)}`);
  return formRequest([`Action=${action}`, ...form].join('&'));
}

function entries(values: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(values).flatMap(([key, value], at): [string, string][] => [
    [`Attributes.entry.${at + 1}.key`, key],
    [`Attributes.entry.${at + 1}.value`, value],
  ]);
}

function subscribe({ topic, queueArn }: Case, attributes: Record<string, string>): WholeRequest {
  return snsForm('Subscribe', [
    ['TopicArn', topicArnOf(topic)],
    ['Protocol', 'sqs'],
    ['Endpoint', queueArn],
    ...entries(attributes),
  ]);
}

function publish({ topic, isFifo }: Case, { chance, targets }: Source): WholeRequest {
  const attributes = filterKeys.flatMap((name, at): [string, string][] => {
    const start = `MessageAttributes.entry.${at + 1}`;
    const [type, value] = chance.pick([
      ['String', 'xyz'],
      ['String', '10.1.2.3'],
      ['Number', '5'],
      ['String.Array', jsonText(mutated(['x', 5, null], chance))],
    ]) as [string, string];
    return [
      [`${start}.Name`, name],
      [`${start}.Value.DataType`, type],
      [`${start}.Value.StringValue`, value],
    ];
  });
  return snsForm('Publish', [
    ['TopicArn', topicArnOf(topic)],
    ['Message', jsonText(mutated(publication(chance), chance)).slice(0, 200_000)],
    ...attributes,
    ...(isFifo
      ? ([
          ['MessageGroupId', 'g'],
          ['MessageDeduplicationId', targets.unique],
        ] as const)
      : []),
  ]);
}

/** A topic sends to a queue with this policy; only a server that enforces policies reads it. */
export function judgedByPolicy(source: Source): Hostile {
  const made = caseOf(source);
  const { chance } = source;
  const Policy = policyText(chance, accessPolicy(chance, made));
  return {
    before: [createQueue(made, { Policy }), subscribe(made, {})],
    request: publish(made, source),
    refusal: 'any',
  };
}

/** A publication to a subscription with these policies. */
export function judgedByFilter(source: Source): Hostile {
  const made = caseOf(source);
  const { chance } = source;
  const attributes = {
    FilterPolicy: policyText(chance, filterPolicy(chance)),
    FilterPolicyScope: chance.pick(['MessageBody', 'MessageAttributes']),
    ...(chance.isOneIn(3) && {
      RedrivePolicy: policyText(
        chance,
        subscriptionRedrivePolicy(chance, { ...made, queue: `dead-${made.topic}` }),
      ),
    }),
    ...(chance.isOneIn(3) && { ReplayPolicy: policyText(chance, replayPolicy(chance)) }),
  };
  return {
    before: [createQueue(made, {}), subscribe(made, attributes)],
    request: publish(made, source),
    refusal: 'any',
  };
}

/** The same without publishing, by the endpoint that tries a message against filter policies. */
export function triedFilter(source: Source): Hostile {
  const { chance } = source;
  const { topic } = caseOf(source);
  const asked = object({
    message: jsonText(publication(chance)),
    attributes: new Members(
      filterKeys.map((key) => [key, object({ type: 'String', value: 'x' })] as const),
    ),
    policy: mutated(filterPolicy(chance), chance),
    scope: chance.pick(['MessageBody', 'MessageAttributes']),
  });
  const body = Buffer.from(jsonText(chance.isOneIn(2) ? mutated(asked, chance) : asked));
  const request = { ...getRequest(`/_oncemq/topics/${topic}/match`, 'POST'), body };
  return { request, refusal: 'any' };
}

/** A stored policy is read, extended and written again. */
export function extendedPolicy(source: Source): Hostile {
  const made = caseOf(source);
  const { chance } = source;
  const Policy = policyText(chance, accessPolicy(chance, made));
  const Label = chance.pick(['label', 'statement-1', ...prototypeNames]);
  const QueueUrl = made.queue;
  const remove = jsonRequest('RemovePermission', JSON.stringify({ QueueUrl, Label }));
  const added = { QueueUrl, Label, AWSAccountIds: [account], Actions: ['SendMessage'] };
  const add = jsonRequest('AddPermission', JSON.stringify(added));
  return { before: [createQueue(made, { Policy }), add], request: remove, refusal: 'any' };
}

/** All attributes of a queue at once, in the body of a request that is mutated as well. */
export function attributesOfQueue(source: Source): Hostile {
  const made = caseOf(source);
  const { chance } = source;
  const dead = { ...made, queue: `dead-${made.topic}` };
  const all: readonly (readonly [string, Tree])[] = [
    ['VisibilityTimeout', chance.pick<Tree>(['0', '43200', 30])],
    ['DelaySeconds', '900'],
    ['MaximumMessageSize', '1024'],
    ['MessageRetentionPeriod', chance.pick<Tree>(['60', '1209600'])],
    ['Policy', policyText(chance, accessPolicy(chance, made))],
    ['RedrivePolicy', policyText(chance, redrivePolicy(chance, dead))],
    ['RedriveAllowPolicy', policyText(chance, redriveAllowPolicy(chance, made))],
    ['KmsMasterKeyId', 'alias/aws/sqs'],
    ['SqsManagedSseEnabled', chance.pick<Tree>(['true', false])],
    ...(made.isFifo
      ? ([
          ['ContentBasedDeduplication', true],
          ['DeduplicationScope', 'messageGroup'],
          ['FifoThroughputLimit', 'perMessageGroupId'],
          ['DeduplicationIntervalSeconds', chance.pick<Tree>([1, 1_209_600])],
          ['Profile', chance.pick(['aws', 'yandex'])],
        ] as const)
      : []),
  ];
  const some = all.filter(() => chance.isOneIn(3));
  const Attributes = new Members([
    ...some,
    ...(made.isFifo ? [['FifoQueue', 'true'] as const] : []),
  ]);
  const tags = tagTree(chance);
  const isCreated = chance.isOneIn(2);
  const created = object({ QueueName: made.queue, Attributes, tags });
  const set = object({ QueueUrl: made.queue, Attributes: new Members(some) });
  const tree = mutated(isCreated ? created : set, chance);
  const action = isCreated ? 'CreateQueue' : 'SetQueueAttributes';
  return {
    before: isCreated ? [] : [createQueue(made, {})],
    request: jsonRequest(action, jsonText(tree)),
    refusal: 'any',
  };
}

function tagTree(chance: Chance): Members {
  const keys = Array.from({ length: chance.below(6) }, () =>
    chance.pick(['team', 'cost center', 'a:b/c=d', 'ключ', ...prototypeNames]),
  );
  return new Members([...new Set(keys)].map((key) => [key, chance.pick(['x', '', 'wert', 'é'])]));
}

export function tags(source: Source): Hostile {
  const made = caseOf(source);
  const { chance } = source;
  if (chance.isOneIn(3)) {
    const { list } = tagTree(chance);
    const pairs = list.flatMap(([key, value], at): [string, string][] => [
      [`Tags.member.${at + 1}.Key`, key],
      [`Tags.member.${at + 1}.Value`, String(value)],
    ]);
    const request = snsForm('TagResource', [['ResourceArn', topicArnOf(made.topic)], ...pairs]);
    return { request, refusal: 'any' };
  }
  const tagged = object({ QueueUrl: made.queue, Tags: tagTree(chance) });
  return {
    before: [
      createQueue(made, {}),
      jsonRequest('TagQueue', jsonText(mutated(tagged, chance))),
      jsonRequest('ListQueueTags', JSON.stringify({ QueueUrl: made.queue })),
    ],
    request: jsonRequest(
      'UntagQueue',
      jsonText(mutated(object({ QueueUrl: made.queue, TagKeys: [...prototypeNames] }), chance)),
    ),
    refusal: 'any',
  };
}

/** Sent, then received with all attributes, as they were stored. */
export function messageAttributes(source: Source): Hostile {
  const made = caseOf(source);
  const { chance } = source;
  const value = (): Tree =>
    chance.pick<() => Tree>([
      () => object({ DataType: 'String', StringValue: 'x' }),
      () => object({ DataType: 'Number', StringValue: chance.pick(['1', '1e126', '-0.5']) }),
      () => object({ DataType: 'Binary', BinaryValue: 'AAEC' }),
      () => object({ DataType: 'String.own', StringValue: 'é' }),
    ])();
  const names = ['a', 'b.c', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];
  const some = names.filter(() => chance.isOneIn(2));
  const sent = object({
    QueueUrl: made.queue,
    MessageBody: 'x',
    MessageAttributes: new Members(some.map((name) => [name, value()] as const)),
    MessageSystemAttributes: chance.isOneIn(4)
      ? object({ AWSTraceHeader: object({ DataType: 'String', StringValue: 'Root=1' }) })
      : undefined,
    MessageGroupId: made.isFifo ? 'g' : undefined,
    MessageDeduplicationId: made.isFifo ? 'd' : undefined,
  });
  const asked = object({
    QueueUrl: made.queue,
    MessageAttributeNames: chance.pick<Tree>([['All'], [...prototypeNames], ['constructor.*']]),
    MessageSystemAttributeNames: ['All'],
  });
  return {
    before: [createQueue(made, {}), jsonRequest('SendMessage', jsonText(mutated(sent, chance)))],
    request: jsonRequest('ReceiveMessage', jsonText(asked)),
    refusal: 'any',
  };
}

/** Every policy that a topic or a subscription can have, by the actions that set one at a time. */
export function policyOfTopic(source: Source): Hostile {
  const { chance } = source;
  const made = caseOf(source);
  const topicArn = topicArnOf(made.topic);
  const subscriptionArn = `${topicArn}:00000000-0000-4000-8000-000000000000`;
  const [name, tree] = chance.pick<() => [string, Tree]>([
    () => ['Policy', accessPolicy(chance, made)],
    () => ['DeliveryPolicy', object({ http: deliveryPolicy(chance) })],
    () => ['DeliveryPolicy', object({ http: object({ defaultHealthyRetryPolicy: [] }) })],
    () => ['ArchivePolicy', archivePolicy(chance)],
    () => [chance.pick(prototypeNames), 'x'],
  ])();
  if (chance.isOneIn(3)) {
    const DataProtectionPolicy = policyText(chance, object({ Name: 'x', Statement: [] }));
    const request = snsForm('PutDataProtectionPolicy', [
      ['ResourceArn', topicArn],
      ['DataProtectionPolicy', DataProtectionPolicy],
    ]);
    return { request, refusal: 'any' };
  }
  if (chance.isOneIn(3)) {
    const AttributeValue = policyText(chance, deliveryPolicy(chance));
    const request = snsForm('SetSubscriptionAttributes', [
      ['SubscriptionArn', subscriptionArn],
      ['AttributeName', 'DeliveryPolicy'],
      ['AttributeValue', AttributeValue],
    ]);
    return {
      before: [subscribe(made, { DeliveryPolicy: AttributeValue })],
      request,
      refusal: 'any',
    };
  }
  return {
    before: [
      snsForm('SetTopicAttributes', [
        ['TopicArn', topicArn],
        ['AttributeName', name],
        ['AttributeValue', policyText(chance, tree)],
      ]),
    ],
    request: snsForm('GetTopicAttributes', [['TopicArn', topicArn]]),
    refusal: 'any',
  };
}
