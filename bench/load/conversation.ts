/**
 * The conversation on one connection: the next request, and what a response means for the counts and the request after
 * it. Responses are inspected as little as possible: parsing them would dominate the measurement.
 */

import { batchSize, type LoadOrder } from './order.ts';
import { receiveInput, requestText, SendRequest } from './requests.ts';

/** Counts over all connections. */
export interface Tally {
  requests: number;
  messages: number;
  empty: number;
}

/** The part of a buffer that holds the body of a response. */
export interface AnswerBody {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

export interface Conversation {
  request(): Buffer | string;
  /** Throws if anything was refused, because failing fast would look like being fast. */
  answered(body: AnswerBody): void;
}

export function conversationOf(order: LoadOrder, tally: Tally): Conversation {
  if (order.workload === 'life') return new Life(order, tally);
  if (order.workload === 'drain') return new Drain(order, tally);
  return new Sends(order, tally);
}

class Sends implements Conversation {
  readonly #request: SendRequest;
  readonly #tally: Tally;
  readonly #isBatch: boolean;

  constructor(order: LoadOrder, tally: Tally) {
    this.#request = new SendRequest(order);
    this.#tally = tally;
    this.#isBatch = order.workload === 'batch';
  }

  request(): Buffer {
    return this.#request.fill();
  }

  answered(body: AnswerBody): void {
    if (this.#isBatch) checkEntries(body);
    this.#tally.messages += this.#isBatch ? batchSize : 1;
  }
}

/** Sends a message, receives one (not always the same), and deletes that one. */
class Life implements Conversation {
  readonly #order: LoadOrder;
  readonly #tally: Tally;
  readonly #send: SendRequest;
  readonly #receive: Buffer;
  #step: 'send' | 'receive' | 'delete' = 'send';
  #handle = '';

  constructor(order: LoadOrder, tally: Tally) {
    this.#order = order;
    this.#tally = tally;
    this.#send = new SendRequest(order);
    this.#receive = receiveRequest(order, 1);
  }

  request(): Buffer | string {
    if (this.#step === 'send') return this.#send.fill();
    if (this.#step === 'receive') return this.#receive;
    const input = { QueueUrl: this.#order.queueUrl, ReceiptHandle: this.#handle };
    return requestText(this.#order, 'DeleteMessage', input);
  }

  answered(body: AnswerBody): void {
    if (this.#step === 'send') {
      this.#step = 'receive';
    } else if (this.#step === 'delete') {
      this.#tally.messages += 1;
      this.#step = 'send';
    } else {
      const [handle] = handlesIn(body);
      if (handle === undefined) {
        this.#tally.empty += 1;
      } else {
        this.#handle = handle;
        this.#step = 'delete';
      }
    }
  }
}

class Drain implements Conversation {
  readonly #order: LoadOrder;
  readonly #tally: Tally;
  readonly #receive: Buffer;
  /** Received but not yet deleted. */
  #handles: readonly string[] = [];

  constructor(order: LoadOrder, tally: Tally) {
    this.#order = order;
    this.#tally = tally;
    this.#receive = receiveRequest(order, batchSize);
  }

  request(): Buffer | string {
    if (this.#handles.length === 0) return this.#receive;
    const entries = this.#handles.map((handle, index) => ({
      Id: `e${index}`,
      ReceiptHandle: handle,
    }));
    const input = { QueueUrl: this.#order.queueUrl, Entries: entries };
    return requestText(this.#order, 'DeleteMessageBatch', input);
  }

  answered(body: AnswerBody): void {
    if (this.#handles.length > 0) {
      checkEntries(body);
      this.#tally.messages += this.#handles.length;
      this.#handles = [];
    } else {
      this.#handles = handlesIn(body);
      if (this.#handles.length === 0) this.#tally.empty += 1;
    }
  }
}

function receiveRequest(order: LoadOrder, count: number): Buffer {
  return Buffer.from(
    requestText(order, 'ReceiveMessage', receiveInput(order.queueUrl, count)),
    'latin1',
  );
}

/** Extracted by a pattern instead of parsing the JSON. */
function handlesIn({ bytes, start, end }: AnswerBody): string[] {
  const text = bytes.toString('latin1', start, end);
  return [...text.matchAll(/"ReceiptHandle": ?"([^"]+)"/g)].map((found) => found[1] as string);
}

/** A batch is answered with 200 even if entries failed; only a failed entry has a Code. */
function checkEntries({ bytes, start, end }: AnswerBody): void {
  const at = bytes.indexOf('"Code"', start, 'latin1');
  if (at >= 0 && at < end) {
    throw new Error(`an entry of a batch failed: ${bytes.toString('utf8', start, end)}`);
  }
}
