/**
 * AWS Query with `Accept: application/json` (3.12), or with the parameter `ContentType=JSON` that boto 2 sends to SNS: the
 * request is the same, the answer is the same tree in JSON. SQS writes lists under a lower-case name (`messages`,
 * `queueUrls`) and maps as lists of pairs, and omits empty ones. SNS writes lists and maps as JSON's own, and null for absent
 * members: programs look for the NextToken of a last page.
 *
 * Only a few tools use it, to read the older form with a JSON parser. Nothing here is on a hot path.
 */

import type { ApiResponse } from '../request.ts';
import type { Structure, Type, Value, ValueMap } from '../shapes/shape.ts';
import { type Fault, queryFaultText, wireErrorOf } from './error-codes.ts';
import { glimpseQueryRequest, queryForm, readQueryRequest } from './query.ts';
import { encodeBase64 } from './reading.ts';
import type { NamedAction, WireForm } from './wire-form.ts';

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

  fail(problem: Fault, requestId: string): ApiResponse {
    if (problem.code === 'action-missing') return queryForm.fail(problem, requestId);
    const { code, status, fault } = wireErrorOf(problem);
    const error = { Type: fault, Code: code, Message: queryFaultText(problem) };
    return jsonResponse(status, requestId, { Error: error, RequestId: requestId });
  },
};

function jsonResponse(status: number, requestId: string, body: object): ApiResponse {
  const headers = { 'Content-Type': 'application/json', 'x-amzn-RequestId': requestId };
  return { status, headers, body: JSON.stringify(body) };
}

type Members = (structure: Structure, value: ValueMap) => object;

function membersOf({ fields }: Structure, value: ValueMap): object {
  const present = fields.flatMap(({ name, type }): [string, unknown][] => {
    const member = value[name];
    if (member === undefined) return [];
    const plain = plainOf(type, member, membersOf);
    if (Array.isArray(plain) && plain.length === 0) return [];
    return [[type.is === 'list' ? name.charAt(0).toLowerCase() + name.slice(1) : name, plain]];
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
