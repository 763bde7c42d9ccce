/**
 * Topic attributes: the table of every name that can be set, how its values are read, and what a topic shows (3.2–3.10,
 * 13.1). As with queues, names and values have Amazon's spelling here, and `settingsOf` turns them into what the rest of
 * core works with. Only what was set is stored; an empty value removes an attribute.
 */

import type { KeptTopic } from '../changes.ts';
import type { Attributes } from '../commands.ts';
import type { DeduplicationScope } from '../deduplication/window.ts';
import { type Refusal, refuse } from '../errors.ts';
import { isoTime } from '../iso-time.ts';
import { parseObject } from '../json-object.ts';
import {
  archiveDaysMax,
  displayNameLengthMax,
  largePublicationSubscriptionsMax,
  messageSizeBytesMin,
  publicationSizeBytesDefault,
  publicationSizeBytesMax,
} from '../limits.ts';
import { parsePolicy } from '../policy/policy.ts';
import { excessOf, topicPolicyQuotas } from '../policy/policy-quotas.ts';
import { readTopicDeliveryPolicy, shownTopicPolicy } from './delivery-policy.ts';
import { defaultPolicy, excessText } from './topic-permissions.ts';

export interface TopicSettings {
  readonly isContentBased: boolean;
  /** `queue` is the whole topic. */
  readonly scope: DeduplicationScope;
  readonly sizeBytesMax: number;
  readonly signatureVersion: '1' | '2';
  /** How long publications are archived; undefined if they are not. */
  readonly archiveMs: number | undefined;
}

type ReadValue = { ok: true; text: string } | { ok: false; reason: string };

interface Row {
  readonly isFifoOnly?: boolean;
  /** Default: as `topic-attribute-invalid`. */
  readonly refusedAs?: 'topic-policy-invalid';
  read(value: string): ReadValue;
}

const good = (text: string): ReadValue => ({ ok: true, text });
const bad = (reason: string): ReadValue => ({ ok: false, reason });
const text: Row = { read: good };

const feedbackForm =
  /^(HTTP|Firehose|Lambda|Application|SQS)(SuccessFeedbackRoleArn|SuccessFeedbackSampleRate|FailureFeedbackRoleArn)$/;

const table: Readonly<Record<string, Row>> = {
  DisplayName: {
    read: (value) =>
      value.length <= displayNameLengthMax
        ? good(value)
        : bad(`It can have up to ${displayNameLengthMax} characters`),
  },
  Policy: {
    refusedAs: 'topic-policy-invalid',
    read: (value) => {
      if (value === '') return good('');
      const read = parsePolicy(value);
      if (!read.ok) return read;
      const excess = excessOf(value, read.policy, topicPolicyQuotas);
      return excess === undefined ? good(value) : bad(excessText(excess));
    },
  },
  DeliveryPolicy: { read: (value) => (value === '' ? good('') : readTopicDeliveryPolicy(value)) },
  KmsMasterKeyId: text,
  TracingConfig: choice('PassThrough', 'Active'),
  SignatureVersion: choice('1', '2'),
  MaximumMessageSize: {
    read: (value) => {
      const isInRange =
        /^\d{1,9}$/.test(value) &&
        Number(value) >= messageSizeBytesMin &&
        Number(value) <= publicationSizeBytesMax;
      const range = `${messageSizeBytesMin} to ${publicationSizeBytesMax}`;
      return isInRange ? good(String(Number(value))) : bad(`It must be a number from ${range}`);
    },
  },
  ContentBasedDeduplication: { isFifoOnly: true, ...boolean() },
  FifoThroughputScope: { isFifoOnly: true, ...choice('Topic', 'MessageGroup') },
  ArchivePolicy: { isFifoOnly: true, read: readArchivePolicy },
};

/** One attribute in the form in which it is stored; empty to remove it. */
export function readTopicAttribute(
  isFifo: boolean,
  name: string,
  value: string,
): { ok: true; text: string } | Refusal | undefined {
  const row = Object.hasOwn(table, name) ? table[name] : feedbackForm.test(name) ? text : undefined;
  if (row === undefined) return undefined;
  if (row.isFifoOnly === true && !isFifo) {
    const reason = 'It is not valid for this topic type';
    return refuse('topic-attribute-invalid', { attribute: name, reason });
  }
  const read = row.read(value);
  if (read.ok) return read;
  const { refusedAs = 'topic-attribute-invalid' } = row;
  return refuse(refusedAs, { attribute: name, reason: read.reason });
}

