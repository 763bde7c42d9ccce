/**
 * The conversation on one connection: the next request, and what a response means for the counts and the request after
 * it. Responses are inspected as little as possible: parsing them would dominate the measurement.
 */

import { batchSize, type LoadOrder, type LoadTarget } from './order.ts';
import { ofQueue, QueueRequest, receiveInput, requestText, SendRequest } from './requests.ts';

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
  /** A message was sent or received that is not deleted yet: left behind, it would block its group in the next round. */
  readonly isAmid: boolean;
  request(): Buffer | string;
  /** Throws if anything was refused, because failing fast would look like being fast. */
  answered(body: AnswerBody): void;
}

export function conversationOf(order: LoadOrder, target: LoadTarget, tally: Tally): Conversation {
  if (order.workload === 'life') return new Life(order, target, tally);
  if (order.workload === 'drain') return new Drain(order, target, tally);
  return new Sends(order, target, tally);
}

/** Each connection takes the queues in turn, beginning anywhere, so that they do not all ask for the same one. */
class Turns {
  readonly #queues: readonly number[];
  #at: number;

  constructor({ queues = [0] }: LoadTarget) {
    this.#queues = queues;
    this.#at = Math.floor(Math.random() * queues.length);
  }

  next(): number {
    this.#at = (this.#at + 1) % this.#queues.length;
    return this.#queues[this.#at] as number;
  }
}

class Sends implements Conversation {
  readonly isAmid = false;
  readonly #request: SendRequest;
  readonly #turns: Turns;
  readonly #tally: Tally;
  readonly #isBatch: boolean;

  constructor(order: LoadOrder, target: LoadTarget, tally: Tally) {
    this.#request = new SendRequest(order, target);
    this.#turns = new Turns(target);
    this.#tally = tally;
    this.#isBatch = order.workload === 'batch';
  }

  request(): Buffer {
    return this.#request.fill(this.#turns.next());
  }

  answered(body: AnswerBody): void {
    if (this.#isBatch) checkEntries(body);
    this.#tally.messages += this.#isBatch ? batchSize : 1;
  }
}

/** Sends a message, receives one of the same queue (not always the same), and deletes that one. */
class Life implements Conversation {
  readonly #target: LoadTarget;
  readonly #authorization: string | undefined;
  readonly #tally: Tally;
  readonly #turns: Turns;
  readonly #send: SendRequest;
  readonly #receive: QueueRequest;
  #step: 'send' | 'receive' | 'delete' = 'send';
  #queue = 0;
  #handle = '';

  constructor(order: LoadOrder, target: LoadTarget, tally: Tally) {
    this.#target = target;
    this.#authorization = order.authorization;
    this.#tally = tally;
    this.#turns = new Turns(target);
    this.#send = new SendRequest(order, target);
    this.#receive = receiveRequest(order, target, 1);
  }

  get isAmid(): boolean {
    return this.#step !== 'send';
  }

  request(): Buffer | string {
    if (this.#step === 'send') {
      this.#queue = this.#turns.next();
      return this.#send.fill(this.#queue);
    }
    if (this.#step === 'receive') return this.#receive.to(this.#queue);
    const { port, queueUrl } = this.#target;
    const input = { QueueUrl: ofQueue(queueUrl, this.#queue), ReceiptHandle: this.#handle };
    return requestText({ port, authorization: this.#authorization }, 'DeleteMessage', input);
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

/** Of one queue. */
class Drain implements Conversation {
  readonly #target: LoadTarget;
  readonly #authorization: string | undefined;
  readonly #tally: Tally;
  readonly #receive: QueueRequest;
  /** Received but not yet deleted. */
  #handles: readonly string[] = [];

  constructor(order: LoadOrder, target: LoadTarget, tally: Tally) {
    this.#target = target;
    this.#authorization = order.authorization;
    this.#tally = tally;
    this.#receive = receiveRequest(order, target, batchSize);
  }

  get isAmid(): boolean {
    return this.#handles.length > 0;
  }

  request(): Buffer | string {
    if (this.#handles.length === 0) return this.#receive.to(0);
    const { port, queueUrl } = this.#target;
    const entries = this.#handles.map((handle, index) => ({
      Id: `e${index}`,
      ReceiptHandle: handle,
    }));
    const input = { QueueUrl: queueUrl, Entries: entries };
    return requestText({ port, authorization: this.#authorization }, 'DeleteMessageBatch', input);
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

function receiveRequest(
  { authorization }: LoadOrder,
  { port, queueUrl }: LoadTarget,
  count: number,
): QueueRequest {
  const input = receiveInput(queueUrl, count);
  return new QueueRequest(requestText({ port, authorization }, 'ReceiveMessage', input));
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
