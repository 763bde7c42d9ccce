/**
 * Extracts the event ids from a message body, if it is an envelope of the message contract: they connect a message to its
 * replays and their outcomes. Whether the envelope fulfills the rest of the contract is not checked here; that needs JSON
 * Schema, and this does not.
 */

import { parseObject } from '../../core/json-object.ts';

export interface EnvelopeIds {
  readonly eventId: string;
  readonly dedupeKey: string;
  readonly eventSource: string | undefined;
}

/** The contract's longest id, a dedupe key, may have 1,024 characters; anything longer is not an id. */
const idLengthMax = 1_024;

/** Also finds an envelope that a topic wrapped in its notification. */
export function envelopeIds(body: string): EnvelopeIds | undefined {
  const fields = fieldsOf(body);
  const message = fields?.['Type'] === 'Notification' ? fields['Message'] : undefined;
  const {
    event_id: eventId,
    dedupe_key: dedupeKey,
    event_source: eventSource,
  } = (typeof message === 'string' ? fieldsOf(message) : fields) ?? {};
  if (!isId(eventId) || !isId(dedupeKey)) return undefined;
  return { eventId, dedupeKey, eventSource: isId(eventSource) ? eventSource : undefined };
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> | undefined {
  // Most bodies are not envelopes, and finding that out must be cheaper than parsing them.
  if (!text.includes('event_id') || !text.includes('dedupe_key')) return undefined;
  return parseObject(text);
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= idLengthMax;
}
