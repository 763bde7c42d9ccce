/**
 * What the ledger says of an event: one record, a PROV-O activity in JSON-LD, with plain fields beside it for people and
 * for `oncemq trace`. A message is an entity: accepting and publishing generate it, delivering uses it, deleting and
 * expiring invalidate it, a move or a fan-out derives another one from it. The form is published as
 * schemas/ledger.schema.json and schemas/ledger.context.jsonld; names are those of the contract, in snake case.
 *
 * There are no bodies in the ledger, only their SHA-256.
 */

import { type EnvelopeIds, envelopeIds } from '../../api/inspect/envelope-ids.ts';
import { sha256Hex } from '../../core/digest.ts';
import type { Event, Suppressed } from '../../core/events.ts';
import { sequenceNumber } from '../../core/sequence-number.ts';

/** What happened to a message; and, of the ledger itself, that it was opened, closed, or lacks records. */
export type LedgerEvent =
  | 'published'
  | 'filtered-out'
  | 'fanned-out'
  | 'posted'
  | 'post-failed'
  | 'delivery-failed'
  | 'violation'
  | 'accepted'
  | 'suppressed'
  | 'delivered'
  | 'deleted'
  | 'expired'
  | 'dead-lettered'
  | 'moved'
  | 'purged'
  | 'queue-deleted'
  | 'opened'
  | 'closed'
  | 'gap';

/** What joins a message to the event that it tells of, and its group: only known of messages that were sent since the start. */
export interface AboutMessage {
  readonly event_id?: string | undefined;
  readonly event_source?: string | undefined;
  readonly dedupe_key?: string | undefined;
  readonly group?: string | undefined;
}

/** The plain fields of a record. */
export interface LedgerFields extends AboutMessage {
  readonly event: LedgerEvent;
  readonly queue?: string | undefined;
  readonly topic?: string | undefined;
  /** The last part of the subscription's ARN. */
  readonly subscription?: string | undefined;
  /** The message in its queue; with a topic, the publication. */
  readonly message_id?: string | undefined;
  /** FIFO only: as clients see it. */
  readonly sequence_number?: string | undefined;
  readonly deduplication_id?: string | undefined;
  /** Where the deduplication id came from. */
  readonly source?: 'explicit' | 'content' | undefined;
  readonly body_sha256?: string | undefined;
  readonly receive_count?: number | undefined;
  /** Suppressed: the message that was accepted, and what the two sends had in common and not. */
  readonly original_message_id?: string | undefined;
  readonly matched_by?: 'id' | 'body' | undefined;
  readonly age_seconds?: number | undefined;
  readonly differed?: readonly string[] | undefined;
  readonly collision?: boolean | undefined;
  /** Violation: the rule that was broken, and whether the message was refused. */
  readonly mode?: 'observe' | 'reject' | undefined;
  readonly rule?: string | undefined;
  readonly reason?: string | undefined;
  /** Dead-lettered and moved: the queue that has the message now. */
  readonly target?: string | undefined;
  /** Moved: its id there. */
  readonly new_message_id?: string | undefined;
  /** Fanned out: the message that the queue made of the publication; with `duplicate`, the one it had already. */
  readonly queue_message_id?: string | undefined;
  readonly duplicate?: boolean | undefined;
  readonly endpoint?: string | undefined;
  readonly attempts?: number | undefined;
  /** Purged: how many messages. */
  readonly messages?: number | undefined;
  /** Opened: whether the run before was closed, or killed in its work. */
  readonly clean?: boolean | undefined;
  readonly version?: string | undefined;
  /** Gap: how many records are missing here. */
  readonly lost?: number | undefined;
}

/** A record as it stands in the file. */
export interface LedgerRecord extends LedgerFields {
  readonly '@id': string;
  readonly 'prov:startedAtTime': string;
}

export const contextId = 'urn:oncemq:context:ledger:1';

/** What a reason may take of a record; a schema's can quote much. */
const reasonLengthMax = 1_024;

/** What the ledger says of the event; undefined for what does not concern a message. */
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
      };
    case 'queue-purged':
      return { event: 'purged', queue: event.queue, messages: event.messages };
    case 'queue-deleted':
      return { event: 'queue-deleted', queue: event.queue };
    default:
      return undefined;
  }
}

/** The fields as a line of the file, with what PROV-O has to say about them. */
export function lineOf(id: string, time: string, fields: LedgerFields): string {
  const { queue, topic } = fields;
  const place = queue === undefined ? topic && `topic:${topic}` : `queue:${queue}`;
  const record = {
    '@context': contextId,
    '@id': `urn:oncemq:record:${id}`,
    '@type': 'prov:Activity',
    'prov:startedAtTime': time,
    'prov:atLocation': place && `urn:oncemq:${place}`,
    ...relations(fields),
    ...fields,
  };
  return `${JSON.stringify(record)}\n`;
}

interface Relations {
  readonly 'prov:used'?: string;
  readonly 'prov:generated'?: string | object;
  readonly 'prov:invalidated'?: string;
}

function relations(fields: LedgerFields): Relations {
  const message = entity(fields.message_id);
  switch (fields.event) {
    case 'published':
    case 'accepted':
      return { 'prov:generated': message };
    case 'suppressed':
      return { 'prov:used': entity(fields.original_message_id) };
    case 'deleted':
    case 'expired':
      return { 'prov:invalidated': message };
    case 'moved':
      return {
        'prov:generated': derived(fields.new_message_id, message),
        'prov:invalidated': message,
      };
    case 'fanned-out':
      return {
        'prov:used': message,
        ...(fields.duplicate !== true && {
          'prov:generated': derived(fields.queue_message_id, message),
        }),
      };
    default:
      return fields.message_id === undefined ? {} : { 'prov:used': message };
  }
}

function entity(messageId: string | undefined): string {
  return `urn:oncemq:message:${messageId}`;
}

function derived(messageId: string | undefined, from: string): object {
  return { '@id': entity(messageId), 'prov:wasDerivedFrom': from };
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
  const { differed, source } = event;
  const names = (['body', 'attributes', 'group'] as const).filter((name) => differed[name]);
  return {
    group: event.groupId,
    deduplication_id: event.deduplicationId,
    source,
    original_message_id: event.original.messageId,
    matched_by: event.matchedBy,
    age_seconds: event.ageMs / 1000,
    differed: names,
    // A content hash sees neither attributes nor group: most likely another event, and lost.
    collision: (source === 'content' && (differed.attributes || differed.group)) || undefined,
  };
}

/** A content-based deduplication id is the body's hash already. */
function hashOf({ source, deduplicationId }: Suppressed): string | undefined {
  return source === 'content' ? deduplicationId : undefined;
}

function aboutBody(body: string, hash: string = sha256Hex(body)): Omit<LedgerFields, 'event'> {
  return { ...namesOf(envelopeIds(body)), body_sha256: hash };
}

function namesOf(ids: EnvelopeIds | undefined): AboutMessage {
  if (ids === undefined) return {};
  return { event_id: ids.eventId, event_source: ids.eventSource, dedupe_key: ids.dedupeKey };
}

function cut(text: string): string {
  return text.length <= reasonLengthMax ? text : `${text.slice(0, reasonLengthMax - 1)}…`;
}
