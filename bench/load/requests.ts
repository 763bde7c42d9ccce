/**
 * The load's requests as bytes, built once; for each message only group and deduplication id are overwritten, because
 * building new requests would cost the load more than the servers under test.
 */

import { batchSize, type LoadOrder } from './order.ts';

const bodyBytesDefault = 100;
const groupsDefault = 1_000;

const groupDigits = 7;
const idDigits = 12;
const groupText = `group-${'0'.repeat(groupDigits)}`;
const idText = `event-${'0'.repeat(idDigits)}`;

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

/** A request that sends. Its buffer is only refilled after its response, when the old bytes are no longer needed. */
export class SendRequest {
  readonly #bytes: Buffer;
  readonly #groups: number;
  readonly #groupEnds: readonly number[];
  readonly #idEnds: readonly number[];

  constructor(order: LoadOrder) {
    const { queueUrl, workload, bodyBytes, groups } = order;
    const text =
      workload === 'batch'
        ? requestText(order, 'SendMessageBatch', batchInput(queueUrl, bodyBytes))
        : requestText(order, 'SendMessage', sendInput(queueUrl, bodyBytes));
    this.#bytes = Buffer.from(text, 'latin1');
    this.#groups = groups ?? groupsDefault;
    this.#groupEnds = endsOf(groupText, text);
    this.#idEnds = endsOf(idText, text);
  }

  fill(): Buffer {
    for (let index = 0; index < this.#idEnds.length; index += 1) {
      lastId += 1;
      const group = lastId % this.#groups;
      writeDigits(this.#bytes, this.#groupEnds[index] as number, groupDigits, group);
      writeDigits(this.#bytes, this.#idEnds[index] as number, idDigits, lastId);
    }
    return this.#bytes;
  }
}

export function requestText(
  { port, authorization }: Pick<LoadOrder, 'port' | 'authorization'>,
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
