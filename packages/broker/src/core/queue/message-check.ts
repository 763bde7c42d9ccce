/**
 * Whether a message may be sent at all: body, attributes and ids, before the queue's kind matters (§7, rules 8.1 and
 * 8.2). The order of checks is that of rule 14.2.
 */

import type { MessageAttribute } from '../changes.ts';
import type { AttributeInput, SendEntry } from '../commands.ts';
import { utf8Length } from '../digest/digests.ts';
import { type Refusal, refuse } from '../errors.ts';
import {
  attributeNameLengthMax,
  attributeTypeLengthMax,
  idLengthMax,
  messageAttributesMax,
} from '../limits.ts';
import { refuseMissing, single } from './batch.ts';

/** What a valid message carries besides its body. */
export interface CheckedAttributes {
  readonly ok: true;
  readonly values: readonly MessageAttribute[];
  readonly traceHeader: string | undefined;
}

/** A message that a topic sends to many queues: checked, measured and digested once for all of them. */
export interface PreparedMessage {
  /** Whether it may be sent, but for its size, which each queue limits. */
  readonly checked: CheckedAttributes | Refusal;
  readonly sizeBytes: number;
  readonly bodyMd5: string;
  readonly attributesMd5: string;
}

const none: readonly AttributeInput[] = [];
/** Shared by all messages without attributes and trace header, which are the most. */
const noAttributes: CheckedAttributes = { ok: true, values: [], traceHeader: undefined };

// Looking for the few unusual characters instead of the many usual ones takes a third of the time for a body of 100 characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for.
const unusualCharacter = /[\0-\x08\x0B\x0C\x0E-\x1F\uD800-\uDFFF\uFFFE\uFFFF]/;
const illegalCharacter = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Whether a text has code points that SQS rejects (7.1). Only surrogates need the slower test: in pairs they are legal. */
function hasIllegalCharacter(text: string): boolean {
  return unusualCharacter.test(text) && illegalCharacter.test(text);
}

/** `index` is the message's position in its batch, or `single`; a refusal tells them apart. */
export function checkMessage(
  entry: SendEntry,
  sizeBytesMax: number,
  index: number,
): CheckedAttributes | Refusal {
  const { body } = entry;
  if (body === undefined || body === '') {
    return refuseMissing('MessageBody', 'SendMessageBatchRequestEntry', index);
  }
  if (isLarger(entry, sizeBytesMax)) {
    const code = index === single ? 'message-too-long' : 'message-too-long-in-batch';
    return refuse(code, { limit: sizeBytesMax });
  }
  if (hasIllegalCharacter(body)) return refuse('body-characters');
  const { attributes, systemAttributes } = entry;
  const checked =
    attributes === undefined && systemAttributes === undefined
      ? noAttributes
      : checkAllAttributes(attributes ?? none, systemAttributes ?? none);
  if (!checked.ok) return checked;
  return (
    checkId('MessageGroupId', entry.groupId) ??
    checkId('MessageDeduplicationId', entry.deduplicationId) ??
    checked
  );
}

/** The same for a message that was prepared. */
export function checkPrepared(
  { checked, sizeBytes }: PreparedMessage,
  sizeBytesMax: number,
): CheckedAttributes | Refusal {
  return sizeBytes > sizeBytesMax ? refuse('message-too-long', { limit: sizeBytesMax }) : checked;
}

/** Whether the message is larger than this. A character takes at most three bytes, so most messages need not be counted. */
function isLarger(entry: SendEntry, bytes: number): boolean {
  return messageSizeBound(entry) > bytes && messageSize(entry) > bytes;
}

/** An upper bound of `messageSize`, without counting. */
export function messageSizeBound({ body, attributes }: SendEntry): number {
  if (attributes !== undefined) return Number.POSITIVE_INFINITY;
  return body === undefined ? 0 : body.length * bytesPerCharMax;
}

/** Bytes that count against the limits: body, attribute names, types and values; not system attributes (7.2). */
export function messageSize(entry: SendEntry): number {
  const { body, attributes } = entry;
  let size = body === undefined ? 0 : utf8Length(body);
  if (attributes === undefined) return size;
  for (const attribute of attributes) {
    size += utf8Length(attribute.name) + utf8Length(attribute.type ?? '');
    size += attribute.binaryValue?.length ?? utf8Length(attribute.stringValue ?? '');
  }
  return size;
}

/** Of a UTF-16 code unit; what UTF-8 writes in four bytes is two of them. */
const bytesPerCharMax = 3;

const numberLengthMax = 300;

