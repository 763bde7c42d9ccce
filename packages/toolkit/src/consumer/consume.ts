/**
 * A plain loop for consumers without a framework: receive, handle, delete, until the signal aborts. Consumers with a
 * framework pass it the idempotent handler instead.
 *
 * Heartbeats hold all messages of a receive from the start, because the last one waits for all the others. A message
 * that fails, and the later ones of its group, stay in the queue and come again after their visibility timeout. A message
 * that can no longer be held may be with another consumer: its handler is told by the signal, and is not called any more if
 * the message was still waiting.
 */

import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { type Every, type Held, startHeartbeat } from './heartbeat.ts';
import { groupOf, type SqsMessage } from './received.ts';

export interface ConsumeOptions {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly handler: (message: SqsMessage, held: Held) => Promise<unknown>;
  /** Ends the loop: the messages already received are still handled, and no more are received. */
  readonly signal: AbortSignal;
  /** Long polling; default 20. */
  readonly waitSeconds?: number;
  /** Default 30; extended while handlers run. */
  readonly visibilitySeconds?: number;
  /**
   * Called with each failure and its message, also if that could not be held, or without one if receiving failed. If it
   * throws, the loop ends. Optional.
   */
  readonly onError?: (error: unknown, message: SqsMessage | undefined) => void;
  /** The timer of the heartbeats; default: setInterval. */
  readonly every?: Every;
  /** Creates a span for each handler call, for handlers that create none themselves; default: no spans. */
  readonly telemetry?: Telemetry;
}

const receiveMax = 10;
const pauseMs = { first: 100, max: 30_000 };

export async function consume(options: ConsumeOptions): Promise<void> {
  const { signal, onError = () => {} } = options;
  let pause = pauseMs.first;
  while (!signal.aborted) {
    try {
      await handleAll(await receive(options), options);
      pause = pauseMs.first;
    } catch (error) {
      if (signal.aborted) return;
      onError(error, undefined);
      await pauseFor(pause, signal);
      pause = Math.min(pause * 2, pauseMs.max);
    }
  }
}

async function receive(options: ConsumeOptions): Promise<readonly SqsMessage[]> {
  const { client, queueUrl, signal, waitSeconds = 20, visibilitySeconds = 30 } = options;
  const { ReceiveMessageCommand } = await import('@aws-sdk/client-sqs');
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: receiveMax,
      WaitTimeSeconds: waitSeconds,
      VisibilityTimeout: visibilitySeconds,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    }),
    { abortSignal: signal },
  );
  return Messages;
}

async function handleAll(messages: readonly SqsMessage[], options: ConsumeOptions): Promise<void> {
  const { client, queueUrl, handler, onError = () => {}, telemetry } = options;
  const { DeleteMessageCommand } = await import('@aws-sdk/client-sqs');
  // Thrown in a listener, an error would end the process.
  const thrown: unknown[] = [];
  const holds = messages.map((message) => {
    const beat = startHeartbeat(message, options);
    beat.signal.addEventListener('abort', () => {
      try {
        onError(beat.signal.reason, message);
      } catch (error) {
        thrown.push(error);
      }
    });
    return { message, beat };
  });
  const held = new Set<string>();
  try {
    for (const { message, beat } of holds) {
      const { signal } = beat;
      try {
        if (held.has(groupOf(message))) continue;
        signal.throwIfAborted();
        await (telemetry === undefined
          ? handler(message, { signal })
          : telemetry.processing(message, queueUrl, () => handler(message, { signal })));
        const { ReceiptHandle } = message;
        await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
      } catch (error) {
        held.add(groupOf(message));
        const isTold = signal.aborted && error === signal.reason;
        if (!isTold) onError(error, message);
      } finally {
        beat.stop();
      }
      if (thrown.length > 0) throw thrown[0];
    }
  } finally {
    // If onError has thrown, the remaining messages are not handled and must not be held for hours.
    for (const { beat } of holds) beat.stop();
  }
}

function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
  });
}
