/**
 * The envelope: the one form of a message body in which a content hash covers everything that makes an event unique.
 * Its schema says what it must look like; this file maps each schema error to the refusal that explains it.
 */

import type { ErrorObject } from 'ajv';
import { changedNumber } from './canonical.ts';
import { envelopeSchema } from './published-schemas.ts';
import { type Refusal, refuse } from './refusals.ts';
import { compileSchema, schemaReason } from './schemas.ts';

/** One event as it is sent: the whole message body, before canonical serialization (RFC 8785). */
export interface Envelope<Payload = unknown> {
  /** Provenance: a UUID v7, created once when the event is first recorded, and the same in every replay. */
  readonly event_id: string;
  /** Who reports the event: `<namespace>.<domain>.<pipeline>`, where the namespace is `kfm` by default. */
  readonly event_source: string;
  /** When it happened, as an RFC 3339 time. */
  readonly event_time: string;
  /** The logical event's identity, derived from the event alone, not from the time or the attempt. */
  readonly dedupe_key: string;
  /** What happened. */
  readonly payload: Payload;
}

/** The organization that the contract is for by default; configurable wherever it matters. */
export const defaultNamespace = 'kfm';

const findEnvelopeError = compileSchema(envelopeSchema);

/** Why the value is not an envelope of the namespace; undefined if it is one. */
export function checkEnvelope(
  value: unknown,
  namespace: string = defaultNamespace,
): Refusal | undefined {
  const error = findEnvelopeError(value);
  if (error !== undefined) return refusalOf(error, value as Record<string, unknown>, namespace);
  const { event_source: source } = value as Envelope;
  const [own] = source.split('.');
  if (own === namespace) return undefined;
  const otherwise = `; or set namespace to "${own}"`;
  return refuse('source-invalid', { source, namespace, otherwise });
}

/** An event_time as epoch milliseconds. RFC 3339 allows leap seconds and Date does not: one counts as the second before. */
export function epochMsOf(eventTime: string): number {
  return Date.parse(eventTime.replace(':60', ':59'));
}

/** Parses a message body as an envelope, or says why it is not one. */
export function readEnvelope(
  body: string,
  namespace?: string,
): { readonly ok: true; readonly envelope: Envelope } | Refusal {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    return refuse('body-not-envelope', { reason: `it is not JSON (${(error as Error).message})` });
  }
  const refusal = checkEnvelope(value, namespace);
  if (refusal !== undefined) return refusal;
  const number = changedNumber(body);
  if (number !== undefined) return refuse('number-not-canonical', { number, path: 'the body' });
  return { ok: true, envelope: value as Envelope };
}

function refusalOf(
  error: ErrorObject,
  value: Readonly<Record<string, unknown>>,
  namespace: string,
): Refusal {
  const missing: unknown = error.params['missingProperty'];
  const member = typeof missing === 'string' ? missing : error.instancePath.split('/')[1];
  const reason = schemaReason(error);
  if (member === 'dedupe_key') {
    const key = value['dedupe_key'] ?? '';
    const isMissing = typeof key === 'string' && key.trim() === '';
    return isMissing
      ? refuse('key-missing')
      : refuse('key-invalid', { reason: error.message ?? '' });
  }
  if (typeof missing === 'string') return refuse('body-not-envelope', { reason });
  if (member === 'event_id') {
    return refuse('event-id-invalid', { reason: `"${shown(value['event_id'])}" is not valid` });
  }
  if (member === 'event_source') {
    const source = shown(value['event_source']);
    return refuse('source-invalid', { source, namespace, otherwise: '' });
  }
  if (member === 'event_time') return refuse('time-invalid', { time: shown(value['event_time']) });
  return refuse('body-not-envelope', { reason });
}

/** String() is not safe for objects: an untrusted one may have a `toString` member that is not a function. */
function shown(value: unknown): string {
  return typeof value === 'object' ? (value === null ? 'null' : 'an object') : String(value);
}
