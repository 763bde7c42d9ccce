/**
 * The envelope: the one form of a message body in which a content hash covers everything that makes an event unique.
 * Its schema says what it must look like; this file maps each schema error to the refusal that explains it. Contracts of
 * the form `keyed` also take flat bodies, which have the key at their top.
 */

import type { ErrorObject } from 'ajv';
import { changedNumber } from './canonical.ts';
import { type BodyForm, type Contract, type ContractOptions, contractOf } from './contract.ts';
import { envelopeSchema, keyedSchema } from './published-schemas.ts';
import { type Refusal, refuse } from './refusals.ts';
import { repeatedMember } from './repeated-member.ts';
import { isRfc3339 } from './rfc3339.ts';
import { compileSchema, schemaReason } from './schemas.ts';

/** One event as it is sent: the whole message body, before canonical serialization (RFC 8785). */
export interface Envelope<Payload = unknown> {
  /** Provenance: a UUID (version 7 is recommended), created once when the event is first recorded, and the same in every replay. */
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

/** Something that is allowed but not recommended; `strict` contracts refuse it. */
export interface Note {
  readonly code: 'event-id-not-v7';
  readonly text: string;
}

export type ReadEnvelope =
  | { readonly ok: true; readonly envelope: Envelope; readonly notes: readonly Note[] }
  | Refusal;

const findError = {
  envelope: compileSchema(envelopeSchema),
  keyed: compileSchema(keyedSchema),
} as const;

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

type Members = Partial<Envelope> & Readonly<Record<string, unknown>>;

/** Why the value is not a body of the contract; undefined if it is one. */
export function checkEnvelope(value: unknown, options: ContractOptions = {}): Refusal | undefined {
  const contract = contractOf(options);
  const error = findError[contract.form](value);
  if (error !== undefined) return refusalOf(error, value as Members, contract);
  // In the keyed form, all but the key may be absent.
  const { event_id: id, event_source: source, event_time: time } = value as Members;
  if (time !== undefined && !isRfc3339(time)) return refuse('time-invalid', { time });
  if (id !== undefined && contract.strict && !uuidV7.test(id)) {
    return refuse('event-id-invalid', { id, expected: 'a lower-case UUID of version 7' });
  }
  const own = source?.split('.')[0] ?? contract.namespace;
  if (own === contract.namespace) return undefined;
  const otherwise = `; or set namespace to "${own}"`;
  const { namespace } = contract;
  return refuse('source-invalid', { source: source as string, namespace, otherwise });
}

/** Parses a message body by the contract, or says why it breaks it. */
export function readEnvelope(body: string, options: ContractOptions = {}): ReadEnvelope {
  const { form } = contractOf(options);
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    return notOfForm(form, `it is not JSON (${(error as Error).message})`);
  }
  const refusal = checkEnvelope(value, options);
  if (refusal !== undefined) return refusal;
  const name = repeatedMember(body);
  if (name !== undefined) return refuse('member-repeated', { name });
  const number = changedNumber(body);
  if (number !== undefined) return refuse('number-not-canonical', { number, path: 'the body' });
  const envelope = envelopeIn(value as Members);
  return { ok: true, envelope, notes: notesOn(envelope) };
}

/** A keyed body that is not an envelope is its own payload; what it does not say is empty. */
function envelopeIn(value: Members): Envelope {
  if (findError.envelope(value) === undefined) return value as unknown as Envelope;
  const { event_id = '', event_source = '', event_time = '', dedupe_key = '' } = value;
  return { event_id, event_source, event_time, dedupe_key, payload: value };
}

function notesOn({ event_id: id }: Envelope): Note[] {
  if (id === '' || uuidV7.test(id)) return [];
  const text = `The event_id "${id}" is not a lower-case UUID of version 7, which is recommended.`;
  return [{ code: 'event-id-not-v7', text }];
}

function notOfForm(form: BodyForm, reason: string): Refusal {
  const words = { envelope: 'an envelope', keyed: 'a keyed body' };
  return refuse('body-not-envelope', { form: words[form], reason });
}

function refusalOf(error: ErrorObject, value: Members, { form, namespace }: Contract): Refusal {
  const missing: unknown = error.params['missingProperty'];
  const member = typeof missing === 'string' ? missing : error.instancePath.split('/')[1];
  const reason = schemaReason(error);
  if (member === 'dedupe_key') {
    const key: unknown = value['dedupe_key'] ?? '';
    const isMissing = typeof key === 'string' && key.trim() === '';
    return isMissing
      ? refuse('key-missing')
      : refuse('key-invalid', { reason: error.message ?? '' });
  }
  if (typeof missing === 'string') return notOfForm(form, reason);
  if (member === 'event_id') {
    return refuse('event-id-invalid', { id: shown(value['event_id']), expected: 'a UUID' });
  }
  if (member === 'event_source') {
    const source = shown(value['event_source']);
    return refuse('source-invalid', { source, namespace, otherwise: '' });
  }
  if (member === 'event_time') return refuse('time-invalid', { time: shown(value['event_time']) });
  return notOfForm(form, reason);
}

/** String() is not safe for objects: an untrusted one may have a `toString` member that is not a function. */
function shown(value: unknown): string {
  return typeof value === 'object' ? (value === null ? 'null' : 'an object') : String(value);
}
