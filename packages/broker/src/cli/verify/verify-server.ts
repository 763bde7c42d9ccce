/**
 * The server that `verify` runs in its own process, in memory and on a virtual clock: five minutes pass in milliseconds.
 * Each producer gets a queue of its own; for a program, the server records what was accepted and what was suppressed.
 */

import type {
  ObservedDuplicate,
  ObservedMessage,
  ObservedRun,
  QueueUnderTest,
} from '@oncemq/toolkit';
import { shownAttributes } from '../../api/inspect/contents.ts';
import type { MessageContent } from '../../core/changes.ts';
import type { Event, Suppressed } from '../../core/events.ts';
import { configOf } from '../../server/config/options.ts';
import { type Started, start } from '../../server/start-server.ts';
import { Remote } from '../remote.ts';
import { UsageError } from '../usage.ts';

type SentEvent = Extract<Event, { readonly type: 'sent' }>;
type PublishedEvent = Extract<Event, { readonly type: 'published' }>;

/** A run with the bodies of all its sends in order, suppressed or not. */
interface OrderedRun extends ObservedRun {
  readonly isTopic: boolean;
  readonly bodies: readonly string[];
}

/** What was sent since the last look, by FIFO queue or FIFO topic. */
export type Observed = ReadonlyMap<string, OrderedRun>;

export class VerifyServer {
  readonly #server: Started;
  readonly #remote: Remote;
  readonly #runs: Map<
    string,
    {
      isTopic: boolean;
      messages: ObservedMessage[];
      duplicates: ObservedDuplicate[];
      bodies: string[];
    }
  > = new Map();
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
    server.backend.listen((event) => this.#note(event));
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

  /** Creates a FIFO topic with content-based deduplication and returns its ARN. */
  async createTopic(name: string): Promise<string> {
    const form = new URLSearchParams({
      Action: 'CreateTopic',
      Version: '2010-03-31',
      Name: name,
      'Attributes.entry.1.key': 'FifoTopic',
      'Attributes.entry.1.value': 'true',
      'Attributes.entry.2.key': 'ContentBasedDeduplication',
      'Attributes.entry.2.value': 'true',
    });
    const response = await fetch(this.url, { method: 'POST', body: form });
    const text = await response.text();
    const arn = /<TopicArn>([^<]+)</.exec(text)?.[1];
    if (arn === undefined) throw new UsageError(`The topic ${name} cannot be created: ${text}`);
    return arn;
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

  /** Everything sent since the last call, including messages that the program itself has received. */
  observe(): Observed {
    const runs = new Map(this.#runs);
    this.#runs.clear();
    return runs;
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

  /** Standard queues and topics deduplicate nothing, so the contract says nothing about them. */
  #note(event: Event): void {
    const isTopic = !('queue' in event);
    const target = isTopic ? event.topic : event.queue;
    if (!target.endsWith('.fifo')) return;
    const run = this.#runs.get(target) ?? { isTopic, messages: [], duplicates: [], bodies: [] };
    if (event.type === 'sent') run.messages.push(this.#sent(event));
    else if (event.type === 'published') run.messages.push(this.#published(event));
    else if (event.type === 'duplicate') {
      run.duplicates.push(this.#suppressed(event, event.content.body));
    } else if (event.type === 'duplicate-publication') {
      run.duplicates.push(this.#suppressed(event, event.message));
    } else return;
    run.bodies.push(bodyOf(event));
    this.#runs.set(target, run);
  }

  #sent({ messageId, content, groupId = '', deduplicationId = '' }: SentEvent): ObservedMessage {
    const { body } = content;
    this.#bodies.set(messageId, body);
    return { body, groupId, deduplicationId, attributes: textAttributes(content.attributes) };
  }

  #published(event: PublishedEvent): ObservedMessage {
    const { messageId, publication, groupId = '', deduplicationId = '' } = event;
    const body = publication.message;
    this.#bodies.set(messageId, body);
    return { body, groupId, deduplicationId, attributes: textAttributes(publication.attributes) };
  }

  #suppressed({ original, differed, groupId }: Suppressed, body: string): ObservedDuplicate {
    return { body, groupId, differed, originalBody: this.#bodies.get(original.messageId) ?? '' };
  }
}

function bodyOf(
  event: Extract<
    Event,
    { readonly type: 'sent' | 'published' | 'duplicate' | 'duplicate-publication' }
  >,
): string {
  if (event.type === 'published') return event.publication.message;
  return event.type === 'duplicate-publication' ? event.message : event.content.body;
}

function textAttributes(attributes: MessageContent['attributes']): Record<string, string> {
  return Object.fromEntries(shownAttributes(attributes).map(({ name, value }) => [name, value]));
}
