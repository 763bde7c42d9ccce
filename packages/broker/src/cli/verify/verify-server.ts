/**
 * The server that `verify` runs in its own process, in memory and on a virtual clock: five minutes pass in
 * milliseconds. Producers are given queues of it one by one; of a program it is seen what arrived and what was
 * suppressed.
 */

import type { ObservedDuplicate, ObservedMessage, QueueUnderTest } from '@oncemq/toolkit';
import type { DuplicateEvent } from '../../core/events.ts';
import { configOf } from '../../server/options.ts';
import { type Started, start } from '../../server/start-server.ts';
import { Remote } from '../remote.ts';

interface WireMessage {
  readonly MessageId: string;
  readonly Body: string;
  readonly ReceiptHandle: string;
  readonly Attributes: { readonly MessageDeduplicationId: string };
  readonly MessageAttributes?: Readonly<
    Record<string, { readonly StringValue?: string; readonly BinaryValue?: string }>
  >;
}

export class VerifyServer {
  readonly #server: Started;
  readonly #remote: Remote;
  readonly #suppressed: DuplicateEvent[] = [];
  /** By message id: what a duplicate's event calls its original. */
  readonly #bodies: Map<string, string> = new Map();

  static async start(): Promise<VerifyServer> {
    return new VerifyServer(
      await start(configOf({ port: 0, memory: true, clock: 'virtual', log: 'silent' })),
    );
  }

  private constructor(server: Started) {
    this.#server = server;
    this.#remote = new Remote(server.url);
    server.backend.listen((event) => {
      if (event.type === 'duplicate') this.#suppressed.push(event);
    });
  }

  get url(): string {
    return this.#server.url;
  }

  /** A FIFO queue with deduplication by content; its URL. */
  async createQueue(name: string): Promise<string> {
    const answer = await this.#remote.sqs('CreateQueue', {
      QueueName: name,
      Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
    });
    return String(answer['QueueUrl']);
  }

  queueUnderTest(url: string): QueueUnderTest {
    return {
      send: async ({ body, groupId, attributes = {} }) => {
        const answer = await this.#remote.sqs('SendMessage', {
          QueueUrl: url,
          MessageBody: body,
          MessageGroupId: groupId,
          MessageAttributes: Object.fromEntries(
            Object.entries(attributes).map(([name, value]) => [
              name,
              { DataType: 'String', StringValue: value },
            ]),
          ),
        });
        return String(answer['MessageId']);
      },
      drain: async () => (await this.#drain(url)).map(({ Body }) => Body),
      advance: (seconds) => this.advance(seconds),
    };
  }

  /** All that was sent to the queue since the last call. */
  async observe(
    url: string,
  ): Promise<{ messages: ObservedMessage[]; duplicates: ObservedDuplicate[] }> {
    const received = await this.#drain(url);
    for (const { MessageId, Body } of received) this.#bodies.set(MessageId, Body);
    const suppressed = this.#suppressed.splice(0);
    return {
      messages: received.map(observed),
      duplicates: suppressed.map(({ original, differed }) => ({
        originalBody: this.#bodies.get(original.messageId) ?? '',
        differed,
      })),
    };
  }

  async advance(seconds: number): Promise<void> {
    await this.#server.backend.advance(seconds * 1000);
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  async #drain(QueueUrl: string): Promise<WireMessage[]> {
    const all: WireMessage[] = [];
    for (;;) {
      const answer = await this.#remote.sqs('ReceiveMessage', {
        QueueUrl,
        MaxNumberOfMessages: 10,
        AttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      });
      const messages = (answer['Messages'] ?? []) as WireMessage[];
      if (messages.length === 0) return all;
      all.push(...messages);
      await this.#remote.sqs('DeleteMessageBatch', {
        QueueUrl,
        Entries: messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      });
    }
  }
}

function observed({ Body, Attributes, MessageAttributes = {} }: WireMessage): ObservedMessage {
  return {
    body: Body,
    deduplicationId: Attributes.MessageDeduplicationId,
    attributes: Object.fromEntries(
      Object.entries(MessageAttributes).map(([name, { StringValue, BinaryValue }]) => [
        name,
        StringValue ?? BinaryValue ?? '',
      ]),
    ),
  };
}
