/**
 * AWS Query (§3), the older wire form of SQS and the only one of SNS: parameters in the query string, in a form body, or
 * in both, and answers in XML. The action is a parameter; the queue is a parameter too, or else the path. The service
 * follows from the API version, the credential scope, or the action itself.
 *
 * Input is read by shape from the tree of parameters; parameters that the shape does not name are ignored.
 */

import { isUtf8 } from 'node:buffer';
import { refuse } from '../../core/errors.ts';
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
import { type Fault, fault, malformed, queryFaultText, wireErrorOf } from './error-codes.ts';
import { Parameter, plainValueOf, readParameters } from './parameters.ts';
import { isWhole, type Reading, readBlob, Unreadable, unconvertible } from './reading.ts';
import type {
  ActionTables,
  Glimpse,
  ListAnswer,
  NamedAction,
  ReadRequest,
  Service,
  Unread,
  WireForm,
} from './wire-form.ts';
import { element, escapeXml, writeElement, writeMembers } from './xml.ts';

const contentType = 'text/xml';
const declaration = '<?xml version="1.0"?>';
const namespaces: Readonly<Record<Service, string>> = {
  sqs: 'http://queue.amazonaws.com/doc/2012-11-05/',
  sns: 'http://sns.amazonaws.com/doc/2010-03-31/',
};
const services: Readonly<Record<string, Service>> = { '2012-11-05': 'sqs', '2010-03-31': 'sns' };
const scopeForm = /Credential=[^,\s]*\/(sqs|sns)\/aws4_request/;

/** Actions that do not concern a single queue are refused at the path of a queue (3.3). */
const actionsWithoutPath: ReadonlySet<string> = new Set(['CreateQueue', 'ListQueues']);

export const queryForm: WireForm = {
  glimpse: glimpseQueryRequest,

  read: readQueryRequest,

  answer(action: NamedAction, output: ValueMap, requestId: string): ApiResponse {
    const { shape } = action;
    const members = shape.output === undefined ? undefined : writeMembers(shape.output, output);
    return answerOf(action, members, requestId);
  },

  answerList(action: NamedAction, items: Iterable<Value>, requestId: string): ListAnswer {
    const { status, headers, body } = answerOf(action, hole, requestId);
    const [before = '', after = ''] = body.split(hole);
    return { status, headers, texts: listTexts(before, action, items, after) };
  },

  fail(problem: Fault, requestId: string): ApiResponse {
    const { code, status, fault } = wireErrorOf(problem);
    const { service = 'sqs' } = problem;
    if (problem.code === 'action-missing') {
      return xmlResponse(status, requestId, '<UnknownOperationException/>');
    }
    const text = element('Message', escapeXml(queryFaultText(problem)));
    const detail = service === 'sqs' ? '<Detail/>' : '';
    const error = `<Error><Type>${fault}</Type><Code>${code}</Code>${text}${detail}</Error>`;
    const content = `${error}<RequestId>${requestId}</RequestId>`;
    return xmlResponse(status, requestId, document(service, 'ErrorResponse', content));
  },
};

/** Where the items of a list belong; XML has no such character. */
const hole = '\0';

function* listTexts(
  before: string,
  { shape }: NamedAction,
  items: Iterable<Value>,
  after: string,
): Generator<string> {
  const { query, of } = listIn(shape);
  yield before;
  for (const item of items) yield writeElement(query, of, item);
  yield after;
}

/** `members` of its output; undefined for an action without output. */
function answerOf(
  { name, service }: NamedAction,
  members: string | undefined,
  requestId: string,
): ApiResponse {
  const result = members === undefined ? '' : element(`${name}Result`, members);
  const metadata = `<ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata>`;
  return xmlResponse(200, requestId, document(service, `${name}Response`, result + metadata));
}

function xmlResponse(status: number, requestId: string, body: string): ApiResponse {
  const headers = { 'Content-Type': contentType, 'x-amzn-RequestId': requestId };
  return { status, headers, body };
}

function document(service: Service, root: string, content: string): string {
  return `${declaration}<${root} xmlns="${namespaces[service]}">${content}</${root}>`;
}

export function readQueryRequest<Action extends NamedAction>(
  request: ApiRequest,
  actions: ActionTables<Action>,
): ReadRequest<Action> | Unread {
  const form = formOf(request);
  if (form === undefined) return malformed('The request body is not UTF-8.');
  const parameters = readParameters(request.query, form);
  if (!(parameters instanceof Parameter)) return parameters;
  const read = readAction(parameters, request, actions);
  return parameters.child('ContentType')?.value === 'JSON' ? { ...read, isJsonAsked: true } : read;
}

function readAction<Action extends NamedAction>(
  parameters: Parameter,
  request: ApiRequest,
  actions: ActionTables<Action>,
): ReadRequest<Action> | Unread {
  const name = parameters.child('Action')?.value;
  if (name === undefined || name === '') return fault('action-missing');
  const parameterOf = (parameter: string): string | undefined => parameters.child(parameter)?.value;
  const service = serviceOf(parameterOf, name, request, actions);
  if (service === 'sns') return readTopicRequest(parameters, actions.sns.get(name), name);
  const action = actions.sqs.get(name);
  const isAtQueue = isQueuePath(request.path);
  if (action === undefined || (isAtQueue && actionsWithoutPath.has(name))) {
    return fault('action-invalid', { action: name });
  }
  const input = readStructure(action.shape.input, parameters, '');
  if (input instanceof Unreadable) return { ...input.fault, action };
  // Harmless for actions without a queue, which ignore it. (3.2)
  if (isAtQueue && input['QueueUrl'] === undefined) input['QueueUrl'] = request.path;
  return { ok: true, action, input };
}

