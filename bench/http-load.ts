/**
 * The load, in a process of its own: N connections, each with one request under way, as fast as answers come. Written
 * on bare sockets, with requests made once and only their ids written over, since Node's HTTP client costs more than
 * the servers that are measured and would be all that is seen.
 *
 * It never sleeps: on a machine of two cores, waking a process that does costs the server more than its own work. With a
 * load that slept between answers, servers that do more between two of them looked up to a half slower than they are
 * (OnceMQ and fauxqs 17,000 requests a second, and 28,000 and 26,000 awake; the floor 51,000 in both).
 *
 * Told by a message what to do, and answers with what it counted. An answer other than 200 ends the benchmark: what
 * fails fast would look fast.
 */

import { connect, type Socket } from 'node:net';

export type Workload = 'send' | 'batch' | 'life';

export interface LoadOrder {
  readonly port: number;
  readonly queueUrl: string;
  readonly workload: Workload;
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface LoadCount {
  readonly seconds: number;
  readonly requests: number;
  /** Sent, or in their whole life: sent, received and deleted. */
  readonly messages: number;
  /** Receives that found nothing, since every message's group was held by another connection. */
  readonly empty: number;
  /** Requests from the first to the last, those of the warm-up too. */
  readonly requestsInAll: number;
  /** Which part of this process' turns found no answer to read: near 0, it is the load that is measured. */
  readonly free: number;
}

/** 100 bytes, as in the benchmark of the engine. */
export const messageBody: string = 'x'.repeat(100);
export const batchSize = 10;
/** Many more than connections, so that a group is seldom held when its next message is asked for. */
const groups = 1_000;

export function sendInput(queueUrl: string): object {
  return { QueueUrl: queueUrl, ...message };
}

export function batchInput(queueUrl: string): object {
  const Entries = Array.from({ length: batchSize }, (_, index) => ({
    Id: `e${index}`,
    ...message,
  }));
  return { QueueUrl: queueUrl, Entries };
}

export function receiveInput(queueUrl: string): object {
  return { QueueUrl: queueUrl, MaxNumberOfMessages: 1 };
}

/** Group and deduplication id are digits, written over for each message. */
const message = {
  MessageBody: messageBody,
  MessageGroupId: 'group-0000',
  MessageDeduplicationId: 'event-000000000000',
};

class Load {
  readonly order: LoadOrder;
  isOver = false;
  requests = 0;
  messages = 0;
  empty = 0;
  #sent = 0;
  #turns = 0;
  #idleTurns = 0;

  constructor(order: LoadOrder) {
    this.order = order;
  }

  async run(): Promise<LoadCount> {
    const { connections, warmUpMs, measureMs } = this.order;
    const ended = Promise.all(
      Array.from({ length: connections }, () => new Connection(this).ended),
    );
    this.#stayAwake();
    const failed = ended.then(() => {
      if (!this.isOver) throw new Error('all connections ended before the time was up');
    });
    await Promise.race([timePassed(warmUpMs), failed]);
    const before = this.#snapshot();
    await Promise.race([timePassed(measureMs), failed]);
    const after = this.#snapshot();
    this.isOver = true;
    await ended;
    const seconds = (after.now - before.now) / 1000;
    return {
      seconds,
      requests: after.requests - before.requests,
      messages: after.messages - before.messages,
      empty: after.empty - before.empty,
      requestsInAll: this.requests,
      free: (after.idleTurns - before.idleTurns) / (after.turns - before.turns),
    };
  }

  /** Keeps the event loop turning, so that it asks for answers and never waits for them. */
  #stayAwake(): void {
    const before = this.requests;
    setImmediate(() => {
      this.#turns += 1;
      if (this.requests === before) this.#idleTurns += 1;
      if (!this.isOver) this.#stayAwake();
    });
  }

  /** Counts over all connections, so that no two messages are duplicates. */
  nextId(): number {
    this.#sent += 1;
    return this.#sent;
  }

  #snapshot() {
    const { requests, messages, empty } = this;
    const turns = this.#turns;
    const idleTurns = this.#idleTurns;
    return { now: performance.now(), requests, messages, empty, turns, idleTurns };
  }
}

function timePassed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const answerBytesMax = 64 * 1024;
const headEnd = Buffer.from('\r\n\r\n');

class Connection {
  readonly ended: Promise<void>;
  readonly #load: Load;
  readonly #socket: Socket;
  readonly #send: Template;
  readonly #receive: Buffer;
  #step: 'send' | 'receive' | 'delete' = 'send';
  /** The start of an answer whose end has not come yet. */
  #part: Buffer | undefined;

