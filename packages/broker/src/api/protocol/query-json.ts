/**
 * AWS Query with `Accept: application/json` (3.12): the request is the same, the answer is the same tree in JSON. Amazon
 * writes lists under a lower-case name (`messages`, `queueUrls`) and maps as lists of pairs.
 *
 * Only a few tools use it, to read the older form with a JSON parser. Nothing here is on a hot path.
 */

import type { ApiResponse } from '../request.ts';
import type { Structure, Type, Value, ValueMap } from '../shapes/shape.ts';
import { type Fault, queryFaultText, wireErrorOf } from './error-codes.ts';
import { queryForm, readQueryRequest } from './query.ts';
import { encodeBase64 } from './reading.ts';
import type { NamedAction, WireForm } from './wire-form.ts';

export const queryJsonForm: WireForm = {
  read: readQueryRequest,

  answer({ name, shape }: NamedAction, output: ValueMap, requestId: string): ApiResponse {
    const result =
      shape.output === undefined ? {} : { [`${name}Result`]: membersOf(shape.output, output) };
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

function membersOf({ fields }: Structure, value: ValueMap): object {
  const present = fields.flatMap(({ name, type }): [string, unknown][] => {
    const member = value[name];
    if (member === undefined) return [];
    const plain = plainOf(type, member);
    if (Array.isArray(plain) && plain.length === 0) return [];
    return [
      [
        type.is === 'list' && type.within === undefined
          ? name.charAt(0).toLowerCase() + name.slice(1)
          : name,
        plain,
      ],
    ];
  });
  return Object.fromEntries(present);
}

function plainOf(type: Type, value: Value): unknown {
  switch (type.is) {
    case 'structure':
      return membersOf(type, value as ValueMap);
    case 'list':
      return (value as readonly Value[]).map((item) => plainOf(type.of, item));
    case 'map':
      return Object.entries(value as Readonly<Record<string, Value>>).map(([key, item]) => {
        return { [type.key]: key, [type.value]: plainOf(type.of, item) };
      });
    case 'blob':
      return encodeBase64(value as Uint8Array);
    default:
      return value;
  }
}
