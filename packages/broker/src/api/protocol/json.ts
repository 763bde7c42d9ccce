/**
 * AWS JSON 1.0 (§2): the action in the header X-Amz-Target, a JSON object as input, a JSON object as output.
 *
 * Input is read in place: `JSON.parse` has just created the object for us alone, so a member of the right type costs one
 * check, and only what arrives in another form (base64, numbers for strings in maps, null) is overwritten. Members that
 * the shape does not name stay in the object and are ignored. Names like `__proto__` are harmless: `JSON.parse` makes own
 * properties of them, and an own property is found before an inherited one.
 */

import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { type JsonSize, parseJson, parseWithin } from '../../core/json-object.ts';
import type { ApiRequest, ApiResponse } from '../request.ts';
import {
  type Dictionary,
  type List,
  listIn,
  type Structure,
  type Type,
  type Value,
  type ValueMap,
} from '../shapes/shape.ts';
import { type Fault, fault, faultText, malformed, wireErrorOf } from './error-codes.ts';
import {
  compileIsReady,
  compileWriter,
  type IsReady,
  isCodeAllowed,
  type WriteStructure,
} from './json-code.ts';
import { loopIsReady, loopWriter } from './json-loops.ts';
import {
  encodeBase64,
  isWhole,
  type Reading,
  readBlob,
  type Token,
  Unreadable,
  unconvertible,
} from './reading.ts';
import type {
  ActionTables,
  ListAnswer,
  NamedAction,
  ReadRequest,
  Unread,
  WireForm,
} from './wire-form.ts';

const contentType = 'application/x-amz-json-1.0';
const targetPrefix = 'AmazonSQS.';

export const jsonForm: WireForm = {
  /** The header has the action, so this is exact. */
  glimpse(request, actions) {
    const action = actionOf(request, actions);
    return 'code' in action ? action : { service: 'sqs', action };
  },

  read: readRequest,

  answer({ shape }: NamedAction, output: ValueMap, requestId: string): ApiResponse {
    const body = shape.output === undefined ? '' : writeStructure(shape.output, output);
    const headers = { 'Content-Type': contentType, 'x-amzn-RequestId': requestId };
    // Counted here, where there may be time for it (`prepare` of the backend): it joins the body's texts to one.
    return { status: 200, headers, body, bodyBytes: Buffer.byteLength(body) };
  },

  answerList({ shape }: NamedAction, items: Iterable<Value>, requestId: string): ListAnswer {
    const headers = { 'Content-Type': contentType, 'x-amzn-RequestId': requestId };
    const { name, of } = listIn(shape);
    return { status: 200, headers, texts: listTexts(name, of, items) };
  },

  fail(problem: Fault, requestId: string): ApiResponse {
    const { type, code, status, fault } = wireErrorOf(problem);
    const headers = {
      'Content-Type': contentType,
      'x-amzn-RequestId': requestId,
      'x-amzn-query-error': `${code};${fault}`,
    };
    const body = JSON.stringify({ __type: type, message: faultText(problem) });
    return { status, headers, body };
  },
};

function actionOf<Action extends NamedAction>(
  { headers }: ApiRequest,
  actions: ActionTables<Action>,
): Action | Fault {
  const target = headers['x-amz-target'];
  if (target === undefined) return fault('target-missing');
  const isOurs = target.startsWith(targetPrefix);
  const name = isOurs ? target.slice(targetPrefix.length) : target;
  const action = isOurs ? actions.sqs.get(name) : undefined;
  return action ?? fault('action-invalid', { action: name });
}

function readRequest<Action extends NamedAction>(
  request: ApiRequest,
  actions: ActionTables<Action>,
): ReadRequest<Action> | Unread {
  const action = actionOf(request, actions);
  if ('code' in action) return action;
  const parsed = parse(request.body);
  if (parsed === undefined) {
    return { ...malformed('The request body is not JSON in UTF-8.'), action };
  }
  if (!isObject(parsed)) return { ...malformed('The request body is not a JSON object.'), action };
  const input = readStructure(action.shape.input, parsed);
  return input instanceof Unreadable ? { ...input.fault, action } : { ok: true, action, input };
}

/** Whatever a text of at most this length contains, it is harmless. */
const harmlessLength = 4096;
/** No action's input is nearly this deep. */
const depthMax = 64;
/** As many as a form may have parameters. The largest batch has some hundreds. */
const valuesMax = 10_000;
const bounds: JsonSize = { levels: depthMax, values: valuesMax };

/** Undefined if it is not JSON, or larger than any input; no JSON text has that value. */
function parse(body: Uint8Array): unknown {
  const text = textOf(body);
  if (text === undefined) return undefined;
  return text.length > harmlessLength ? parseWithin(bounds, text) : parseJson(text);
}

