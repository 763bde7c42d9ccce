/**
 * SetTopicAttributes and GetTopicAttributes (3.5, 3.8–3.10, 13.1): one attribute at a time, and what follows from it: an archive
 * begins or ends, and with it the replays.
 */

import { type Refusal, refuse } from '../errors.ts';
import { largePublicationSubscriptionsMax, publicationSizeBytesDefault } from '../limits.ts';
import type { Transaction } from '../transaction.ts';
import type { TopicCommandOf, TopicOutcomes } from './commands.ts';
import { endReplays } from './replay.ts';
import type { Topic } from './topic.ts';
import {
  readTopicAttribute,
  refuseLarge,
  settingsOf,
  shownTopicAttributes,
} from './topic-attributes.ts';

export function shownAttributes(topic: Topic, tx: Transaction): Record<string, string> {
  const { subscriptions } = topic;
  const pending = subscriptions.inOrder().filter(({ kept }) => !kept.isConfirmed).length;
  const confirmed = subscriptions.size - pending;
  const { arn, account, isFifo, kept } = topic;
  const { archiveMs = Number.POSITIVE_INFINITY } = topic.settings;
  // What was published before has left the archive, or came before there was one.
  const archivedFrom = kept.archivedSince && Math.max(kept.archivedSince, tx.now - archiveMs);
  return shownTopicAttributes({ arn, account, isFifo, kept, confirmed, pending, archivedFrom });
}

export function setTopicAttribute(
  topic: Topic,
  { name, value = '' }: TopicCommandOf<'set-topic-attribute'>,
  tx: Transaction,
): TopicOutcomes['set-topic-attribute'] | Refusal {
  if (name === undefined) return refuse('topic-parameter-missing', { name: 'AttributeName' });
  const read = readTopicAttribute(topic.isFifo, name, value);
  if (read === undefined) return refuse('topic-attribute-unknown');
  if (!read.ok) return read;
  const { [name]: before, ...others } = topic.kept.attributes;
  if (name === 'FifoThroughputScope' && before === 'MessageGroup' && read.text === 'Topic') {
    const reason = 'It cannot be set back from MessageGroup to Topic';
    return refuse('topic-attribute-invalid', { attribute: name, reason });
  }
  const isLarge = name === 'MaximumMessageSize' && Number(read.text) > publicationSizeBytesDefault;
  if (isLarge && !hasRoomForLarge(topic)) return refuseLarge();
  const attributes = read.text === '' ? others : { ...others, [name]: read.text };
  const isArchived = settingsOf(attributes).archiveMs !== undefined;
  const archivedSince = isArchived ? (topic.kept.archivedSince ?? tx.now) : undefined;
  topic.configure(tx, { ...topic.kept, attributes, archivedSince });
  if (!isArchived) {
    if (topic.archive.size > 0) topic.clear(tx, 'archive');
    endReplays(topic, tx);
  }
  tx.events.push({ type: 'topic-changed', at: tx.now, topic: topic.name });
  return { ok: true };
}

function hasRoomForLarge({ subscriptions }: Topic): boolean {
  return (
    subscriptions.size <= largePublicationSubscriptionsMax &&
    subscriptions.inOrder().every(({ kept }) => kept.protocol === 'sqs')
  );
}
