/**
 * A loop for consumers without a framework: receive, handle, delete, until the signal aborts. Consumers with a framework
 * pass it the idempotent handler instead.
 *
 * This file decides when to receive and how much: only while a handler could start at once (back-pressure), and as much as
 * caution.ts allows, so that a message that always fails reaches the dead-letter queue alone. What happens to received
 * messages is in handling.ts. At the end, running handlers finish, and what has not begun is given back to the queue, except
 * messages at their last receive, which are handled: nobody would receive them again.
 */

import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { Caution, receiveCountOf } from './caution.ts';
import { Handling } from './handling.ts';
import type { Every, Held } from './heartbeat.ts';
import type { SqsMessage } from './received.ts';
import { receive, receiveMax } from './receiving.ts';
import { Slots } from './slots.ts';

export interface ConsumeOptions {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  /** Handles one message: it is deleted when the promise resolves, and comes again if it rejects. */
  readonly handler?: (message: SqsMessage, held: Held) => Promise<unknown>;
  /**
   * Instead of `handler`: handles the messages of one receive together and returns those that may be deleted, as the
   * idempotent handler does. The signal aborts when any of them could not be held.
   */
  readonly batchHandler?: (
    messages: readonly SqsMessage[],
    held: Held,
  ) => Promise<readonly SqsMessage[]>;
  /** Ends the loop: running handlers and messages at their last receive finish, and what has not begun is given back. */
  readonly signal: AbortSignal;
  /** How many handlers may run at once, each on another group; from 1 to 1,000, default 10. */
  readonly concurrency?: number;
  /** Long polling; default 20. */
  readonly waitSeconds?: number;
  /** Default 30; extended while handlers run. */
  readonly visibilitySeconds?: number;
  /** Of the queue's RedrivePolicy, for a consumer that may not read the queue's attributes; default: it is read. */
  readonly maxReceiveCount?: number;
  /**
   * Called with each failure and its message, also if that could not be held, or without one if receiving failed. If it
   * throws, the loop ends. Optional.
   */
  readonly onError?: (error: unknown, message: SqsMessage | undefined) => void;
  /** The timer of the heartbeats; default: setInterval. */
  readonly every?: Every;
  /** Creates a span for each handler call, for handlers that create none themselves; default: no spans. */
  readonly telemetry?: Telemetry;
  /** Milliseconds that never go back; default: since the process started. */
  readonly now?: () => number;
}

const concurrencyMax = 1_000;
/** How many receives of one message each run in parallel while poison is isolated. */
const receiversMax = 8;

export async function consume(options: ConsumeOptions): Promise<void> {
  check(options);
  const { onError = () => {}, waitSeconds = 20, visibilitySeconds = 30 } = options;
  const { concurrency = 10, now = () => performance.now(), maxReceiveCount } = options;
  const thrown: unknown[] = [];
  const ending = new AbortController();
  const end = (): void => ending.abort();
  options.signal.addEventListener('abort', end);
  if (options.signal.aborted) end();
  const { signal } = ending;

  const report = (error: unknown, message: SqsMessage | undefined): void => {
    try {
      onError(error, message);
    } catch (failure) {
      thrown.push(failure);
      end();
    }
  };
  const common = { client: options.client, queueUrl: options.queueUrl, visibilitySeconds };
  const caution = new Caution({ ...common, maxReceiveCount, now });
  const handling = new Handling({
    ...common,
    handler: options.handler,
    batchHandler: options.batchHandler,
    telemetry: options.telemetry,
    every: options.every,
    caution,
    slots: new Slots(concurrency),
    ending: signal,
    report,
  });

  /** Whether there were messages. */
  const receiveOnce = async (messagesMax: number, seconds: number): Promise<boolean> => {
    const messages = await receive(
      { messagesMax, waitSeconds: seconds },
      { ...common, signal, onFailure: (error) => report(error, undefined) },
    );
    if (messages.some((message) => receiveCountOf(message) > 1)) caution.noticeTrouble();
    await handling.begin(messages);
    return messages.length > 0;
  };

  let hasMore = false;
  while (!signal.aborted) {
    await handling.untilRoom(signal);
    const mode = await caution.mode();
    // Only a single receive waits for messages: parallel ones are for those that are there already.
    const receivers = mode === 'isolating' && hasMore ? Math.min(handling.room, receiversMax) : 1;
    const seconds = receivers > 1 ? 0 : waitSeconds;
    const size = mode === 'calm' ? receiveMax : 1;
    const answers: boolean[] = await Promise.all(
      Array.from({ length: receivers }, () => receiveOnce(size, seconds)),
    );
    hasMore = answers.includes(true);
  }
  await handling.untilDone();
  options.signal.removeEventListener('abort', end);
  if (thrown.length > 0) throw thrown[0];
}

function check({ handler, batchHandler, telemetry, concurrency = 10 }: ConsumeOptions): void {
  if ((handler === undefined) === (batchHandler === undefined)) {
    throw new TypeError('consume takes either a handler or a batchHandler.');
  }
  if (batchHandler !== undefined && telemetry !== undefined) {
    throw new TypeError(
      'consume creates no spans for a batchHandler: pass the telemetry to idempotent instead.',
    );
  }
  if (!(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= concurrencyMax)) {
    throw new RangeError(
      `concurrency must be a whole number from 1 to ${concurrencyMax}, not ${String(concurrency)}.`,
    );
  }
}
