/**
 * Maps an event of the stream to the plain fields of its ledger record, or to nothing if it explains nothing about a
 * message. The ledger contains no bodies, only their SHA-256 and, if they are envelopes, the ids in them.
 */

import { envelopeIds } from '../../api/inspect/envelope-ids.ts';
import { differencesIn, isCollision } from '../../core/deduplication/difference.ts';
import { sha256Hex } from '../../core/digest/digests.ts';
import type { Event, Suppressed } from '../../core/events.ts';
import { sequenceNumber } from '../../core/sequence-number.ts';
import type { AboutMessage, LedgerFields } from './record.ts';

/** The maximum length of a reason in a record; that of a schema violation can quote a lot. */
const reasonLengthMax = 1_024;

/** `about` returns what is remembered about a message that the event only names. */
export function fieldsOf(
  event: Event,
  about: (messageId: string) => AboutMessage,
): LedgerFields | undefined {
  switch (event.type) {
    case 'published': {
      const { topic, messageId, sequence, groupId, deduplicationId, publication } = event;
      return {
        event: 'published',
        topic,
        message_id: messageId,
        sequence_number: sequence === undefined ? undefined : sequenceNumber(sequence),
        group: groupId,
        deduplication_id: deduplicationId,
        ...aboutBody(publication.message),
      };
    }
    case 'sent': {
      const { queue, groupId, deduplicationId, source, content } = event;
      const hash = source === 'content' ? deduplicationId : undefined;
      return {
        event: 'accepted',
        ...messageOf(event),
        queue,
        group: groupId ?? content.groupId,
        deduplication_id: deduplicationId,
        source,
        ...aboutBody(content.body, hash),
      };
    }
    case 'duplicate':
      return {
        event: 'suppressed',
        queue: event.queue,
        ...suppressed(event),
        ...aboutBody(event.content.body, hashOf(event)),
      };
    case 'duplicate-publication':
      return {
        event: 'suppressed',
        topic: event.topic,
        ...suppressed(event),
        ...aboutBody(event.message, hashOf(event)),
      };
    case 'contract-violation': {
      const { queue, groupId, mode, rule, reason, body } = event;
      return {
        event: 'violation',
        queue,
        group: groupId,
        mode,
        rule,
        reason: cut(reason),
        ...aboutBody(body),
      };
    }
    case 'publication-violation': {
      const { topic, groupId, mode, rule, reason, message } = event;
      return {
        event: 'violation',
        topic,
        group: groupId,
        mode,
        rule,
        reason: cut(reason),
        ...aboutBody(message),
      };
    }
    case 'delivered':
    case 'deleted':
    case 'expired':
      return {
        event: event.type,
        ...messageOf(event),
        queue: event.queue,
        receive_count: event.type === 'delivered' ? event.receiveCount : undefined,
        ...about(event.messageId),
      };
    case 'dead-lettered':
      return {
        event: 'dead-lettered',
        ...messageOf(event),
        queue: event.queue,
        target: event.target,
        receive_count: event.receiveCount,
        ...about(event.messageId),
      };
    case 'moved':
      return {
        event: 'moved',
        ...messageOf(event),
        queue: event.queue,
        target: event.destination,
        new_message_id: event.newMessageId,
        ...about(event.messageId),
      };
    case 'fanned-out':
      return {
        event: 'fanned-out',
        ...publicationOf(event),
        queue: event.queue,
        queue_message_id: event.queueMessageId,
        duplicate: event.isDuplicate || undefined,
      };
    case 'filtered-out':
      return { event: 'filtered-out', ...publicationOf(event) };
    case 'posted':
      return { event: 'posted', ...publicationOf(event), attempts: event.attempts };
    case 'post-failed':
      return {
        event: 'post-failed',
        ...publicationOf(event),
        attempts: event.attempts,
        reason: cut(event.reason),
      };
    case 'delivery-failed':
      return {
        event: 'delivery-failed',
        ...publicationOf(event),
        endpoint: cut(event.endpoint),
        reason: cut(event.reason),
        target: event.deadLetterQueue,
        queue_message_id: event.deadLetterMessageId,
      };
    case 'queue-purged':
      return { event: 'purged', queue: event.queue, messages: event.messages };
    case 'queue-deleted':
      return { event: 'queue-deleted', queue: event.queue };
    case 'window-forgotten':
      return { event: 'window-forgotten', queue: event.queue, entries: event.entries };
    case 'topic-window-forgotten':
      return { event: 'window-forgotten', topic: event.topic, entries: event.entries };
    default:
      return undefined;
  }
}

function messageOf(event: {
  readonly queue: string;
  readonly messageId: string;
  readonly sequence: number;
}): Pick<LedgerFields, 'message_id' | 'sequence_number'> {
  const isFifo = event.queue.endsWith('.fifo');
  return {
    message_id: event.messageId,
    sequence_number: isFifo ? sequenceNumber(event.sequence) : undefined,
  };
}

function publicationOf(event: {
  readonly topic: string;
  readonly subscription: string;
  readonly messageId: string;
}): Pick<LedgerFields, 'topic' | 'subscription' | 'message_id'> {
  const { topic, subscription, messageId } = event;
  return { topic, subscription, message_id: messageId };
}

function suppressed(event: Suppressed): Omit<LedgerFields, 'event'> {
  return {
    group: event.groupId,
    deduplication_id: event.deduplicationId,
    source: event.source,
    original_message_id: event.original.messageId,
    matched_by: event.matchedBy,
    age_seconds: event.ageMs / 1000,
    differed: differencesIn(event.differed),
    collision: isCollision(event) || undefined,
  };
}

/** A content-based deduplication id already is the hash of the body. */
function hashOf({ source, deduplicationId }: Suppressed): string | undefined {
  return source === 'content' ? deduplicationId : undefined;
}

function aboutBody(body: string, hash: string = sha256Hex(body)): Omit<LedgerFields, 'event'> {
  const { eventId, eventSource, dedupeKey } = envelopeIds(body) ?? {};
  return {
    event_id: eventId,
    event_source: eventSource,
    dedupe_key: dedupeKey,
    body_sha256: hash,
  };
}

function cut(text: string): string {
  return text.length <= reasonLengthMax ? text : `${text.slice(0, reasonLengthMax - 1)}…`;
}
