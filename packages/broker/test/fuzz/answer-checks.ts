/**
 * What every answer must be, whatever the request: 200 or 4xx, in the caller's own wire form, complete, and without any
 * detail about the inside of the server.
 */

import { isUtf8 } from 'node:buffer';
import type { Refusal } from './hostile.ts';
import type { HttpAnswer } from './http-answer.ts';
import type { WholeRequest } from './whole-request.ts';
import { xmlFault } from './xml-well-formed.ts';

/** Stack traces and paths of the code. No hostile value contains any of these, so none can be an echo. */
const secrets =
  /\n\s+at |node:internal|node_modules|\.js:\d|\.ts:\d|file:\/\/|dist\/src|RangeError|TypeError/;
const folder = new URL('../../../../..', import.meta.url).pathname;

/** What is wrong with the answer; undefined if nothing is. */
export function answerFault(
  request: WholeRequest,
  answer: HttpAnswer,
  refusal: Refusal,
): string | undefined {
  const { status, body } = answer;
  const isOwn = status === 417 && body.length === 0;
  return (
    statusFault(status, refusal) ??
    leakFault(body) ??
    (request.method === 'HEAD' || isOwn ? undefined : formFault(request, answer, refusal))
  );
}

export function statusFault(status: number, refusal: Refusal): string | undefined {
  const isRefused = status >= 400 && status < 500;
  if (!isRefused && status !== 200) return `the status is ${status}`;
  if (typeof refusal === 'number' && status !== refusal) return `${status} instead of ${refusal}`;
  return refusal !== 'any' && !isRefused ? 'it was accepted' : undefined;
}

export function leakFault(body: Buffer): string | undefined {
  const text = body.toString('utf8');
  return secrets.test(text) || text.includes(folder) ? 'it tells about the inside' : undefined;
}

function formFault(
  request: WholeRequest,
  { status, headers, body }: HttpAnswer,
  refusal: Refusal,
): string | undefined {
  if (!isUtf8(body)) return 'the body is not UTF-8';
  const text = body.toString('utf8');
  const isError = status !== 200;
  switch (formOf(request)) {
    case 'inspect':
      return inspectFault(text, headers, isError);
    case 'json':
      return jsonFault(text, headers, isError, refusal);
    case 'query-json':
      // A request that names no action gets its error in XML (3.4).
      return status === 404 && text === '<UnknownOperationException/>'
        ? undefined
        : queryJsonFault(text, headers, isError);
    case 'query':
      return queryFault(text, headers, isError);
  }
}

/** The wire form of the request by its headers alone: a request that cannot be read must be answered in it too. */
function formOf({ target, headers }: WholeRequest): 'inspect' | 'json' | 'query-json' | 'query' {
  if (target.startsWith('/_oncemq/')) return 'inspect';
  const headerOf = (name: string) => headers.find(([key]) => key.toLowerCase() === name)?.[1];
  if (headerOf('x-amz-target') !== undefined) return 'json';
  if (headerOf('content-type')?.includes('x-amz-json') === true) return 'json';
  return headerOf('accept')?.includes('application/json') === true ? 'query-json' : 'query';
}

type Headers = HttpAnswer['headers'];

function jsonFault(
  text: string,
  headers: Headers,
  isError: boolean,
  refusal: Refusal,
): string | undefined {
  if (headers.get('content-type') !== 'application/x-amz-json-1.0') return 'no JSON content type';
  if (!isError) return text === '' || isObject(parsed(text)) ? undefined : 'no JSON object';
  const error = parsed(text);
  if (!isObject(error)) return 'the error is no JSON object';
  const { __type: type, message } = error;
  if (typeof type !== 'string' || !/^com\.amazon(aws\.sqs|\.coral\.service)#\w+$/.test(type)) {
    return `__type is ${JSON.stringify(type)}`;
  }
  if (typeof message !== 'string' || message === '') return 'no message';
  const code = headers.get('x-amzn-query-error');
  if (code === undefined || !/^[\w.]+;Sender$/.test(code)) return `x-amzn-query-error is ${code}`;
  const isNamed = typeof refusal === 'string' && refusal.endsWith('Exception');
  return isNamed && !type.endsWith(`#${refusal}`) ? `${type} instead of ${refusal}` : undefined;
}

function queryFault(text: string, headers: Headers, isError: boolean): string | undefined {
  if (headers.get('content-type') !== 'text/xml') return 'no XML content type';
  const fault = xmlFault(text);
  if (fault !== undefined) return `bad XML: ${fault}`;
  if (!isError) return text.includes('Response xmlns=') ? undefined : 'no response element';
  const isWhole = /<Error><Type>Sender<\/Type><Code>[\w.]+<\/Code><Message>.+<\/Message>/s.test(
    text,
  );
  return isWhole || text === '<UnknownOperationException/>' ? undefined : 'no whole error element';
}

function queryJsonFault(text: string, headers: Headers, isError: boolean): string | undefined {
  if (headers.get('content-type') !== 'application/json') return 'no JSON content type';
  const answer = parsed(text);
  if (!isObject(answer)) return 'no JSON object';
  const error = answer['Error'];
  if (!isError) return error === undefined ? undefined : 'an error with status 200';
  const isWhole =
    isObject(error) && typeof error['Code'] === 'string' && typeof error['Message'] === 'string';
  return isWhole ? undefined : 'no whole Error';
}

function inspectFault(text: string, headers: Headers, isError: boolean): string | undefined {
  if (headers.get('content-type') !== 'application/json') return 'no JSON content type';
  const answer = parsed(text);
  if (!isObject(answer)) return 'no JSON object';
  const error = answer['error'];
  if (!isError) return error === undefined ? undefined : 'an error with status 200';
  const isWhole =
    isObject(error) && typeof error['code'] === 'string' && typeof error['message'] === 'string';
  return isWhole ? undefined : 'no whole error';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
