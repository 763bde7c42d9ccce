/**
 * How many messages a consumer may receive at once, so that a message that always fails ("poison") takes no others to the
 * dead-letter queue with it.
 *
 * SQS counts a receive when it hands a message out, handled or not, and moves a message to the dead-letter queue when it
 * would be received once more than maxReceiveCount. Messages received together with a poison therefore rise with it, also
 * when they are given back untouched. The only remedy is not to receive them together:
 *
 *   starting    for one visibility timeout after the start: one receive of one message at a time. What a killed process
 *               held comes back within that time, and nobody knows which of its messages killed it.
 *   isolating   for two visibility timeouts after a failure, or after a message that had been received before: one message
 *               per receive, several receives in parallel. Of a FIFO group, that is one message at a time.
 *   calm        otherwise: ten messages per receive.
 *
 * A message at its last receive that was received before runs alone in the process: if it kills the process, nothing else
 * was in flight. A message that fails at its last receive will never be delivered again, so its group goes on.
 *
 * A queue without a dead-letter queue needs none of this and is always calm. If maxReceiveCount is unknown, because the
 * consumer may not read the queue's attributes, every repeated receive is taken for the last one before it is handled, but
 * never after it failed.
 */

import type { SQSClient } from '@aws-sdk/client-sqs';
import type { SqsMessage } from './received.ts';

export interface CautionOptions {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly visibilitySeconds: number;
  /** Default: read from the queue. */
  readonly maxReceiveCount?: number | undefined;
  /** Milliseconds. */
  readonly now: () => number;
}

export type Mode = 'starting' | 'isolating' | 'calm';

/** A changed RedrivePolicy is noticed after this time. */
const limitMsMax = 60_000;

export class Caution {
  readonly #options: CautionOptions;
  readonly #startedUntil: number;
  #isolatingUntil = Number.NEGATIVE_INFINITY;
  #limit: { readonly value: Promise<number | undefined>; readonly readAt: number } | undefined;

  constructor(options: CautionOptions) {
    this.#options = options;
    this.#startedUntil = options.now() + options.visibilitySeconds * 1_000;
  }

  async mode(): Promise<Mode> {
    const now = this.#options.now();
    if (now >= this.#startedUntil && now >= this.#isolatingUntil) return 'calm';
    if ((await this.#maxReceiveCount()) === Number.POSITIVE_INFINITY) return 'calm';
    return now < this.#startedUntil ? 'starting' : 'isolating';
  }

  /** A message has failed, or has come again. */
  noticeTrouble(): void {
    const { now, visibilitySeconds } = this.#options;
    this.#isolatingUntil = now() + 2 * visibilitySeconds * 1_000;
  }

  /** Whether the message should run alone. */
  async isLastChance(message: SqsMessage): Promise<boolean> {
    const count = receiveCountOf(message);
    return count > 1 && count >= ((await this.#maxReceiveCount()) ?? 0);
  }

  /** Whether the message, which has failed, will never be delivered again. */
  async isDead(message: SqsMessage): Promise<boolean> {
    return receiveCountOf(message) >= ((await this.#maxReceiveCount()) ?? Number.POSITIVE_INFINITY);
  }

  /** Infinity without a dead-letter queue; undefined if it cannot be read. */
  #maxReceiveCount(): Promise<number | undefined> {
    const { maxReceiveCount, now } = this.#options;
    if (maxReceiveCount !== undefined) return Promise.resolve(maxReceiveCount);
    if (this.#limit === undefined || now() - this.#limit.readAt >= limitMsMax) {
      const value = readMaxReceiveCount(this.#options).catch(() => undefined);
      this.#limit = { value, readAt: now() };
    }
    return this.#limit.value;
  }
}

export function receiveCountOf({ Attributes }: SqsMessage): number {
  return Number(Attributes?.['ApproximateReceiveCount'] ?? 1);
}

async function readMaxReceiveCount({ client, queueUrl }: CautionOptions): Promise<number> {
  const { GetQueueAttributesCommand } = await import('@aws-sdk/client-sqs');
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['RedrivePolicy'] }),
  );
  const policy = Attributes?.RedrivePolicy;
  if (policy === undefined) return Number.POSITIVE_INFINITY;
  return Number((JSON.parse(policy) as { maxReceiveCount: unknown }).maxReceiveCount);
}
