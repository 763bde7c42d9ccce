/**
 * The NextToken of SNS's lists (3.12, 5.11): where the last page ended, in base64. That is a name in a list of topics, and
 * a position in a list of subscriptions; anything else was not issued by this server and is refused.
 */

import { refuse } from '../../../core/errors.ts';
import type { SubscriptionPosition } from '../../../core/topic/commands.ts';
import type { Fault } from '../../protocol/error-codes.ts';

export function writeToken(end: string | undefined): string | undefined {
  return end === undefined ? undefined : Buffer.from(end, 'utf8').toString('base64');
}

export function readToken(token: string | undefined): string | undefined | Fault {
  if (token === undefined || token === '') return undefined;
  const end = Buffer.from(token, 'base64').toString('utf8');
  return end !== '' && writeToken(end) === token ? end : refuse('topic-token-invalid');
}

export function writePosition(position: SubscriptionPosition | undefined): string | undefined {
  return position === undefined ? undefined : writeToken(`${position.topic} ${position.stamp}`);
}

export function readPosition(token: string | undefined): SubscriptionPosition | undefined | Fault {
  const text = readToken(token);
  if (typeof text !== 'string') return text;
  const [, topic, stamp] = /^(\S+) (\d{1,15})$/.exec(text) ?? [];
  if (topic === undefined) return refuse('topic-token-invalid');
  return { topic, stamp: Number(stamp) };
}
