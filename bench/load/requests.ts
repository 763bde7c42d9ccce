/**
 * The load's requests as bytes, built once; for each message only group, deduplication id and the queue's number are
 * overwritten, because building new requests would cost the load more than the servers under test.
 */

import { batchSize, type LoadOrder, type LoadTarget } from './order.ts';

const bodyBytesDefault = 100;
const groupsDefault = 1_000;

const groupDigits = 7;
const idDigits = 12;
const groupText = `group-${'0'.repeat(groupDigits)}`;
const idText = `event-${'0'.repeat(idDigits)}`;
const queueDigits = 5;
/** In the URL of several queues, in place of the number of one. */
export const queueText: string = `queue-${'0'.repeat(queueDigits)}`;

export function sendInput(queueUrl: string, bodyBytes: number = bodyBytesDefault): object {
  return { QueueUrl: queueUrl, ...messageInput(bodyBytes) };
}

export function batchInput(queueUrl: string, bodyBytes: number = bodyBytesDefault): object {
  const entries = Array.from({ length: batchSize }, (_, index) => ({
    Id: `e${index}`,
    ...messageInput(bodyBytes),
  }));
  return { QueueUrl: queueUrl, Entries: entries };
}

export function receiveInput(queueUrl: string, count: number): object {
  return { QueueUrl: queueUrl, MaxNumberOfMessages: count };
}

function messageInput(bodyBytes: number): object {
  return {
    MessageBody: 'x'.repeat(bodyBytes),
    MessageGroupId: groupText,
    MessageDeduplicationId: idText,
  };
}

/** Counts the messages of this process over all its orders, so that no two are duplicates. */
let lastId = 0;

/** The name of the queue with this number, or its URL. */
export function ofQueue(text: string, queue: number): string {
  return text.replace(queueText, `queue-${String(queue).padStart(queueDigits, '0')}`);
}

/** A request to one of several queues. */
export class QueueRequest {
  readonly #bytes: Buffer;
  readonly #queueEnds: readonly number[];

  constructor(text: string) {
    this.#bytes = Buffer.from(text, 'latin1');
    this.#queueEnds = endsOf(queueText, text);
  }

  to(queue: number): Buffer {
    for (const end of this.#queueEnds) writeDigits(this.#bytes, end, queueDigits, queue);
    return this.#bytes;
  }
}

/** A request that sends. Its buffer is only refilled after its response, when the old bytes are no longer needed. */
export class SendRequest {
  readonly #request: QueueRequest;
  readonly #groups: number;
  readonly #groupEnds: readonly number[];
  readonly #idEnds: readonly number[];

  constructor(order: LoadOrder, { port, queueUrl }: LoadTarget) {
    const { workload, bodyBytes, groups, authorization } = order;
    const to = { port, authorization };
    const text =
      workload === 'batch'
        ? requestText(to, 'SendMessageBatch', batchInput(queueUrl, bodyBytes))
        : requestText(to, 'SendMessage', sendInput(queueUrl, bodyBytes));
    this.#request = new QueueRequest(text);
    this.#groups = groups ?? groupsDefault;
    this.#groupEnds = endsOf(groupText, text);
    this.#idEnds = endsOf(idText, text);
  }

  fill(queue: number): Buffer {
    const bytes = this.#request.to(queue);
    for (let index = 0; index < this.#idEnds.length; index += 1) {
      lastId += 1;
      const group = lastId % this.#groups;
      writeDigits(bytes, this.#groupEnds[index] as number, groupDigits, group);
      writeDigits(bytes, this.#idEnds[index] as number, idDigits, lastId);
    }
    return bytes;
  }
}

export function requestText(
  { port, authorization }: { readonly port: number; readonly authorization?: string | undefined },
  action: string,
  input: object,
): string {
  const body = JSON.stringify(input);
  const signed = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`;
  return `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: AmazonSQS.${action}\r\n${signed}Content-Length: ${body.length}\r\n\r\n${body}`;
}

function endsOf(what: string, text: string): number[] {
  return [...text.matchAll(new RegExp(what, 'g'))].map(({ index }) => index + what.length);
}

function writeDigits(bytes: Buffer, end: number, count: number, value: number): void {
  let left = value;
  for (let at = end - 1; at >= end - count; at -= 1) {
    bytes[at] = 0x30 + (left % 10);
    left = Math.floor(left / 10);
  }
}
