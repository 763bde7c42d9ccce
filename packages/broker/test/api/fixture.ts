/**
 * The fixture of the api tests: an api over a backend in memory whose clock stands still, called without a socket in
 * either wire form. `json` and `query` supply default path, headers and method. `called` and `asked` also assert that the
 * call succeeds, and return only its output.
 */

import assert from 'node:assert/strict';
import type { ActionBackend } from '../../src/api/actions/action.ts';
import type { Authentication } from '../../src/api/auth/authentication.ts';
import { type Api, type ApiResponse, createApi } from '../../src/api/handler.ts';
import { manualClock } from '../../src/server/clock.ts';
import type { Backend } from '../../src/storage/backend.ts';
import { openMemoryBackend } from '../../src/storage/memory/open.ts';
import { readXml, type XmlValue } from './xml-reader.ts';

/** When every test begins. */
export const startedAt = 1_700_000_000_000;
export const account = '000000000000';
export const host = 'queues.example:9324';
export const requestId = '11111111-2222-4333-8444-555555555555';

export type Headers = Readonly<Record<string, string>>;
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by member names, as a client would.
export type Json = any;

export interface JsonReply extends ApiResponse {
  /** The body as parsed; undefined if it is empty. */
  readonly value: Json;
}

export interface QueryReply extends ApiResponse {
  /** The document's root element, by name. */
  readonly root: string;
  readonly value: XmlValue & Json;
}

export interface QueryOptions {
  readonly path?: string;
  readonly headers?: Headers;
  /** Default POST, with the parameters in a form body; GET has them in the query string. */
  readonly method?: string;
}

export class TestApi {
  readonly backend: Backend;
  readonly errors: unknown[] = [];
  readonly api: Api;

  constructor(
    options: {
      publicUrl?: string;
      backend?: Backend;
      /** What the actions use; default: the backend. */
      actions?: ActionBackend;
      authentication?: Authentication;
    } = {},
  ) {
    this.backend = options.backend ?? openMemoryBackend({ clock: manualClock(startedAt) });
    this.api = createApi({
      backend: options.actions ?? this.backend,
      publicUrl: options.publicUrl,
      authentication: options.authentication,
      onError: (error) => this.errors.push(error),
    });
  }

  /** Sends a raw request, for tests about unusual ones. The parts of a large answer are joined. */
  async send(request: {
    method?: string;
    path?: string;
    query?: string;
    headers?: Headers;
    body?: string | Uint8Array;
    signal?: AbortSignal;
  }): Promise<ApiResponse> {
    const { method = 'POST', path = '/', query = '', headers = {}, body = '' } = request;
    const { parts, ...reply } = await this.api.handle({
      method,
      path,
      query,
      headers: { host, ...headers },
      body: Buffer.from(body),
      signal: request.signal ?? new AbortController().signal,
      requestId,
    });
    return parts === undefined ? reply : { ...reply, body: Buffer.concat(parts).toString() };
  }

  /** AWS JSON. A string is sent as is, anything else as JSON. */
  async json(action: string, input: unknown = {}, headers: Headers = {}): Promise<JsonReply> {
    const reply = await this.send({
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `AmazonSQS.${action}`,
        ...headers,
      },
      body: typeof input === 'string' ? input : JSON.stringify(input),
    });
    return { ...reply, value: reply.body === '' ? undefined : JSON.parse(reply.body) };
  }

  /** AWS JSON, successful; its output. */
  async called(action: string, input: unknown = {}, headers: Headers = {}): Promise<Json> {
    const reply = await this.json(action, input, headers);
    assert.equal(reply.status, 200, reply.body);
    return reply.value;
  }

  /** AWS Query. */
  async query(
    action: string,
    parameters: Readonly<Record<string, string>> = {},
    options: QueryOptions = {},
  ): Promise<QueryReply> {
    const { method = 'POST', path = '/', headers = {} } = options;
    const form = new URLSearchParams({ Action: action, ...parameters }).toString();
    const reply = await this.send(
      method === 'GET'
        ? { method, path, headers, query: form }
        : {
            method,
            path,
            headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
            body: form,
          },
    );
    return { ...reply, ...readXml(reply.body) };
  }

  /** AWS Query for SNS, with its API version. */
  sns(action: string, parameters: Readonly<Record<string, string>> = {}): Promise<QueryReply> {
    return this.query(action, { Version: '2010-03-31', ...parameters });
  }

  /** AWS Query for SNS, successful; the content of its Result element. */
  async told(action: string, parameters: Readonly<Record<string, string>> = {}): Promise<Json> {
    const reply = await this.sns(action, parameters);
    assert.equal(reply.status, 200, reply.body);
    return reply.value[`${action}Result`];
  }

  /** AWS Query, successful; the content of its Result element. */
  async asked(action: string, parameters: Readonly<Record<string, string>> = {}): Promise<Json> {
    const reply = await this.query(action, parameters);
    assert.equal(reply.status, 200, reply.body);
    return reply.value[`${action}Result`];
  }

  /** The URL of a new queue. */
  async createQueue(
    name: string,
    attributes: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const fifo = name.endsWith('.fifo') ? { FifoQueue: 'true' } : {};
    const input = { QueueName: name, Attributes: { ...fifo, ...attributes } };
    return (await this.called('CreateQueue', input)).QueueUrl;
  }

  /** Receives the only available message. */
  async receiveOne(queueUrl: string, input: object = {}): Promise<Json> {
    const { Messages } = await this.called('ReceiveMessage', { QueueUrl: queueUrl, ...input });
    assert.equal(Messages?.length, 1, 'there should be a message to receive');
    return Messages[0];
  }
}

export function urlOf(name: string): string {
  return `http://${host}/${account}/${name}`;
}

export function arnOf(name: string): string {
  return `arn:aws:sqs:us-east-1:${account}:${name}`;
}

export interface ExpectedError {
  /** `__type` in AWS JSON, without its namespace if that is the one of Amazon SQS. */
  readonly type: string;
  readonly code: string;
  readonly status?: number;
  readonly text?: string;
}

export function assertJsonError(reply: JsonReply, expected: ExpectedError): void {
  const { type, code, status = 400, text } = expected;
  assert.equal(reply.status, status, reply.body);
  const isWhole = type.includes('#');
  assert.equal(reply.value.__type, isWhole ? type : `com.amazonaws.sqs#${type}`);
  assert.equal(reply.headers['x-amzn-query-error'], `${code};Sender`);
  assert.deepEqual(Object.keys(reply.value), ['__type', 'message']);
  if (text !== undefined) assert.equal(reply.value.message, text);
}

export function assertQueryError(reply: QueryReply, expected: ExpectedError): void {
  const { code, status = 400, text } = expected;
  assert.equal(reply.status, status, reply.body);
  assert.equal(reply.root, 'ErrorResponse', reply.body);
  assert.equal(reply.value.Error.Type, 'Sender');
  assert.equal(reply.value.Error.Code, code);
  assert.equal(reply.value.RequestId, requestId);
  if (text !== undefined) assert.equal(reply.value.Error.Message, text);
}
