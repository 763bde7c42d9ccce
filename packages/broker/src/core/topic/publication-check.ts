/**
 * Whether a message may be published at all: text, subject, structure, attributes and ids (§6, §8, 10.2–10.4). Nothing
 * is published unless every entry of the request is good (7.1), so checking comes first and changes nothing.
 */

import type { MessageAttribute } from '../changes.ts';
import type { AttributeInput } from '../commands.ts';
import { utf8Length } from '../digest/digests.ts';
import { type Refusal, refuse } from '../errors.ts';
import { parseObject } from '../json-object.ts';
import { attributeNameLengthMax, idLengthMax, subjectLengthMax } from '../limits.ts';
import type { PublishEntry } from './commands.ts';
import type { Topic } from './topic.ts';

/** A message that may be published. */
export interface CheckedPublication {
  readonly ok: true;
  /** The text as published, which the content hash covers. */
  readonly text: string;
  readonly message: string;
  readonly messageFor: Readonly<Record<string, string>> | undefined;
  readonly attributes: readonly MessageAttribute[];
}

const protocols = ['sqs', 'http', 'https'];

/** All but the ids. `path` locates the entry in its batch, for the error texts that name it. */
export function checkPublication(entry: PublishEntry, path: string): CheckedPublication | Refusal {
  const { message: text = '', subject } = entry;
  if (text === '') return refuse('message-empty');
  if (subject !== undefined && !isSubject(subject)) return refuse('subject-invalid');
  const structured = readStructure(text, entry.structure);
  if (!structured.ok) return structured;
  const attributes = checkAttributes(entry.attributes ?? [], path);
  if (!attributes.ok) return attributes;
  const { message, messageFor } = structured;
  return { ok: true, text, message, messageFor, attributes: attributes.values };
}

/** Bytes that count against the limit (6.3). */
export function publicationSize(entry: PublishEntry): number {
  let size = utf8Length(entry.message ?? '');
  for (const attribute of entry.attributes ?? []) {
    size += utf8Length(attribute.name) + utf8Length(attribute.type ?? '');
    size += attribute.binaryValue?.length ?? utf8Length(attribute.stringValue ?? '');
  }
  return size;
}

/** Printable, without line breaks (6.2). */
function isSubject(subject: string): boolean {
  return subject !== '' && subject.length <= subjectLengthMax && !/\p{Cc}/u.test(subject);
}

type Structured =
  | {
      readonly ok: true;
      readonly message: string;
      readonly messageFor: Readonly<Record<string, string>> | undefined;
    }
  | Refusal;

/** MessageStructure=json (6.7): the default text, and those of protocols that have one of their own. */
function readStructure(text: string, structure: string | undefined): Structured {
  if (structure === undefined || structure === '') {
    return { ok: true, message: text, messageFor: undefined };
  }
  if (structure !== 'json') return refuse('structure-unknown');
  const texts = parseObject(text);
  if (texts === undefined) return refuse('structure-not-json');
  const message = Object.hasOwn(texts, 'default') ? texts['default'] : undefined;
  if (typeof message !== 'string') return refuse('structure-without-default');
  const own = protocols.flatMap((protocol): [string, string][] => {
    const value = Object.hasOwn(texts, protocol) ? texts[protocol] : undefined;
    return typeof value === 'string' ? [[protocol, value]] : [];
  });
  return { ok: true, message, messageFor: own.length === 0 ? undefined : Object.fromEntries(own) };
}

// Letters, digits and ASCII punctuation: everything printable but the space.
const idForm = /^[!-~]+$/;

/** The ids of all entries, because a group missing from any of them is told before a missing id (7.2, 10.2–10.4). */
export function checkIds(topic: Topic, entries: readonly PublishEntry[]): Refusal | undefined {
  const groups = entries.map(({ groupId }) => groupId);
  const ids = entries.map(({ deduplicationId }) => deduplicationId);
  if (topic.isFifo) {
    if (groups.includes(undefined)) return refuse('publication-group-missing');
    if (ids.includes(undefined) && !topic.settings.isContentBased) {
      return refuse('publication-id-missing');
    }
  } else if (ids.some((id) => id !== undefined)) {
    return refuse('publication-id-on-standard');
  }
  if (!groups.every(isId)) return refuse('publication-id-invalid', { name: 'MessageGroupId' });
  if (!ids.every(isId)) {
    return refuse('publication-id-invalid', { name: 'MessageDeduplicationId' });
  }
  return undefined;
}

function isId(id: string | undefined): boolean {
  return id === undefined || (id.length <= idLengthMax && idForm.test(id));
}

function checkAttributes(
  inputs: readonly AttributeInput[],
  path: string,
): { ok: true; values: readonly MessageAttribute[] } | Refusal {
  const values: MessageAttribute[] = [];
  for (const input of inputs) {
    const { name } = input;
    const wrongName = checkName(name);
    if (wrongName !== undefined) return wrongName;
    const value = checkValue(input, path);
    if (!value.ok) return value;
    values.push({ name, type: input.type as string, value: value.value });
  }
  return { ok: true, values };
}

const foreignCharacter = /[^A-Za-z0-9_.-]/u;

/** The table of 8.1, and the names that are Amazon's own (8.2). */
function checkName(name: string): Refusal | undefined {
  if (name === '') return refuse('publication-attribute-name-empty');
  if (utf8Length(name) > attributeNameLengthMax) return refuse('publication-attribute-name-long');
  const foreign = foreignCharacter.exec(name)?.[0];
  if (foreign !== undefined) {
    const code = (foreign.codePointAt(0) as number).toString(16).toUpperCase();
    return refuse('publication-attribute-name-character', { code });
  }
  if (name.startsWith('.')) return refuse('publication-attribute-name-start');
  if (name.endsWith('.')) return refuse('publication-attribute-name-end');
  if (name.includes('..')) return refuse('publication-attribute-name-dots');
  return /^(aws|amazon)\./i.test(name)
    ? refuse('publication-attribute-name-reserved', { name })
    : undefined;
}

const typeForm = /^(String|Number|Binary)(\..+)?$/s;
const numberForm = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$/;

function checkValue(
  { name, type, stringValue, binaryValue }: AttributeInput,
  path: string,
): { ok: true; value: string | Uint8Array } | Refusal {
  if (type === undefined) {
    const member = `${path}messageAttributes.${name}.member.dataType`;
    return refuse('topic-member-missing', { path: member });
  }
  const base = typeForm.exec(type)?.[1];
  if (base === undefined) return refuse('publication-attribute-type', { name });
  const isBinary = base === 'Binary';
  const value = isBinary ? binaryValue : stringValue;
  const other = isBinary ? stringValue : binaryValue;
  if (value === undefined && other !== undefined && other.length > 0) {
    const field = isBinary ? 'Binary' : 'String';
    return refuse('publication-attribute-field', { name, type, field });
  }
  if (value === undefined || value.length === 0) {
    return refuse('publication-attribute-empty', { name, type });
  }
  if (base === 'Number' && !numberForm.test(value as string)) {
    return refuse('publication-attribute-number', { name });
  }
  return { ok: true, value };
}