/** Publications above the default size go to few subscriptions, and to queues alone (3.10). */
export function refuseLarge(): Refusal {
  const reason = `Above ${publicationSizeBytesDefault} a topic has up to ${largePublicationSubscriptionsMax} subscriptions, of sqs`;
  return refuse('topic-attribute-invalid', { attribute: 'MaximumMessageSize', reason });
}

/** All attributes of a new topic, without FifoTopic; or why they are refused. */
export function readTopicAttributes(
  isFifo: boolean,
  given: Attributes,
): { ok: true; stored: Record<string, string> } | Refusal {
  const stored: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (name === 'FifoTopic') continue;
    const read = readTopicAttribute(isFifo, name, value);
    if (read === undefined) {
      return refuse('topic-attribute-unknown-at-creation', { attribute: name });
    }
    if (!read.ok) return read;
    if (read.text !== '') stored[name] = read.text;
  }
  return { ok: true, stored };
}

interface Shown {
  readonly arn: string;
  readonly account: string;
  readonly isFifo: boolean;
  readonly kept: KeptTopic;
  readonly confirmed: number;
  readonly pending: number;
  /** The earliest time that a replay can begin at; undefined without an archive. */
  readonly archivedFrom: number | undefined;
}

/** What GetTopicAttributes gives (3.5). */
export function shownTopicAttributes(topic: Shown): Record<string, string> {
  const { kept, arn, account } = topic;
  const { attributes } = kept;
  return {
    ...(topic.isFifo ? { FifoTopic: 'true', ContentBasedDeduplication: 'false' } : {}),
    DisplayName: '',
    Policy: defaultPolicy(arn, account),
    ...attributes,
    EffectiveDeliveryPolicy: shownTopicPolicy(attributes['DeliveryPolicy']),
    Owner: account,
    SubscriptionsConfirmed: String(topic.confirmed),
    SubscriptionsDeleted: String(kept.unsubscribed),
    SubscriptionsPending: String(topic.pending),
    TopicArn: arn,
    ...(topic.archivedFrom === undefined
      ? {}
      : { BeginningArchiveTime: isoTime(topic.archivedFrom) }),
  };
}

/** Whether the topic has every attribute given (3.3); one that was never set differs from every value. */
export function hasSameAttributes(
  isFifo: boolean,
  stored: Attributes,
  given: Readonly<Record<string, string>>,
): boolean {
  const current: Attributes = {
    ...(isFifo ? { ContentBasedDeduplication: 'false' } : {}),
    ...stored,
  };
  return Object.entries(given).every(([name, value]) => current[name] === value);
}

const dayMs = 86_400_000;

export function settingsOf(stored: Attributes): TopicSettings {
  const days = parseObject(stored['ArchivePolicy'] ?? '')?.['MessageRetentionPeriod'];
  return {
    isContentBased: stored['ContentBasedDeduplication'] === 'true',
    scope: stored['FifoThroughputScope'] === 'MessageGroup' ? 'messageGroup' : 'queue',
    sizeBytesMax: Number(stored['MaximumMessageSize'] ?? publicationSizeBytesDefault),
    signatureVersion: stored['SignatureVersion'] === '2' ? '2' : '1',
    archiveMs: days === undefined ? undefined : Number(days) * dayMs,
  };
}

/** `{}` ends archiving, like an empty text. */
function readArchivePolicy(value: string): ReadValue {
  if (value === '') return good('');
  const policy = parseObject(value);
  if (policy === undefined) return bad('ArchivePolicy is not JSON');
  const { MessageRetentionPeriod: days, ...others } = policy;
  if (days === undefined && Object.keys(others).length === 0) return good('');
  const text = typeof days === 'number' || typeof days === 'string' ? String(days) : '';
  const isGood = /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= archiveDaysMax;
  if (!isGood || Object.keys(others).length > 0) {
    return bad(`MessageRetentionPeriod must be a number of days from 1 to ${archiveDaysMax}`);
  }
  return good(JSON.stringify({ MessageRetentionPeriod: String(Number(text)) }));
}

function choice(...values: readonly string[]): Row {
  return {
    read: (value) =>
      values.includes(value) ? good(value) : bad(`It must be one of ${values.join(', ')}`),
  };
}

function boolean(): Row {
  return {
    read: (value) => {
      const lower = value.toLowerCase();
      return lower === 'true' || lower === 'false' ? good(lower) : bad('It must be true or false');
    },
  };
}