// Ids have letters, digits and ASCII punctuation: everything printable but the space.
const noIdCharacter = /[^!-~]/;

/** Group ids, deduplication ids and receive attempt ids have one form (8.2, 11.18). */
export function checkId(name: string, value: string | undefined): Refusal | undefined {
  if (value === undefined) return undefined;
  const isFit = value !== '' && value.length <= idLengthMax && !noIdCharacter.test(value);
  return isFit ? undefined : refuse('id-invalid', { name, value });
}

// Amazon documents letters and digits, and accepts other Latin letters too.
const attributeNameForm = /^[\p{Script=Latin}\d_-]+(\.[\p{Script=Latin}\d_-]+)*$/u;
const reservedName = /^(aws|amazon)\./i;
const attributeTypeForm = /^(String|Number|Binary)(\..+)?$/s;

function checkAllAttributes(
  attributes: readonly AttributeInput[],
  systemAttributes: readonly AttributeInput[],
): CheckedAttributes | Refusal {
  const checked = checkAttributes(attributes);
  if (!checked.ok) return checked;
  const trace = checkSystemAttributes(systemAttributes);
  if (!trace.ok) return trace;
  return { ok: true, values: checked.values, traceHeader: trace.value };
}

function checkAttributes(
  inputs: readonly AttributeInput[],
): { ok: true; values: readonly MessageAttribute[] } | Refusal {
  if (inputs.length === 0) return noAttributes;
  if (inputs.length > messageAttributesMax) {
    return refuse('attributes-too-many', { count: inputs.length });
  }
  const values: MessageAttribute[] = [];
  for (const input of inputs) {
    const { name } = input;
    const isNamedWell =
      name.length <= attributeNameLengthMax &&
      attributeNameForm.test(name) &&
      !reservedName.test(name) &&
      values.every((other) => other.name !== name);
    if (!isNamedWell) return refuse('attribute-name-invalid', { name });
    const value = checkAttributeValue(input);
    if (!value.ok) return value;
    values.push({ name, type: value.type, value: value.value });
  }
  return { ok: true, values };
}

function checkAttributeValue(
  input: AttributeInput,
): { ok: true; type: string; value: string | Uint8Array } | Refusal {
  const { name, type, stringValue, binaryValue } = input;
  if (type === undefined || type === '') return refuse('attribute-type-missing', { name });
  const base = attributeTypeForm.exec(type)?.[1];
  if (base === undefined || type.length > attributeTypeLengthMax) {
    return refuse('attribute-type-invalid', { name });
  }
  if (input.hasListValues) return refuse('attribute-value-list');
  const isBinary = base === 'Binary';
  const value = isBinary ? binaryValue : stringValue;
  const other = isBinary ? stringValue : binaryValue;
  if (value === undefined || value.length === 0 || other !== undefined) {
    return refuse('attribute-value-empty', { name, type });
  }
  if (typeof value === 'string') {
    if (hasIllegalCharacter(value)) return refuse('attribute-value-characters', { name });
    if (base === 'Number' && !isNumber(value)) {
      return refuse('attribute-value-not-number', { name });
    }
  }
  return { ok: true, type, value };
}

/** Up to 38 digits of precision between 10^-128 and 10^126, as the developer guide says. */
function isNumber(text: string): boolean {
  // Any number in range can be written within this length; parsing longer ones would only cost time.
  if (text.length > numberLengthMax) return false;
  const parts = /^[+-]?(?=\d|\.\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$/.exec(text);
  if (parts === null) return false;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  const digits = `${whole}${fraction}`;
  const significant = digits.replace(/^0+/, '').replace(/0+$/, '');
  if (significant === '') return true;
  // The value is 0.DIGITS × 10^power, DIGITS without leading zeros.
  const leading = digits.length - digits.replace(/^0+/, '').length;
  const power = whole.length - leading + Number(exponent);
  const powerMax = significant === '1' ? 127 : 126;
  return significant.length <= 38 && power >= -127 && power <= powerMax;
}

function checkSystemAttributes(
  inputs: readonly AttributeInput[],
): { ok: true; value: string | undefined } | Refusal {
  let trace: string | undefined;
  for (const input of inputs) {
    const { name, stringValue } = input;
    const isTrace = name === 'AWSTraceHeader' && input.type === 'String';
    if (!isTrace || stringValue === undefined || stringValue === '') {
      return refuse('system-attribute-invalid', { name });
    }
    if (hasIllegalCharacter(stringValue)) return refuse('system-attribute-invalid', { name });
    trace = stringValue;
  }
  return { ok: true, value: trace };
}
