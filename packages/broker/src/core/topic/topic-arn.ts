/**
 * Names of topics, and ARNs of topics and subscriptions as clients give them (2.1–2.4, 3.1, 5.10): which topic or
 * subscription one names, or what is wrong with it. Whether it exists is for the caller to check.
 */

import { type Realm, topicArn } from '../arn.ts';
import { type Refusal, refuse } from '../errors.ts';
import { topicNameLengthMax } from '../limits.ts';

const partsMin = 6;

/** The topic's name. `parameter` is what the client calls the ARN. */
export function readTopicArn(
  realm: Realm,
  arn: string | undefined,
  parameter = 'TopicArn',
): { ok: true; name: string } | Refusal {
  const parts = readArn(realm, arn, parameter);
  if (!parts.ok) return parts;
  const prefix = topicArn(realm, '');
  // An ARN of another account gives an empty name, a longer one a name with a colon: no topic has either.
  return { ok: true, name: parts.arn.startsWith(prefix) ? parts.arn.slice(prefix.length) : '' };
}

/** Topic and id of a subscription; the id is undefined for an ARN that has only as many parts as a topic's. */
export function readSubscriptionArn(
  realm: Realm,
  arn: string | undefined,
): { ok: true; name: string; id: string | undefined } | Refusal {
  const parts = readArn(realm, arn, 'SubscriptionArn');
  if (!parts.ok) return parts;
  const prefix = topicArn(realm, '');
  const rest = parts.arn.startsWith(prefix) ? parts.arn.slice(prefix.length) : ':';
  const [name, id] = rest.split(':') as [string, string?];
  return { ok: true, name, id: parts.count > partsMin ? id : undefined };
}

function readArn(
  { region }: Realm,
  arn: string | undefined,
  name: string,
): { ok: true; arn: string; count: number } | Refusal {
  if (arn === undefined) return refuse('topic-parameter-missing', { name });
  const parts = arn.split(':');
  const count = parts.length;
  if (count < partsMin) return refuse('topic-arn-short', { name, count });
  const isForeign = parts[0] !== 'arn' || parts[2] !== 'sns' || parts[3] !== region;
  if (isForeign) return refuse('topic-arn-foreign', { name });
  return { ok: true, arn, count };
}

/** The name of a topic, or the id of a subscription; the whole text if it is no ARN. */
export function lastPartOf(arn: string): string {
  return arn.slice(arn.lastIndexOf(':') + 1);
}

const nameForm = /^[A-Za-z0-9_-]+$/;
const fifoSuffix = '.fifo';

/** A name ends in .fifo if and only if FifoTopic is true (3.1). */
export function isTopicName(name: string, isFifo: boolean): boolean {
  const stem = isFifo && name.endsWith(fifoSuffix) ? name.slice(0, -fifoSuffix.length) : name;
  return (
    name.endsWith(fifoSuffix) === isFifo && nameForm.test(stem) && name.length <= topicNameLengthMax
  );
}
