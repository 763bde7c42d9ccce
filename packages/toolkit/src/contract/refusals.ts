/**
 * Every refusal of the contract, one row each: a code for programs, a text for people, and a place in the documentation.
 * A refusal is a value, so that a producer, the guard, `oncemq verify` and the server can each report it in their own way.
 * Functions that cannot return one, such as a send, throw it as a ContractError.
 */

/** The text of each code; `{word}` is replaced by the detail of that name. */
export const refusalTexts = {
  'event-missing': 'There is no event: the producer was given {given}.',
  'key-missing': 'The dedupe_key is missing or empty. Derive it from what identifies the event.',
  'key-invalid': 'The dedupe_key {reason}.',
  'key-not-deterministic':
    'The dedupe_key of one event was "{first}" and then "{second}". Derive it from the event alone, not from time, chance or attempt.',
  'key-only-in-attributes':
    'The key is in the message attribute {name} and not in the body as dedupe_key. Deduplication by content does not see attributes.',
  'value-only-in-attributes':
    'The attribute {name} looks as if it told events apart, and its value "{value}" is nowhere in the body. Put it into the payload, or declare which attributes are critical.',
  'same-body-other-attributes':
    'This body was sent before with other attributes or another group. Deduplication by content drops the second one; what tells them apart belongs in the body.',
  'event-id-invalid': 'The event_id {reason}; it must be a UUID v7 in lower case.',
  'source-invalid':
    'The event_source "{source}" is not {namespace}.<domain>.<pipeline> in lower-case letters, digits, - and _.',
  'time-invalid': 'The event_time "{time}" is no RFC 3339 time.',
  'number-not-canonical':
    'The number {number} at {path} does not survive as JSON (RFC 8785). Write it as a string.',
  'value-not-canonical': 'The value at {path} has no form in canonical JSON: {reason}.',
  'body-not-envelope': 'The body is not the envelope of the contract: {reason}.',
  'payload-invalid': 'The payload does not match its schema: {reason}.',
  'schema-violated': 'The body does not match the schema of the queue: {reason}.',
  'body-too-large': 'The message has {size} bytes with its attributes, of {limit} allowed.',
  'group-invalid':
    'The message group "{group}" is not 1 to 128 letters, digits and punctuation marks of ASCII.',
  'attributes-invalid': 'The message attributes cannot be sent: {reason}.',
  'deduplication-id-contradicts':
    'The MessageDeduplicationId "{id}" contradicts the dedupe_key "{key}". Leave it out, or use the key or its SHA-256.',
} as const;

export type RefusalCode = keyof typeof refusalTexts;

export type RefusalDetail = Readonly<Record<string, string | number>>;

export interface Refusal {
  readonly ok: false;
  readonly code: RefusalCode;
  readonly text: string;
  /** The documentation of the code, as a path from the root of the repository. */
  readonly docs: string;
}

const quotedCharsMax = 200;

export function refuse(code: RefusalCode, detail: RefusalDetail = {}): Refusal {
  const text = refusalTexts[code].replace(/\{(\w+)\}/g, (_, word: string) => quoted(detail[word]));
  return { ok: false, code, text, docs: `docs/contracts/producer-requirements.md#${code}` };
}

/** Thrown instead of sending a message that breaks the contract; carries the refusal. */
export class ContractError extends Error {
  override readonly name: string = 'ContractError';
  readonly code: RefusalCode;
  readonly docs: string;
  readonly refusal: Refusal;

  constructor(refusal: Refusal, where = '') {
    super(`${where}${refusal.text} (${refusal.code}, see ${refusal.docs})`);
    this.refusal = refusal;
    this.code = refusal.code;
    this.docs = refusal.docs;
  }
}

/** Bounded, because a refusal may quote untrusted input. */
function quoted(value: string | number | undefined): string {
  const text = String(value);
  return text.length <= quotedCharsMax ? text : `${text.slice(0, quotedCharsMax)}…`;
}