  constructor(load: Load) {
    const { port, queueUrl, workload } = load.order;
    this.#load = load;
    this.#send =
      workload === 'batch'
        ? new Template(requestText(port, 'SendMessageBatch', batchInput(queueUrl)))
        : new Template(requestText(port, 'SendMessage', sendInput(queueUrl)));
    this.#receive = Buffer.from(requestText(port, 'ReceiveMessage', receiveInput(queueUrl)));
    const onread = {
      buffer: Buffer.allocUnsafe(answerBytesMax),
      callback: (size: number, buffer: Uint8Array) => this.#read(buffer as Buffer, size),
    };
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
    this.#socket.on('connect', () => this.#next());
    this.ended = new Promise((resolve, reject) => {
      this.#socket.on('error', reject);
      this.#socket.on('close', () => {
        if (load.isOver) resolve();
        else reject(new Error('the server closed a connection'));
      });
    });
  }

  #read(buffer: Buffer, size: number): boolean {
    const fresh = buffer.subarray(0, size);
    const bytes = this.#part === undefined ? fresh : Buffer.concat([this.#part, fresh]);
    const end = bytes.indexOf(headEnd);
    const length = end < 0 ? undefined : lengthIn(bytes.toString('latin1', 0, end));
    if (length === undefined || bytes.length < end + headEnd.length + length) {
      // The buffer is read into again, so what is kept of it is copied.
      this.#part = Buffer.from(bytes);
      return true;
    }
    this.#part = undefined;
    // 200, at the end of `HTTP/1.1 200`.
    if (bytes[9] !== 0x32 || bytes[10] !== 0x30 || bytes[11] !== 0x30) {
      this.#socket.destroy(new Error(`an answer was not 200: ${bytes.toString('utf8')}`));
      return false;
    }
    this.#load.requests += 1;
    this.#answered(bytes, end + headEnd.length, length);
    return true;
  }

  #answered(bytes: Buffer, start: number, length: number): void {
    const { workload, port, queueUrl } = this.#load.order;
    if (this.#load.isOver) {
      this.#socket.destroy();
    } else if (workload !== 'life') {
      this.#load.messages += workload === 'batch' ? batchSize : 1;
      this.#next();
    } else if (this.#step === 'send') {
      this.#step = 'receive';
      this.#next();
    } else if (this.#step === 'receive') {
      const handle = handleIn(bytes.toString('latin1', start, start + length));
      if (handle === undefined) {
        this.#load.empty += 1;
        this.#next();
      } else {
        this.#step = 'delete';
        const input = { QueueUrl: queueUrl, ReceiptHandle: handle };
        this.#socket.write(requestText(port, 'DeleteMessage', input), 'latin1');
      }
    } else {
      this.#load.messages += 1;
      this.#step = 'send';
      this.#next();
    }
  }

  #next(): void {
    this.#socket.write(this.#step === 'receive' ? this.#receive : this.#send.fill(this.#load));
  }
}

/** A request whose ids are written over in place; the answer has come, so nobody reads the old ones any more. */
class Template {
  readonly #bytes: Buffer;
  readonly #groupsAt: readonly number[];
  readonly #idsAt: readonly number[];

  constructor(text: string) {
    this.#bytes = Buffer.from(text, 'latin1');
    const endsOf = (what: string) => [...text.matchAll(new RegExp(`${what}`, 'g'))].map(endOf);
    this.#groupsAt = endsOf('group-0000');
    this.#idsAt = endsOf('event-000000000000');
  }

  fill(load: Load): Buffer {
    for (let index = 0; index < this.#idsAt.length; index += 1) {
      const id = load.nextId();
      writeDigits(this.#bytes, this.#groupsAt[index] as number, 4, id % groups);
      writeDigits(this.#bytes, this.#idsAt[index] as number, 12, id);
    }
    return this.#bytes;
  }
}

function endOf(found: RegExpMatchArray): number {
  return (found.index as number) + found[0].length;
}

function writeDigits(bytes: Buffer, end: number, count: number, value: number): void {
  let left = value;
  for (let at = end - 1; at >= end - count; at -= 1) {
    bytes[at] = 0x30 + (left % 10);
    left = Math.floor(left / 10);
  }
}

function requestText(port: number, action: string, input: object): string {
  const body = JSON.stringify(input);
  return `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: AmazonSQS.${action}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

function lengthIn(head: string): number {
  const found = /\r\ncontent-length: (\d+)/i.exec(head);
  if (found === null) throw new Error(`an answer without a length: ${head}`);
  return Number(found[1]);
}

/** Undefined if there is no message. Cut out rather than parsed: the load should cost little. */
function handleIn(body: string): string | undefined {
  const start = body.indexOf('"ReceiptHandle":"');
  if (start < 0) return undefined;
  const from = start + '"ReceiptHandle":"'.length;
  return body.slice(from, body.indexOf('"', from));
}

// Run as a process of its own, and not when the rest imports the inputs.
if (process.send !== undefined && process.argv[2] === 'load') {
  process.on('message', (order) => {
    void new Load(order as LoadOrder).run().then((count) => process.send?.(count));
  });
}
