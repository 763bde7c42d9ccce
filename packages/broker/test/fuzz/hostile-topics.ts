/**
 * Hostile requests to SNS: forms whose values have the right type and are wrong in every other way, strings that are JSON
 * themselves (filter, redrive, replay and delivery policies) and policies that are almost right. Topics have the same names
 * as the queues that hostile requests may reach. No request subscribes an HTTP endpoint: the server would call it.
 */

import type { ActionShape } from '../../src/api/shapes/shape.ts';
import { snsActions } from '../../src/api/shapes/sns.ts';
import type { Hostile, Source } from './hostile.ts';
import { unlessTooLarge } from './hostile.ts';
import { deepText, hostileText, hostileValue, prototypeNames } from './hostile-values.ts';
import { formOf, goodStructure, type Input, type Targets } from './inputs.ts';
import { encodeForm, formRequest, getRequest } from './whole-request.ts';

const account = '000000000000';
const actionNames = Object.keys(snsActions);

export function topicNamesOf({ standard, fifo }: Targets): readonly string[] {
  return [standard, fifo];
}

export function topicArnOf(name: string): string {
  return `arn:aws:sns:us-east-1:${account}:${name}`;
}

function goodInput(action: string, targets: Targets, isFifo: boolean): Input {
  const name = isFifo ? targets.fifo : targets.standard;
  // Nothing that later requests need is deleted.
  const topicArn = topicArnOf(action === 'DeleteTopic' ? 'not-there' : name);
  return goodStructure((snsActions[action] as ActionShape).input, {
    Name: name,
    TopicArn: topicArn,
    TargetArn: topicArn,
    ResourceArn: topicArn,
    SubscriptionArn: `${topicArn}:00000000-0000-4000-8000-000000000000`,
    Protocol: 'sqs',
    Endpoint: `arn:aws:sqs:us-east-1:${account}:${name}`,
    AWSAccountId: [account],
    ActionName: ['Publish'],
    Attributes: isFifo ? { FifoTopic: 'true' } : {},
    AttributeName: action === 'SetTopicAttributes' ? 'DisplayName' : 'RawMessageDelivery',
    AttributeValue: 'true',
    Id: 'one',
    DataType: 'String',
    BinaryValue: undefined,
    MessageStructure: undefined,
    PhoneNumber: undefined,
    NextToken: undefined,
    MessageDeduplicationId: isFifo ? targets.unique : undefined,
  });
}

export function hostileTopicForm({ chance, targets }: Source): Hostile {
  const action = chance.pick(actionNames);
  const shape = snsActions[action] as ActionShape;
  const input = goodInput(action, targets, chance.isOneIn(2));
  for (let left = 1 + chance.below(3); left > 0; left -= 1) {
    const { name, type } = chance.pick(shape.input.fields);
    if (chance.isOneIn(8)) delete input[name];
    else input[name] = hostileValue(type, chance);
  }
  const form = formOf(action, input, shape);
  const isGet = chance.isOneIn(4) && form.length < 8_000;
  return unlessTooLarge(isGet ? getRequest(`/?${form}`) : formRequest(form));
}

/** Attribute values that are JSON, or almost. */
export function hostilePolicy({ chance, targets }: Source): Hostile {
  const isFifo = chance.isOneIn(2);
  const name = isFifo ? targets.fifo : targets.standard;
  const attribute = chance.pick([
    'FilterPolicy',
    'FilterPolicy',
    'FilterPolicy',
    'RedrivePolicy',
    'ReplayPolicy',
    'DeliveryPolicy',
    'FilterPolicyScope',
    chance.pick(prototypeNames),
  ]);
  const key = chance.pick(['a', '$or', 'a.b', ...prototypeNames]);
  const operand = chance.pick(['[]', '{}', 'null', '1e999', '"*"', '"**"', '["<",1]', '"::/0"']);
  const operator = chance.pick(['prefix', 'numeric', 'cidr', 'anything-but', 'wildcard', 'exists']);
  const value = chance.pick([
    `{"${key}":[{"${operator}":${operand}}]}`,
    `{"${key}":{"${key}":[${operand}]}}`,
    `{"${key}":[${Array(chance.below(300)).fill('"x"').join()}]}`,
    `{"$or":[{"a":["x"]},${operand}]}`,
    `{"deadLetterTargetArn":${operand}}`,
    `{"PointType":"Timestamp","StartingPoint":${operand}}`,
    `{"healthyRetryPolicy":{"numRetries":${operand}}}`,
    deepText(chance.pick([40, 10_000]), chance),
    hostileText(chance),
  ]);
  const pairs = [
    'Action=Subscribe',
    `TopicArn=${topicArnOf(name)}`,
    'Protocol=sqs',
    `Endpoint=arn:aws:sqs:us-east-1:${account}:${targets.unique}${isFifo ? '.fifo' : ''}`,
    `Attributes.entry.1.key=${encodeForm(attribute)}`,
    `Attributes.entry.1.value=${encodeForm(value)}`,
    'Attributes.entry.2.key=FilterPolicyScope',
    `Attributes.entry.2.value=${chance.pick(['MessageBody', 'MessageAttributes'])}`,
  ];
  return { request: formRequest(pairs.join('&')), refusal: 'any' };
}

/** Messages that are JSON, deep JSON, or not JSON, published to whatever happens to be subscribed. */
export function hostileMessage({ chance, targets }: Source): Hostile {
  const isFifo = chance.isOneIn(2);
  const message = chance.pick([
    deepText(chance.pick([100, 100_000]), chance),
    `{"a":${deepText(10_000, chance)}}`,
    `{"a":{"b":["x",["x"]]},"a.b":"x","__proto__":{"a":"x"}}`,
    '{"default":"x","sqs":{}}',
    hostileText(chance),
  ]);
  const pairs = [
    'Action=Publish',
    `TopicArn=${topicArnOf(isFifo ? targets.fifo : targets.standard)}`,
    `Message=${encodeForm(message)}`,
    ...(isFifo ? ['MessageGroupId=g', `MessageDeduplicationId=${targets.unique}`] : []),
    ...(chance.isOneIn(3) ? ['MessageStructure=json'] : []),
    ...(chance.isOneIn(3) ? [`Subject=${encodeForm(hostileText(chance))}`] : []),
  ];
  return { request: formRequest(pairs.join('&')), refusal: 'any' };
}
