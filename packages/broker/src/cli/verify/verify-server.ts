/**
 * The server that `verify` runs in its own process, in memory and on a virtual clock: five minutes pass in milliseconds.
 * Each producer gets a queue of its own; for a program, the server records what was accepted and what was suppressed.
 */

import type { ObservedDuplicate, ObservedMessage, QueueUnderTest } from '@oncemq/toolkit';
import { shownAttributes } from '../../api/inspect/contents.ts';
import type { DuplicateEvent, Event } from '../../core/events.ts';
import { configOf } from '../../server/options.ts';
import { type Started, start } from '../../server/start-server.ts';
import { Remote } from '../remote.ts';

type SentEvent = Extract<Event, { readonly type: 'sent' }>;

export class VerifyServer {
  readonly #server: Started;
  readonly #remote: Remote;
  /** The queue of the program under test. */
  #watched: string | undefined;
  readonly #sent: SentEvent[] = [];
  readonly #suppressed: DuplicateEvent[] = [];
  /** By message id, which the event of a duplicate has of its original. */
  readonly #bodies: Map<string, string> = new Map();

  static async start(): Promise<VerifyServer> {
    return new VerifyServer(
      await start(configOf({ port: 0, memory: true, clock: 'virtual', log: 'silent' })),
    );
  }

  private constructor(server: Started) {
    this.#server = server;
    this.#remote = new Remote(server);
    server.backend.listen((event) => {
      if (!('queue' in event) || event.queue !== this.#watched) return;
      if (event.type === 'sent') this.#sent.push(event);
      if (event.type === 'duplicate') this.#suppressed.push(event);
    });
  }

  get url(): string {
    return this.#server.url;
  }

  /** Creates a FIFO queue with content-based deduplication and returns its URL. */
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
      drain: () => this.#drain(url),
      advance: (seconds) => this.advance(seconds),
    };
  }

  /** Records sends to this queue from now on. */
  watch(queue: string): void {
    this.#watched = queue;
  }

  /** Everything sent since the last call, including messages that the program itself has received. */
  observe(): { messages: ObservedMessage[]; duplicates: ObservedDuplicate[] } {
    const sent = this.#sent.splice(0);
    for (const { messageId, content } of sent) this.#bodies.set(messageId, content.body);
    const suppressed = this.#suppressed.splice(0);
    return {
      messages: sent.map(observed),
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

  /** Empties the queue and returns the bodies of its messages. */
  async #drain(QueueUrl: string): Promise<string[]> {
    const bodies: string[] = [];
    for (;;) {
      const answer = await this.#remote.sqs('ReceiveMessage', {
        QueueUrl,
        MaxNumberOfMessages: 10,
      });
      const messages = (answer['Messages'] ?? []) as { Body: string; ReceiptHandle: string }[];
      if (messages.length === 0) return bodies;
      bodies.push(...messages.map(({ Body }) => Body));
      await this.#remote.sqs('DeleteMessageBatch', {
        QueueUrl,
        Entries: messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      });
    }
  }
}

function observed({ content, deduplicationId = '' }: SentEvent): ObservedMessage {
  const attributes = shownAttributes(content.attributes).map(({ name, value }) => [name, value]);
  return { body: content.body, deduplicationId, attributes: Object.fromEntries(attributes) };
}
