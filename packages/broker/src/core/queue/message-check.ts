/**
 * Whether a message may be sent at all: body, attributes and ids, before the queue's kind matters (§7, rules 8.1 and
 * 8.2). The order of checks is that of rule 14.2.
 */

import type { MessageAttribute } from '../changes.ts';
import type { AttributeInput, SendEntry } from '../commands.ts';
import { utf8Length } from '../digest.ts';
import { type Refusal, refuse } from '../errors.ts';
import {
  attributeNameLengthMax,
  attributeTypeLengthMax,
  idLengthMax,
  messageAttributesMax,
} from '../limits.ts';

/** A message's words, found fit to be sent. */
export interface CheckedMessage {
  readonly ok: true;
  readonly body: string;
  readonly attributes: readonly MessageAttribute[];
  readonly traceHeader: string | undefined;
}

interface Limit {
  readonly sizeBytesMax: number;
  readonly isBatch: boolean;
  /** The name of the body parameter in a refusal. */
  readonly bodyName: string;
}

const none: readonly AttributeInput[] = [];
const noAttributes: { ok: true; values: readonly MessageAttribute[] } = { ok: true, values: [] };

const unusualCharacter = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD]/;
const illegalCharacter = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Whether a text has code points that SQS does not take (7.1). Surrogates alone need the slower look. */
function hasIllegalCharacter(text: string): boolean {
  return unusualCharacter.test(text) && illegalCharacter.test(text);
}

export function checkMessage(entry: SendEntry, limit: Limit): CheckedMessage | Refusal {
  const { body } = entry;
  if (body === undefined || body === '') {
    return refuse('parameter-missing', { name: limit.bodyName });
  }
  if (messageSize(entry) > limit.sizeBytesMax) {
    const code = limit.isBatch ? 'message-too-long-in-batch' : 'message-too-long';
    return refuse(code, { limit: limit.sizeBytesMax });
  }
  if (hasIllegalCharacter(body)) return refuse('body-characters');
  const attributes = checkAttributes(entry.attributes ?? none);
  if (!attributes.ok) return attributes;
  const trace = checkSystemAttributes(entry.systemAttributes ?? none);
  if (!trace.ok) return trace;
  const refusal =
    checkId('MessageGroupId', entry.groupId) ??
    checkId('MessageDeduplicationId', entry.deduplicationId);
  if (refusal !== undefined) return refusal;
  return { ok: true, body, attributes: attributes.values, traceHeader: trace.value };
}

/** Bytes that count against the limits: body, attribute names, types and values; not system attributes (7.2). */
export function messageSize(entry: SendEntry): number {
  let size = utf8Length(entry.body ?? '');
  for (const attribute of entry.attributes ?? []) {
    size += utf8Length(attribute.name) + utf8Length(attribute.type ?? '');
    size += attribute.binaryValue?.length ?? utf8Length(attribute.stringValue ?? '');
  }
  return size;
}

const numberLengthMax = 300;

// Letters, digits and ASCII punctuation: everything printable but the space.
const idForm = /^[!-~]+$/;

/** Group ids, deduplication ids and receive attempt ids have one form (8.2, 11.18). */
export function checkId(name: string, value: string | undefined): Refusal | undefined {
  if (value === undefined || (value.length <= idLengthMax && idForm.test(value))) return undefined;
  return refuse('id-invalid', { name, value });
}

// Amazon documents letters and digits, and accepts other Latin letters too.
const attributeNameForm = /^[\p{Script=Latin}\d_-]+(\.[\p{Script=Latin}\d_-]+)*$/u;
const reservedName = /^(aws|amazon)\./i;
const attributeTypeForm = /^(String|Number|Binary)(\..+)?$/s;

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
  // Digits, point and exponent of any number in range fit; looking closer at more would only cost time.
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
