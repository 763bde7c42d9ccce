/**
 * Subscription attributes: reading each of the seven names, and what a subscription shows (5.6–5.9, §11, 13.2). The same
 * cause has one text in Subscribe and another in SetSubscriptionAttributes: `prefix` is what stands between "Invalid
 * parameter: " and the cause.
 */

import { isArn } from '../arn.ts';
import type { Attributes } from '../commands.ts';
import { type Refusal, refuse } from '../errors.ts';
import { readIsoTime } from '../iso-time.ts';
import { parseObject } from '../json-object.ts';
import { readSubscriptionDeliveryPolicy } from './delivery-policy.ts';
import {
  type FilterPolicy,
  type FilterScope,
  nestedAttributes,
  readFilterPolicy,
} from './filter-policy/filter-policy.ts';

/** What the reading of an attribute may depend on. */
export interface SubscriptionContext {
  readonly isFifoTopic: boolean;
  readonly protocol: string;
  readonly endpoint: string;
}

export interface ReplayPolicy {
  readonly from: number;
  readonly until: number | undefined;
}

/** Subscribe puts these words before the cause; SetSubscriptionAttributes gives the cause alone. */
export const subscribePrefix = 'Attributes Reason: ';

export const subscriptionAttributeNames: readonly string[] = [
  'DeliveryPolicy',
  'FilterPolicy',
  'FilterPolicyScope',
  'RawMessageDelivery',
  'RedrivePolicy',
  'SubscriptionRoleArn',
  'ReplayPolicy',
];

const defaults: ReadonlyMap<string, string> = new Map([
  ['RawMessageDelivery', 'false'],
  ['FilterPolicyScope', 'MessageAttributes'],
]);

/** The stored attributes with the given ones applied; empty values remove. All or nothing. */
export function changedSubscriptionAttributes(
  stored: Attributes,
  given: Attributes,
  context: SubscriptionContext,
  prefix: string,
): { ok: true; stored: Record<string, string> } | Refusal {
  const changed: Record<string, string> = { ...stored };
  for (const [name, value] of Object.entries(given)) {
    if (!subscriptionAttributeNames.includes(name)) {
      return refuse('subscription-attribute-unknown', { prefix });
    }
    const read = readAttribute(name, value, context);
    if (typeof read !== 'string') return invalid(prefix, read.reason);
    if (read === '') delete changed[name];
    else changed[name] = read;
  }
  // Whether a filter policy is valid depends on the scope, whichever of the two was given.
  const filter = filterOf(changed);
  if (filter !== undefined && 'wrong' in filter) {
    const isNested = filter === nestedAttributes;
    return invalid(prefix, isNested ? filter.wrong : `FilterPolicy: ${filter.wrong}`);
  }
  return { ok: true, stored: changed };
}

/** Whether these attributes have the same value in both, defaults included (5.6). */
export function hasSameSubscriptionAttributes(
  stored: Attributes,
  others: Attributes,
  names: readonly string[],
): boolean {
  const valueIn = (attributes: Attributes, name: string): string | undefined =>
    attributes[name] ?? defaults.get(name);
  return names.every((name) => valueIn(stored, name) === valueIn(others, name));
}

export function filterOf(
  stored: Attributes,
): FilterPolicy | { readonly wrong: string } | undefined {
  const text = stored['FilterPolicy'];
  if (text === undefined) return undefined;
  const scope: FilterScope =
    stored['FilterPolicyScope'] === 'MessageBody' ? 'MessageBody' : 'MessageAttributes';
  return readFilterPolicy(text, scope);
}

export function replayPolicyOf(stored: Attributes): ReplayPolicy | undefined {
  const policy = parseObject(stored['ReplayPolicy'] ?? '');
  if (policy === undefined) return undefined;
  const { StartingPoint: start, EndingPoint: end } = policy;
  const from = readIsoTime(String(start));
  const until = end === undefined ? undefined : readIsoTime(String(end));
  return from === undefined ? undefined : { from, until };
}

export function deadLetterTargetOf(stored: Attributes): string | undefined {
  const target = parseObject(stored['RedrivePolicy'] ?? '')?.['deadLetterTargetArn'];
  return typeof target === 'string' ? target : undefined;
}

/** The value as it is stored, or why it cannot be. */
function readAttribute(
  name: string,
  value: string,
  context: SubscriptionContext,
): string | { readonly reason: string } {
  switch (name) {
    case 'RawMessageDelivery': {
      const lower = value.toLowerCase();
      if (lower === 'true' || lower === 'false') return lower;
      return {
        reason: `RawMessageDelivery: Invalid value [${value}]. Must be true or false.`,
      };
    }
    case 'FilterPolicyScope':
      if (value === 'MessageBody' || value === 'MessageAttributes') return value;
      return {
        reason: `FilterPolicyScope: Invalid value [${value}]. Please use either MessageBody or MessageAttributes`,
      };
    case 'RedrivePolicy':
      return value === '' ? '' : readRedrivePolicy(value, context);
    case 'DeliveryPolicy': {
      const read = value === '' ? { ok: true, text: '' } : readSubscriptionDeliveryPolicy(value);
      return 'text' in read ? read.text : { reason: `DeliveryPolicy: ${read.reason}` };
    }
    case 'ReplayPolicy':
      return value === '' ? '' : readReplayPolicy(value, context);
    // A filter policy is checked by the caller, together with its scope.
    default:
      return value;
  }
}

function readRedrivePolicy(
  value: string,
  { isFifoTopic, endpoint }: SubscriptionContext,
): string | { readonly reason: string } {
  const policy = parseObject(value);
  if (policy === undefined) return { reason: 'RedrivePolicy: failed to parse JSON. ' };
  const target = policy['deadLetterTargetArn'];
  if (typeof target !== 'string' || !isArn(target) || !target.startsWith('arn:aws:sqs:')) {
    return { reason: 'RedrivePolicy: deadLetterTargetArn is an invalid arn' };
  }
  if (isFifoTopic && endpoint.endsWith('.fifo') && !target.endsWith('.fifo')) {
    return {
      reason:
        'RedrivePolicy: must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic.',
    };
  }
  if (!endpoint.endsWith('.fifo') && target.endsWith('.fifo')) {
    return { reason: 'RedrivePolicy: must use a standard queue as DLQ for this subscription.' };
  }
  return value;
}

function readReplayPolicy(
  value: string,
  { isFifoTopic }: SubscriptionContext,
): string | { readonly reason: string } {
  if (!isFifoTopic) return { reason: 'ReplayPolicy: it is for subscriptions of FIFO topics only' };
  const policy = parseObject(value);
  if (policy === undefined) return { reason: 'ReplayPolicy: failed to parse JSON. ' };
  if (policy['PointType'] !== 'Timestamp') {
    return { reason: 'ReplayPolicy: PointType must be Timestamp' };
  }
  const [from, until] = [policy['StartingPoint'], policy['EndingPoint']].map((point) =>
    typeof point === 'string' ? readIsoTime(point) : undefined,
  );
  if (from === undefined) return { reason: 'ReplayPolicy: StartingPoint must be a time' };
  if (policy['EndingPoint'] === undefined) return value;
  if (until === undefined) return { reason: 'ReplayPolicy: EndingPoint must be a time' };
  return until < from
    ? { reason: 'ReplayPolicy: EndingPoint must not be before StartingPoint' }
    : value;
}

function invalid(prefix: string, reason: string): Refusal {
  return refuse('subscription-attribute-invalid', { prefix, reason });
}
