/**
 * Commands of clients that use a few queues and topics at once, and change, delete and create them again. Receipt handles
 * and subscriptions come from what was answered before.
 */

import type { Command, Outcome } from '../../../src/core/commands.ts';
import { arnOf, redrivePolicy } from '../../core/fixture.ts';

export const queueNames = ['a.fifo', 'b.fifo', 'dead.fifo', 'plain', 'dead'] as const;
const topicNames = ['prices.fifo', 'events'] as const;
const baseUrl = 'http://mq.example';
const rememberedMax = 20;

export class RandomCommands {
  readonly #chance: () => number;
  readonly #first: Command[] = [
    ...queueNames.map((queue) => created(queue)),
    ...topicNames.map((name) => createdTopic(name)),
  ];
  readonly #receipts: { queue: string; receiptHandle: string }[] = [];
  readonly #subscriptions: string[] = [];
  #sent = 0;

  constructor(chance: () => number) {
    this.#chance = chance;
  }

  next(): Command {
    return this.#first.shift() ?? this.#random();
  }

  learn(command: Command, outcome: Outcome): void {
    if (command.type === 'receive' && 'messages' in outcome) {
      for (const message of outcome.messages) {
        if (!('receiptHandle' in message)) continue;
        this.#receipts.push({ queue: command.queue, receiptHandle: message.receiptHandle });
      }
    }
    if ('subscriptionArn' in outcome) this.#subscriptions.push(outcome.subscriptionArn);
    for (const known of [this.#receipts, this.#subscriptions]) {
      if (known.length > rememberedMax) known.shift();
    }
  }

  #random(): Command {
    const queue = this.#pick(queueNames);
    const isFifo = queue.endsWith('.fifo');
    const name = this.#pick(topicNames);
    const topicArn = arnOf(name).replace(':sqs:', ':sns:');
    const receipt = this.#pick(this.#receipts);
    switch (this.#kind()) {
      case 'send': {
        this.#sent += 1;
        const ids = { groupId: this.#pick(['g', 'h']), deduplicationId: `${this.#sent % 7}` };
        const entries = [{ body: `body ${this.#sent}`, ...(isFifo ? ids : {}) }];
        return { type: 'send', queue, isBatch: false, entries };
      }
      case 'receive':
        return { type: 'receive', queue, count: 3, visibilitySeconds: this.#pick([0, 1, 60]) };
      case 'delete': {
        const { receiptHandle = 'none' } = receipt ?? {};
        const entries = [{ receiptHandle }];
        return { type: 'delete-messages', queue: receipt?.queue ?? queue, isBatch: false, entries };
      }
      case 'change': {
        const entries = [{ receiptHandle: receipt?.receiptHandle, visibilitySeconds: 0 }];
        return {
          type: 'change-visibility',
          queue: receipt?.queue ?? queue,
          isBatch: false,
          entries,
        };
      }
      case 'set':
        return { type: 'set-attributes', queue, attributes: this.#attributes(isFifo) };
      case 'create':
        return created(queue);
      case 'delete-queue':
        return { type: 'delete-queue', queue };
      case 'purge':
        return { type: this.#pick(['purge-queue', 'forget-window']), queue };
      case 'move':
        return { type: 'start-move-task', sourceArn: arnOf(this.#pick(['dead', 'dead.fifo'])) };
      case 'look':
        return { type: this.#pick(['describe-queue', 'list-tags']), queue };
      case 'publish': {
        this.#sent += 1;
        const ids = { groupId: 'g', deduplicationId: `${this.#sent % 7}` };
        const entry = { message: `body ${this.#sent}`, ...(name.endsWith('.fifo') ? ids : {}) };
        return { type: 'publish', topicArn, isBatch: false, entries: [entry], baseUrl };
      }
      case 'subscribe': {
        const attributes = { RawMessageDelivery: 'true' };
        const endpoint = arnOf(queue);
        return { type: 'subscribe', topicArn, protocol: 'sqs', endpoint, attributes, baseUrl };
      }
      case 'unsubscribe':
        return { type: 'unsubscribe', subscriptionArn: this.#pick(this.#subscriptions) ?? 'none' };
      case 'topic':
        return this.#pick([{ type: 'delete-topic', topicArn }, createdTopic(name)]);
      default:
        return { type: 'tick' };
    }
  }

  #attributes(isFifo: boolean): Readonly<Record<string, string>> {
    const targets = isFifo ? ['dead.fifo', 'b.fifo'] : ['dead'];
    return this.#pick([
      { RedrivePolicy: redrivePolicy(arnOf(this.#pick(targets)), 1) },
      { RedrivePolicy: redrivePolicy(arnOf(this.#pick(targets)), 1) },
      { RedrivePolicy: '' },
      { VisibilityTimeout: this.#pick(['0', '5']) },
      { DelaySeconds: this.#pick(['0', '1']) },
      { MessageRetentionPeriod: '60' },
      ...(isFifo ? [{ ContentBasedDeduplication: 'true' }] : []),
    ]);
  }

  #kind(): string {
    let left = this.#chance() * total;
    for (const [kind, weight] of weights) {
      left -= weight;
      if (left < 0) return kind;
    }
    return 'tick';
  }

  #pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.#chance() * all.length)] as T;
  }
}

const weights: readonly (readonly [string, number])[] = [
  ['send', 25],
  ['receive', 25],
  ['delete', 10],
  ['change', 4],
  ['set', 8],
  ['create', 5],
  ['delete-queue', 2],
  ['purge', 2],
  ['move', 3],
  ['look', 4],
  ['publish', 10],
  ['subscribe', 5],
  ['unsubscribe', 1],
  ['topic', 2],
  ['tick', 8],
];
const total = weights.reduce((sum, [, weight]) => sum + weight, 0);

function created(queue: string): Command {
  const attributes = queue.endsWith('.fifo') ? { FifoQueue: 'true' } : {};
  return { type: 'create-queue', queue, attributes };
}

function createdTopic(name: string): Command {
  const attributes = name.endsWith('.fifo') ? { FifoTopic: 'true' } : {};
  return { type: 'create-topic', name, attributes };
}
