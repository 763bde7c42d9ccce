/**
 * Every refusal of the contract, one row each: a code for programs, a text for people, and a place in the documentation.
 * A refusal is a value, so that a producer, the guard, `oncemq verify` and the server can each report it in their own way.
 * Functions that cannot return one, such as a send, throw it as a ContractError.
 */

/** The text of each code; `{word}` is replaced by the detail of that name. */
export const refusalTexts = {
  'event-missing': 'There is no event: the producer got {given} instead.',
  'key-missing': 'The dedupe_key is missing or empty. Derive it from what identifies the event.',
  'key-invalid': 'The dedupe_key {reason}.',
  'key-not-deterministic':
    'The dedupe_key of the same event was first "{first}" and then "{second}". Derive it from the event alone, not from time, randomness or the attempt.',
  'key-reused':
    'The dedupe_key "{key}"{of} was used before for another event: the bodies differ. Give each event its own key, and replay an event with the same bytes.',
  'key-only-in-attributes':
    'The key is in the message attribute {name} and not in the body as dedupe_key. Content-based deduplication ignores attributes.',
  'value-only-in-attributes':
    'The attribute {name} seems to distinguish events, but its value "{value}" is nowhere in the body. Put it into the payload, or declare which attributes are critical.',
  'same-body-other-attributes':
    'This body was sent before with other attributes or in another group. Content-based deduplication drops the second message; put what distinguishes them into the body.',
  'event-id-invalid': 'The event_id "{id}" is not {expected}.',
  'source-invalid':
    'The event_source "{source}" must be {namespace}.<domain>.<pipeline>, in lower-case letters, digits, - and _{otherwise}.',
  'time-invalid': 'The event_time "{time}" is not a valid RFC 3339 time.',
  'number-not-canonical':
    'The number {number} at {path} cannot be represented exactly in JSON (RFC 8785). Write it as a string.',
  'value-not-canonical': 'The value at {path} cannot be written as canonical JSON: {reason}.',
  'member-repeated':
    'The body has the member "{name}" twice in one object. Readers differ in which of them counts.',
  'body-not-envelope': 'The body is not {form} of the contract: {reason}.',
  'payload-invalid': 'The payload does not match its schema: {reason}.',
  'schema-violated': "The body does not match the queue's schema: {reason}.",
  'body-too-large':
    'The message has {size} bytes with its attributes; at most {limit} are allowed.',
  'body-too-complex':
    'The body has more than {limit} JSON values. Divide the event, or send a reference to what it is about.',
  'group-invalid':
    'The message group "{group}" must be 1 to 128 ASCII letters, digits and punctuation marks.',
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
