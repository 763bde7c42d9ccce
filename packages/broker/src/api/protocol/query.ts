/**
 * AWS Query (§3), the older wire form: parameters in the query string, in a form body, or in both, and answers in XML.
 * The action is a parameter; the queue is one too, or else the path.
 *
 * Input is read by shape from the tree of parameters; what the shape does not name is never looked at.
 */

import { isUtf8 } from 'node:buffer';
import { refuse } from '../../core/errors.ts';
import type { ApiRequest, ApiResponse } from '../request.ts';
import type { Dictionary, List, Structure, Type, Value, ValueMap } from '../shapes/shape.ts';
import { type Fault, fault, malformed, queryFaultText, wireErrorOf } from './error-codes.ts';
import { Parameter, readParameters } from './parameters.ts';
import { isWhole, type Reading, readBlob, Unreadable, unconvertible } from './reading.ts';
import type { NamedAction, ReadRequest, WireForm } from './wire-form.ts';
import { element, escapeXml, writeMembers } from './xml.ts';

const contentType = 'text/xml';
const declaration = '<?xml version="1.0"?>';
const namespace = 'http://queue.amazonaws.com/doc/2012-11-05/';

/** Actions about no single queue are refused at a queue's own path (3.3). */
const actionsWithoutPath: ReadonlySet<string> = new Set(['CreateQueue', 'ListQueues']);

export const queryForm: WireForm = {
  read: readQueryRequest,

  answer({ name, shape }: NamedAction, output: ValueMap, requestId: string): ApiResponse {
    const result =
      shape.output === undefined
        ? ''
        : element(`${name}Result`, writeMembers(shape.output, output));
    const metadata = `<ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata>`;
    return xmlResponse(200, requestId, document(`${name}Response`, result + metadata));
  },

  fail(problem: Fault, requestId: string): ApiResponse {
    const { code, status, fault } = wireErrorOf(problem);
    if (problem.code === 'action-missing') {
      return xmlResponse(status, requestId, '<UnknownOperationException/>');
    }
    const text = element('Message', escapeXml(queryFaultText(problem)));
    const error = `<Error><Type>${fault}</Type><Code>${code}</Code>${text}<Detail/></Error>`;
    const content = `${error}<RequestId>${requestId}</RequestId>`;
    return xmlResponse(status, requestId, document('ErrorResponse', content));
  },
};

function xmlResponse(status: number, requestId: string, body: string): ApiResponse {
  const headers = { 'Content-Type': contentType, 'x-amzn-RequestId': requestId };
  return { status, headers, body };
}

function document(root: string, content: string): string {
  return `${declaration}<${root} xmlns="${namespace}">${content}</${root}>`;
}

export function readQueryRequest<Action extends NamedAction>(
  request: ApiRequest,
  actions: ReadonlyMap<string, Action>,
): ReadRequest<Action> | Fault {
  const form = formOf(request);
  if (form === undefined) return malformed('The request body is not UTF-8.');
  const parameters = readParameters(request.query, form);
  if (!(parameters instanceof Parameter)) return parameters;
  const name = parameters.child('Action')?.value;
  if (name === undefined || name === '') return fault('action-missing');
  const action = actions.get(name);
  const isAtQueue = isQueuePath(request.path);
  if (action === undefined || (isAtQueue && actionsWithoutPath.has(name))) {
    return fault('action-invalid', { action: name });
  }
  const input = readStructure(action.shape.input, parameters, '');
  if (input instanceof Unreadable) return input.fault;
  // Harmless for actions without a queue: they do not look at it. (3.2)
  if (isAtQueue && input['QueueUrl'] === undefined) input['QueueUrl'] = request.path;
  return { ok: true, action, input };
}

/** The body, if it is a form; undefined if its bytes are no text. */
function formOf({ headers, body }: ApiRequest): string | undefined {
  const type = headers['content-type'] ?? 'application/x-www-form-urlencoded';
  if (body.length === 0 || !type.toLowerCase().includes('x-www-form-urlencoded')) return '';
  if (!isUtf8(body)) return undefined;
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}

/** Whether the path can name a queue: `/000000000000/jobs`. */
function isQueuePath(path: string): boolean {
  const second = path.indexOf('/', 1);
  return second > 0 && second < path.length - 1;
}

type Draft = Record<string, Value | undefined>;

function readStructure({ fields }: Structure, from: Parameter, path: string): Draft | Unreadable {
  // Names are the shape's, so a plain object will do.
  const members: Draft = {};
  for (const { name, query, type } of fields) {
    const parameter = from.child(query);
    if (parameter === undefined) continue;
    const value = readValue(type, parameter, path + query);
    if (value instanceof Unreadable) return value;
    members[name] = value;
  }
  return members;
}

/** Undefined for a scalar that has no value of its own: `QueueName.1=a` is no QueueName. */
function readValue(type: Type, from: Parameter, path: string): Reading | undefined {
  switch (type.is) {
    case 'structure':
      return readStructure(type, from, `${path}.`);
    case 'list':
      return readList(type, from, path);
    case 'map':
      return readMap(type, from, path);
    default:
      return from.value === undefined ? undefined : readScalar(type, from.value);
  }
}

function readScalar(type: Type, text: string): Reading {
  switch (type.is) {
    case 'integer':
    case 'long': {
      const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return isWhole(value, type) ? value : unconvertible('STRING_VALUE', type);
    }
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : unconvertible('STRING_VALUE', type));
    case 'blob':
      return readBlob(text, type);
    default:
      return text;
  }
}

function readList({ of }: List, from: Parameter, path: string): Reading {
  const items: Value[] = [];
  const numbered = from.numbered();
  // Old clients leave the number away when there is one item; some write an empty list as an empty value.
  if (numbered.length === 0 && from.value !== undefined && from.value !== '') {
    numbered.push(['1', from]);
  }
  for (const [index, parameter] of numbered) {
    const value = readValue(of, parameter, `${path}.${index}`);
    if (value instanceof Unreadable) return value;
    if (value !== undefined) items.push(value);
  }
  return items;
}

function readMap({ of, key, value }: Dictionary, from: Parameter, path: string): Reading {
  // Keys are the client's; an object without a prototype takes `__proto__` for a name like any other.
  const entries: Draft = Object.create(null);
  for (const [index, parameter] of from.numbered()) {
    const name = parameter.child(key)?.value;
    if (name === undefined) return missing(`${path}.${index}.${key}`);
    const given = parameter.child(value);
    const read =
      given === undefined ? undefined : readValue(of, given, `${path}.${index}.${value}`);
    if (read instanceof Unreadable) return read;
    // An attribute without any value is core's to judge, like one with an empty structure in JSON.
    const entry = read ?? (of.is === 'structure' ? {} : undefined);
    if (entry === undefined) return missing(`${path}.${index}.${value}`);
    entries[name] = entry;
  }
  return entries;
}

function missing(name: string): Unreadable {
  return new Unreadable(refuse('parameter-missing', { name }));
}
