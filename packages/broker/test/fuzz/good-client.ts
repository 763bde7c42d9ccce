/**
 * A client that does everything right while others do everything wrong. Nobody else uses its queues, so it knows every
 * answer exactly: each message arrives once, complete and in order, a repeated send adds nothing, and an empty queue is
 * empty. Odd turns use AWS JSON, even ones AWS Query.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type Destination, KeptConnection } from './connection.ts';
import { formOf, type Input } from './inputs.ts';
import { formRequest, jsonRequest } from './whole-request.ts';

const account = '000000000000';

export class GoodClient {
  readonly #connection: KeptConnection;
  readonly #queue: string;
  readonly #isFifo: boolean;
  #turns = 0;
  #lastSequence = '';
  #slowestMs = 0;
  #attributes = '';

  constructor(server: Destination, queue: string) {
    this.#connection = new KeptConnection(server);
    this.#queue = queue;
    this.#isFifo = queue.endsWith('.fifo');
  }

  get turns(): number {
    return this.#turns;
  }

  /** The longest that any of its requests took, in milliseconds. */
  get slowestMs(): number {
    return this.#slowestMs;
  }

  async start(): Promise<void> {
    const Attributes = this.#isFifo ? { FifoQueue: 'true' } : {};
    await this.#json('CreateQueue', {
      QueueName: this.#queue,
      Attributes,
      tags: { owner: 'good' },
    });
    this.#attributes = await this.#state();
  }

  /** Takes turns until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) await this.#turn();
  }

  /** Nothing was left behind, and nobody has changed the queue or its tags. */
  async finish(): Promise<void> {
    assert.equal(await this.#state(), this.#attributes);
    this.#connection.close();
  }

  async #turn(): Promise<void> {
    this.#turns += 1;
    const body = `turn ${this.#turns}: grüße & <good> 𝒳 "${'z'.repeat(this.#turns % 500)}"`;
    const group = `group-${this.#turns % 5}`;
    const first = await this.#send(body, group);
    if (this.#isFifo && this.#turns % 3 === 0) {
      assert.deepEqual(await this.#send(body, group), first, 'a duplicate is its original');
    }
    await this.#receiveAndDelete(body, first.id);
    assert.deepEqual(await this.#json('ReceiveMessage', { QueueUrl: this.#queue }), {});
  }

  async #send(body: string, group: string): Promise<{ id: string; sequence: string }> {
    const input: Input = {
      QueueUrl: this.#url,
      MessageBody: body,
      ...(this.#isFifo
        ? { MessageGroupId: group, MessageDeduplicationId: `turn-${this.#turns}` }
        : {}),
    };
    const answer = await this.#ask('SendMessage', input);
    assert.equal(answer('MD5OfMessageBody'), createHash('md5').update(body).digest('hex'));
    const sequence = answer('SequenceNumber');
    if (this.#isFifo) {
      assert.match(sequence, /^\d{20}$/);
      assert.ok(sequence >= this.#lastSequence, 'sequence numbers rise');
      this.#lastSequence = sequence;
    }
    return { id: answer('MessageId'), sequence };
  }

  async #receiveAndDelete(body: string, id: string): Promise<void> {
    const { Messages: messages } = (await this.#json('ReceiveMessage', {
      QueueUrl: this.#url,
      MaxNumberOfMessages: 10,
      AttributeNames: ['ApproximateReceiveCount'],
    })) as { Messages?: Record<string, unknown>[] };
    assert.equal(messages?.length, 1, 'one message was sent, one is received');
    const [message] = messages;
    assert.equal(message?.['MessageId'], id);
    assert.equal(message?.['Body'], body);
    assert.deepEqual(message?.['Attributes'], { ApproximateReceiveCount: '1' });
    const ReceiptHandle = message?.['ReceiptHandle'];
    await this.#ask('DeleteMessage', { QueueUrl: this.#url, ReceiptHandle });
  }

  /** Counters, attributes and tags, as one text to compare. */
  async #state(): Promise<string> {
    const QueueUrl = this.#url;
    const all = await this.#json('GetQueueAttributes', { QueueUrl, AttributeNames: ['All'] });
    return JSON.stringify([all, await this.#json('ListQueueTags', { QueueUrl })]);
  }

  get #url(): string {
    return `http://localhost/${account}/${this.#queue}`;
  }

  /** Calls an action in one wire form or the other; returns a function that reads a member of the answer, empty if absent. */
  async #ask(action: string, input: Input): Promise<(member: string) => string> {
    if (this.#turns % 2 === 1) {
      const answer = await this.#json(action, input);
      return (member) => String(answer[member] ?? '');
    }
    const { status, body } = await this.#timed(formRequest(formOf(action, input)));
    const text = body.toString('utf8');
    assert.equal(status, 200, text);
    return (member) => new RegExp(`<${member}>([^<]*)</${member}>`).exec(text)?.[1] ?? '';
  }

  async #json(action: string, input: Input): Promise<Record<string, unknown>> {
    const { status, body } = await this.#timed(jsonRequest(action, JSON.stringify(input)));
    const text = body.toString('utf8');
    assert.equal(status, 200, text);
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  }

  async #timed(request: Parameters<KeptConnection['ask']>[0]) {
    const started = performance.now();
    const answer = await this.#connection.ask(request);
    this.#slowestMs = Math.max(this.#slowestMs, performance.now() - started);
    return answer;
  }
}
