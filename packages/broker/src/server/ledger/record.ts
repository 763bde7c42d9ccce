/**
 * A record of the ledger: a PROV-O activity in JSON-LD, with additional plain fields for people and for `oncemq trace`. A
 * message is an entity: accepting and publishing generate it, delivering uses it, deleting and expiring invalidate it, a
 * move or a fan-out derives another one from it. The event that an envelope reports is an entity as well, which the
 * message specializes, and its source is the agent that the event is attributed to; a send that made no message uses the
 * event. The format is published in schemas/: ledger.schema.json, ledger.context.jsonld and ledger.shapes.ttl. Names are
 * those of the contract, in snake case.
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
  const owner = queue === undefined ? topic && `topic:${topic}` : `queue:${queue}`;
  const record = {
    '@context': contextId,
    '@id': `urn:oncemq:record:${id}`,
    '@type': 'prov:Activity',
    'prov:startedAtTime': time,
    'prov:atLocation': owner && `urn:oncemq:${owner}`,
    ...relations(fields),
    ...fields,
  };
  return `${JSON.stringify(record)}\n`;
}

interface Relations {
  readonly 'prov:used'?: string | EventNode | readonly [string, EventNode];
  readonly 'prov:generated'?: string | object;
  readonly 'prov:invalidated'?: string;
}

/** An event with its source, as an entity and its agent. */
interface EventNode {
  readonly '@id': string;
  readonly '@type': 'prov:Entity';
  readonly 'prov:wasAttributedTo': { readonly '@id': string; readonly '@type': 'prov:Agent' };
}

function relations(fields: LedgerFields): Relations {
  const message = entity(fields.message_id);
  switch (fields.event) {
    case 'published':
    case 'accepted': {
      const event = eventNode(fields);
      return {
        'prov:generated': event ? { '@id': message, 'prov:specializationOf': event } : message,
      };
    }
    case 'suppressed': {
      const event = eventNode(fields);
      const original = entity(fields.original_message_id);
      return { 'prov:used': event ? [original, event] : original };
    }
    case 'violation': {
      const event = eventNode(fields);
      return event ? { 'prov:used': event } : {};
    }
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

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const contractSource = /^[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*){2}$/;

/**
 * Only for ids in the form of the contract: nothing else is checked before it gets here, and text of any kind would give
 * names that RDF forbids, or that mean another thing. The plain fields show it in any case.
 */
function eventNode({
  event_id: id = '',
  event_source: source = '',
}: AboutMessage): EventNode | undefined {
  if (!uuid.test(id) || !contractSource.test(source)) return undefined;
  const agent = { '@id': `urn:oncemq:source:${source}`, '@type': 'prov:Agent' } as const;
  return { '@id': `urn:uuid:${id}`, '@type': 'prov:Entity', 'prov:wasAttributedTo': agent };
}
