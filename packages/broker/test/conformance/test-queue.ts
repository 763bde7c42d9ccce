/**
 * A queue of the conformance tests, with a verb for each action. Every verb has defaults, so what a test sets is what it is
 * about. A verb expects to succeed; its `try…` twin returns the outcome as it is, for `assertRefused` to check.
 */

import assert from 'node:assert/strict';
import type { MessageAttribute } from '../../src/core/changes.ts';
import type {
  Attributes,
  Outcome,
  QueueDescription,
  ReceivedMessage,
  SendEntry,
  SendResult,
} from '../../src/core/commands.ts';
import type { Refusal } from '../../src/core/errors.ts';
import type { Delivered as DeliveredByPort, Received } from '../../src/storage/backend.ts';
import { accepted, NamedQueue } from '../core/fixture.ts';
import type { TestBackend } from './fixture.ts';

const atOnceMax = 200;

export type Delivered = DeliveredByPort & { readonly body: string };

interface ReceiveOptions {
  readonly count?: number | undefined;
  readonly visibilitySeconds?: number | undefined;
  readonly waitSeconds?: number | undefined;
  readonly attemptId?: string | undefined;
}

/** One queue and the backend it lives in. */
export class TestQueue extends NamedQueue {
  readonly home: TestBackend;

  constructor(home: TestBackend, name: string) {
    super(name);
    this.home = home;
  }

  async advance(seconds: number): Promise<void> {
    await this.home.advance(seconds);
  }

  async trySend(entry: SendEntry = {}): Promise<SendResult | Refusal> {
    const outcome = await this.home.run({
      type: 'send',
      queue: this.name,
      isBatch: false,
      entries: [this.filled(entry)],
    });
    return outcome.ok ? (outcome.results[0] as SendResult | Refusal) : outcome;
  }

  async send(entry: SendEntry = {}): Promise<SendResult> {
    return accepted(await this.trySend(entry));
  }

  /** Sends a message for each name: `g1-2` is a body of group `g1`. */
  async sendNamed(...names: readonly string[]): Promise<void> {
    for (const body of names) await this.send({ body, groupId: body.split('-')[0] });
  }

  async trySendBatch(entries: readonly SendEntry[]): Promise<Outcome<'send'>> {
    const filled = entries.map((entry, at) => this.filled({ id: `e${at}`, ...entry }));
    return this.home.run({ type: 'send', queue: this.name, isBatch: true, entries: filled });
  }

  async sendBatch(entries: readonly SendEntry[]): Promise<readonly (SendResult | Refusal)[]> {
    return accepted(await this.trySendBatch(entries)).results;
  }

  /** Sends many that do not depend on each other, in any order: in batches of ten, many at once. */
  async sendMany(entries: readonly SendEntry[]): Promise<readonly SendResult[]> {
    const batches = Math.ceil(entries.length / 10);
    const results = await atOnce(batches, (at) =>
      this.sendBatch(entries.slice(at * 10, at * 10 + 10)),
    );
    return results.flat().map(accepted);
  }

  /** Up to ten messages. */
  async tryReceive(options: ReceiveOptions = {}): Promise<Received> {
    return this.home.run({ type: 'receive', queue: this.name, count: 10, ...options });
  }

  async receive(options: ReceiveOptions = {}): Promise<readonly Delivered[]> {
    const { messages } = accepted(await this.tryReceive(options));
    return messages.map(({ content, ...message }) => ({
      ...message,
      body: content.body,
      content: { ...content, attributes: content.attributes.map(plain) },
    }));
  }

  async receiveBodies(options: ReceiveOptions = {}): Promise<readonly string[]> {
    return (await this.receive(options)).map(({ body }) => body);
  }

  /** The one message that can be received. */
  async receiveOne(options: ReceiveOptions = {}): Promise<Delivered> {
    const messages = await this.receive({ count: 1, ...options });
    assert.equal(messages.length, 1, 'there should be a message to receive');
    return messages[0] as Delivered;
  }

