/**
 * A record of the ledger: a PROV-O activity in JSON-LD, with additional plain fields for people and for `oncemq trace`. A
 * message is an entity: accepting and publishing generate it, delivering uses it, deleting and expiring invalidate it, a
 * move or a fan-out derives another one from it. The format is published as schemas/ledger.schema.json and
 * schemas/ledger.context.jsonld; names are those of the contract, in snake case.
 */

/** What happened to a message; or, about the ledger itself, that it was opened, closed, or lacks records. */
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
  | 'window-forgotten'
  | 'opened'
  | 'closed'
  | 'gap';

/** The envelope ids of a message and its group: only known for messages that were sent since the start. */
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
  /** FIFO only; as clients see it. */
  readonly sequence_number?: string | undefined;
  readonly deduplication_id?: string | undefined;
  /** Where the deduplication id came from. */
  readonly source?: 'explicit' | 'content' | undefined;
  readonly body_sha256?: string | undefined;
  readonly receive_count?: number | undefined;
  /** Suppressed: the message that was accepted, how the two sends matched, and how they differed. */
  readonly original_message_id?: string | undefined;
  readonly matched_by?: 'id' | 'body' | undefined;
  readonly age_seconds?: number | undefined;
  readonly differed?: readonly string[] | undefined;
  readonly collision?: boolean | undefined;
  /** Violation: the rule that was broken, and whether the message was refused. */
  readonly mode?: 'observe' | 'reject' | undefined;
  readonly rule?: string | undefined;
  readonly reason?: string | undefined;
  /** The queue that holds the message now. */
  readonly target?: string | undefined;
  /** Moved: its id in that queue. */
  readonly new_message_id?: string | undefined;
  /** The message of a publication in a queue or dead-letter queue; with `duplicate`, the one that was already there. */
  readonly queue_message_id?: string | undefined;
  readonly duplicate?: boolean | undefined;
  readonly endpoint?: string | undefined;
  readonly attempts?: number | undefined;
  /** Purged: how many messages. */
  readonly messages?: number | undefined;
  /** Window forgotten: how many ids. */
  readonly entries?: number | undefined;
  /** Opened: true if the previous run closed the ledger, false if it was killed. */
  readonly clean?: boolean | undefined;
  readonly version?: string | undefined;
  /** Gap: how many records are missing here. */
  readonly lost?: number | undefined;
}

/** A record as stored in the file. */
export interface LedgerRecord extends LedgerFields {
  readonly '@id': string;
  readonly 'prov:startedAtTime': string;
}

export const contextId = 'urn:oncemq:context:ledger:1';

/** The fields as a line of the file, with their PROV-O relations. */
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
