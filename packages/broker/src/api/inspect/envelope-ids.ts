/**
 * The ids of the event that a message body tells of, if the body is an envelope of the message contract: what joins a
 * message to its replays and to what became of them. Whether an envelope keeps the contract in all else is not asked
 * here; that is the contract's own check, which needs JSON Schema, and this does not.
 */

export interface EnvelopeIds {
  readonly eventId: string;
  readonly dedupeKey: string;
  readonly eventSource: string | undefined;
}

/** The contract's longest text, a dedupe key, has 1,024 characters; what is longer is no id. */
const idLengthMax = 1_024;

/** An envelope that a topic wrapped into its notification is found too. */
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
  // Most bodies are no envelopes, and finding that out must cost less than parsing them.
  if (!text.includes('event_id') || !text.includes('dedupe_key')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null;
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= idLengthMax;
}