function serviceOf(
  parameterOf: (parameter: string) => string | undefined,
  name: string,
  { headers }: ApiRequest,
  actions: ActionTables<NamedAction>,
): Service {
  const version = parameterOf('Version') ?? '';
  if (Object.hasOwn(services, version)) return services[version] as Service;
  const scope = scopeForm.exec(headers['authorization'] ?? '')?.[1];
  if (scope !== undefined) return scope as Service;
  if (!actions.sns.has(name)) return 'sqs';
  const isShared = actions.sqs.has(name);
  return !isShared || parameterOf('TopicArn') !== undefined ? 'sns' : 'sqs';
}

export function glimpseQueryRequest<Action extends NamedAction>(
  request: ApiRequest,
  actions: ActionTables<Action>,
): Glimpse<Action> {
  const parameterOf = (parameter: string): string | undefined => plainValueOf(request, parameter);
  const name = parameterOf('Action') ?? '';
  const service = serviceOf(parameterOf, name, request, actions);
  const isJsonAsked = parameterOf('ContentType') === 'JSON';
  return { service, action: actions[service].get(name), isJsonAsked };
}

/** Uses the error texts of SNS if the request cannot be read. */
function readTopicRequest<Action extends NamedAction>(
  parameters: Parameter,
  action: Action | undefined,
  name: string,
): ReadRequest<Action> | Unread {
  if (action === undefined) return { ...fault('action-invalid', { action: name }), service: 'sns' };
  const input = readStructure(action.shape.input, parameters, '');
  if (!(input instanceof Unreadable)) return { ok: true, action, input };
  const { code, detail } = input.fault;
  const told = code === 'parameter-missing' ? 'topic-parameter-missing' : code;
  return { ok: false, code: told, detail, service: 'sns', action };
}

/** The body if it is a form, or else an empty text; undefined if its bytes are not UTF-8. */
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
  // Names come from the shape, so a plain object is safe.
  const members: Draft = {};
  for (const { name, query, type } of fields) {
    // Some clients use the member's own name instead of Query's: Java's send `Tags.1.Key` to TagQueue.
    const parameter = from.child(query) ?? from.child(name);
    if (parameter === undefined) continue;
    const value = readValue(type, parameter, path + query);
    if (value instanceof Unreadable) return value;
    members[name] = value;
  }
  return members;
}

/** Undefined for a scalar without a value of its own: `QueueName.1=a` is not a QueueName. */
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

function readList({ of, within }: List, outer: Parameter, path: string): Reading {
  const items: Value[] = [];
  const from = within === undefined ? outer : outer.child(within);
  if (from === undefined) return items;
  const members = of.is === 'structure' ? of.fields.map(({ query }) => query) : [];
  for (const [entryPath, parameter] of entriesOf(from, path, members)) {
    const value = readValue(of, parameter, entryPath);
    if (value instanceof Unreadable) return value;
    if (value !== undefined) items.push(value);
  }
  return items;
}

function readMap({ of, key, value, within }: Dictionary, outer: Parameter, path: string): Reading {
  // Keys come from the client; in an object without a prototype, `__proto__` is a name like any other.
  const entries: Draft = Object.create(null);
  const from = within === undefined ? outer : outer.child(within);
  if (from === undefined) return entries;
  for (const [entryPath, parameter] of entriesOf(from, path, [key, value])) {
    const name = parameter.child(key)?.value;
    if (name === undefined) return missing(`${entryPath}.${key}`);
    const given = parameter.child(value);
    const read = given === undefined ? undefined : readValue(of, given, `${entryPath}.${value}`);
    if (read instanceof Unreadable) return read;
    // Core judges an attribute without any value, like one with an empty structure in JSON.
    const entry = read ?? (of.is === 'structure' ? {} : undefined);
    if (entry === undefined) return missing(`${entryPath}.${value}`);
    entries[name] = entry;
  }
  return entries;
}

/**
 * The entries of a list or map, each with its name: `Tag.1`, `Tag.2`. Old clients omit the number of a single entry: then
 * the list itself has the value or members of the entry. An empty value is no entry, because some clients write an empty
 * list that way. If there are numbered entries, only they count.
 */
function entriesOf(
  from: Parameter,
  path: string,
  members: readonly string[],
): [string, Parameter][] {
  const numbered = from.numbered();
  if (numbered.length > 0) {
    return numbered.map(([index, parameter]) => [`${path}.${index}`, parameter]);
  }
  const isOne = Boolean(from.value) || members.some((name) => from.child(name) !== undefined);
  return isOne ? [[path, from]] : [];
}

function missing(name: string): Unreadable {
  return new Unreadable(refuse('parameter-missing', { name }));
}
