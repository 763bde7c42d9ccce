/**
 * AWS Query with `Accept: application/json` (3.12), or with the parameter `ContentType=JSON` that boto 2 sends to SNS: the
 * request is the same, the answer is the same tree in JSON. SQS writes lists under a lower-case name (`messages`,
 * `queueUrls`) and maps as lists of pairs, and omits empty ones. SNS writes lists and maps as JSON's own, and null for absent
 * members: programs look for the NextToken of a last page.
 *
 * Only a few tools use it, to read the older form with a JSON parser. Nothing here is on a hot path.
 */

import type { ApiResponse } from '../request.ts';
import { listIn, type Structure, type Type, type Value, type ValueMap } from '../shapes/shape.ts';
import { type Fault, queryFaultText, wireErrorOf } from './error-codes.ts';
import { glimpseQueryRequest, queryForm, readQueryRequest } from './query.ts';
import { encodeBase64 } from './reading.ts';
import type { ListAnswer, NamedAction, WireForm } from './wire-form.ts';

export const queryJsonForm: WireForm = {
  glimpse: glimpseQueryRequest,

  read: readQueryRequest,

  answer({ name, service, shape }: NamedAction, output: ValueMap, requestId: string): ApiResponse {
    const members = service === 'sns' ? topicMembersOf : membersOf;
    const result =
      shape.output === undefined ? {} : { [`${name}Result`]: members(shape.output, output) };
    const response = { ...result, ResponseMetadata: { RequestId: requestId } };
    return jsonResponse(200, requestId, { [`${name}Response`]: response });
  },

  /** As SQS writes a list. */
  answerList({ name, shape }: NamedAction, items: Iterable<Value>, requestId: string): ListAnswer {
    const list = listIn(shape);
    const before = `{"${name}Response":{"${name}Result":{"${lowerFirst(list.name)}":[`;
    const after = `]},"ResponseMetadata":${JSON.stringify({ RequestId: requestId })}}}`;
    const texts = listTexts(before, list.of, items, after);
    return { status: 200, headers: headersOf(requestId), texts };
  },

  fail(problem: Fault, requestId: string): ApiResponse {
    if (problem.code === 'action-missing') return queryForm.fail(problem, requestId);
    const { code, status, fault } = wireErrorOf(problem);
    const error = { Type: fault, Code: code, Message: queryFaultText(problem) };
    return jsonResponse(status, requestId, { Error: error, RequestId: requestId });
  },
};

function jsonResponse(status: number, requestId: string, body: object): ApiResponse {
  return { status, headers: headersOf(requestId), body: JSON.stringify(body) };
}

function headersOf(requestId: string): ApiResponse['headers'] {
  return { 'Content-Type': 'application/json', 'x-amzn-RequestId': requestId };
}

function* listTexts(
  before: string,
  of: Type,
  items: Iterable<Value>,
  after: string,
): Generator<string> {
  let text = before;
  for (const item of items) {
    yield text + JSON.stringify(plainOf(of, item, membersOf));
    text = ',';
  }
  yield after;
}

function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

type Members = (structure: Structure, value: ValueMap) => object;

function membersOf({ fields }: Structure, value: ValueMap): object {
  const present = fields.flatMap(({ name, type }): [string, unknown][] => {
    const member = value[name];
    if (member === undefined) return [];
    const plain = plainOf(type, member, membersOf);
    if (Array.isArray(plain) && plain.length === 0) return [];
    return [[type.is === 'list' ? lowerFirst(name) : name, plain]];
  });
  return Object.fromEntries(present);
}

function topicMembersOf({ fields }: Structure, value: ValueMap): object {
  const members = fields.map(({ name, type }): [string, unknown] => {
    const member = value[name];
    return [name, member === undefined ? null : plainOf(type, member, topicMembersOf)];
  });
  return Object.fromEntries(members);
}

function plainOf(type: Type, value: Value, members: Members): unknown {
  switch (type.is) {
    case 'structure':
      return members(type, value as ValueMap);
    case 'list':
      return (value as readonly Value[]).map((item) => plainOf(type.of, item, members));
    case 'map': {
      const entries = Object.entries(value as Readonly<Record<string, Value>>).map(
        ([key, item]): [string, unknown] => [key, plainOf(type.of, item, members)],
      );
      return type.within === undefined
        ? entries.map(([key, item]) => ({ [type.key]: key, [type.value]: item }))
        : Object.fromEntries(entries);
    }
    case 'blob':
      return encodeBase64(value as Uint8Array);
    default:
      return value;
  }
}