/** Undefined if it is not UTF-8: such bytes would silently turn into other characters. */
function textOf(body: Uint8Array): string | undefined {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  // ASCII is the same in Latin-1, whose bytes need no decoding.
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

type JsonObject = Record<string, unknown>;

interface Code {
  readonly isReady: IsReady;
  readonly write: WriteStructure;
}

const codes: Map<Structure, Code> = new Map();

function codeOf(structure: Structure): Code {
  const known = codes.get(structure);
  if (known !== undefined) return known;
  const code = isCodeAllowed
    ? { isReady: compileIsReady(structure), write: compileWriter(structure, writeValue) }
    : { isReady: loopIsReady(structure), write: loopWriter(structure, writeValue) };
  codes.set(structure, code);
  return code;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Most often there is nothing to convert; else it goes through the members that are there. */
function readStructure(structure: Structure, given: JsonObject): ValueMap | Unreadable {
  if (codeOf(structure).isReady(given)) return given as ValueMap;
  const { byName } = structure;
  for (const name in given) {
    const field = byName.get(name);
    if (field === undefined) continue;
    const member = given[name];
    if (field.is === 'string' && typeof member === 'string') continue;
    if (member === null) {
      given[name] = undefined;
      continue;
    }
    const value = readValue(field.type, member);
    if (value instanceof Unreadable) return value;
    if (value !== member) given[name] = value;
  }
  return given as ValueMap;
}

function readValue(type: Type, given: unknown): Reading {
  switch (type.is) {
    case 'list':
      return Array.isArray(given) ? readList(type, given) : unexpected(given, type);
    case 'map':
      return isObject(given) ? readMap(type, given) : unexpected(given, type);
    case 'structure':
      return isObject(given) ? readStructure(type, given) : unexpected(given, type);
    case 'string':
      return typeof given === 'string' ? given : unexpected(given, type);
    case 'blob':
      return typeof given === 'string' ? readBlob(given, type) : unexpected(given, type);
    case 'boolean':
      return typeof given === 'boolean' ? given : unexpected(given, type);
    default:
      return typeof given === 'number' && isWhole(given, type) ? given : unexpected(given, type);
  }
}

function readList({ of }: List, given: unknown[]): Reading {
  const items = given.includes(null) ? given.filter((item) => item !== null) : given;
  const isReady = of.is === 'structure' ? codeOf(of).isReady : undefined;
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at];
    if (isReady !== undefined && isObject(item) && isReady(item)) continue;
    const value = readValue(of, item);
    if (value instanceof Unreadable) return value;
    items[at] = value;
  }
  return items as Value[];
}

function readMap({ of }: Dictionary, given: JsonObject): Reading {
  for (const key of Object.keys(given)) {
    const member = given[key];
    if (member === null) {
      delete given[key];
      continue;
    }
    const value = readValue(of, of.is === 'string' ? asText(member) : member);
    if (value instanceof Unreadable) return value;
    if (value !== member) given[key] = value;
  }
  return given as ValueMap;
}

/** Queue attributes and tags are strings; numbers and booleans are converted (2.5). */
function asText(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

/** The texts of rule 2.7. */
function unexpected(given: unknown, type: Type): Unreadable {
  if (Array.isArray(given)) {
    return new Unreadable(malformed('Start of list found where not expected'));
  }
  if (isObject(given)) {
    return new Unreadable(malformed('Start of structure or map found where not expected.'));
  }
  return unconvertible(tokenOf(given), type);
}

function tokenOf(given: unknown): Token {
  if (typeof given === 'string') return 'STRING_VALUE';
  if (typeof given === 'number') return 'NUMBER_VALUE';
  return given === true ? 'TRUE_VALUE' : 'FALSE_VALUE';
}

function writeStructure(structure: Structure, value: ValueMap): string {
  return codeOf(structure).write(value);
}

/** Empty for an empty list or map. The shape says what the value is; the casts only repeat it. */
function writeValue(type: Type, value: Value): string {
  switch (type.is) {
    case 'structure':
      return writeStructure(type, value as ValueMap);
    case 'list':
      return writeList(type, value as readonly Value[]);
    case 'map':
      return writeMap(type, value as Readonly<Record<string, Value>>);
    case 'blob':
      return `"${encodeBase64(value as Uint8Array)}"`;
    default:
      return JSON.stringify(value);
  }
}

function writeList({ of }: List, items: readonly Value[]): string {
  if (items.length === 0) return '';
  const write = of.is === 'structure' ? codeOf(of).write : (item: Value) => writeValue(of, item);
  let text = '[';
  for (let at = 0; at < items.length; at += 1) {
    const written = write(items[at] as ValueMap);
    text += at === 0 ? written : `,${written}`;
  }
  return `${text}]`;
}

function* listTexts(name: string, of: Type, items: Iterable<Value>): Generator<string> {
  let before = `{${JSON.stringify(name)}:[`;
  for (const item of items) {
    yield before + writeValue(of, item);
    before = ',';
  }
  yield ']}';
}

function writeMap({ of }: Dictionary, entries: Readonly<Record<string, Value>>): string {
  if (of.is === 'string') {
    const whole = JSON.stringify(entries);
    return whole === '{}' ? '' : whole;
  }
  let text = '';
  for (const key of Object.keys(entries)) {
    const written = writeValue(of, entries[key] as Value);
    text += `${text === '' ? '{' : ','}${JSON.stringify(key)}:${written}`;
  }
  return text === '' ? '' : `${text}}`;
}