  async tryRemove(receiptHandle: string | undefined): Promise<{ ok: true } | Refusal> {
    const entries = [{ receiptHandle }];
    return this.home.run({
      type: 'delete-messages',
      queue: this.name,
      isBatch: false,
      entries,
    });
  }

  async remove(...messages: readonly ReceivedMessage[]): Promise<void> {
    for (const { receiptHandle } of messages) accepted(await this.tryRemove(receiptHandle));
  }

  async tryRemoveBatch(
    entries: readonly { id?: string | undefined; receiptHandle?: string }[],
  ): Promise<Outcome<'delete-messages'>> {
    const filled = entries.map((entry, at) => ({ id: `e${at}`, ...entry }));
    const command = { type: 'delete-messages', queue: this.name, isBatch: true } as const;
    return this.home.run({ ...command, entries: filled });
  }

  async tryChangeVisibility(
    receiptHandle: string | undefined,
    visibilitySeconds: number | undefined,
  ): Promise<{ ok: true } | Refusal> {
    const entries = [{ receiptHandle, visibilitySeconds }];
    const command = { type: 'change-visibility', queue: this.name, isBatch: false } as const;
    return this.home.run({ ...command, entries });
  }

  async changeVisibility(message: ReceivedMessage, seconds: number): Promise<void> {
    accepted(await this.tryChangeVisibility(message.receiptHandle, seconds));
  }

  async tryChangeVisibilityBatch(
    entries: readonly {
      id?: string | undefined;
      receiptHandle?: string;
      visibilitySeconds?: number;
    }[],
  ): Promise<Outcome<'change-visibility'>> {
    const filled = entries.map((entry, at) => ({ id: `e${at}`, ...entry }));
    const command = { type: 'change-visibility', queue: this.name, isBatch: true } as const;
    return this.home.run({ ...command, entries: filled });
  }

  async trySet(attributes: Attributes): Promise<Outcome<'set-attributes'>> {
    return this.home.run({ type: 'set-attributes', queue: this.name, attributes });
  }

  async set(attributes: Attributes): Promise<void> {
    accepted(await this.trySet(attributes));
  }

  async attributes(...names: readonly string[]): Promise<Attributes> {
    const command = { type: 'get-attributes', queue: this.name, names } as const;
    return accepted(await this.home.run(command)).attributes;
  }

  async tryPurge(): Promise<Outcome<'purge-queue'>> {
    return this.home.run({ type: 'purge-queue', queue: this.name });
  }

  async purge(): Promise<void> {
    accepted(await this.tryPurge());
  }

  async delete(): Promise<void> {
    accepted(await this.home.run({ type: 'delete-queue', queue: this.name }));
  }

  async describe(): Promise<QueueDescription> {
    return accepted(await this.home.run({ type: 'describe-queue', queue: this.name }));
  }

  /** Messages visible, in flight and delayed. */
  async counts(): Promise<readonly [number, number, number]> {
    const shown = await this.attributes('All');
    return [
      Number(shown['ApproximateNumberOfMessages']),
      Number(shown['ApproximateNumberOfMessagesNotVisible']),
      Number(shown['ApproximateNumberOfMessagesDelayed']),
    ];
  }
}

/** The results of `act`, called often and many times at once, so that a store may keep many in one commit. */
export async function atOnce<T>(times: number, act: (at: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  while (results.length < times) {
    const length = Math.min(atOnceMax, times - results.length);
    const first = results.length;
    results.push(...(await Promise.all(Array.from({ length }, (_, at) => act(first + at)))));
  }
  return results;
}

/** A store may give bytes as a Buffer, which is not deeply equal to an array of the same bytes. */
function plain(attribute: MessageAttribute): MessageAttribute {
  const { value } = attribute;
  return value instanceof Uint8Array ? { ...attribute, value: Uint8Array.from(value) } : attribute;
}
