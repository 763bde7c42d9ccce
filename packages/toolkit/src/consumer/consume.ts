/**
 * A plain loop: receive, handle, delete, until the signal aborts. For consumers that need no framework; those that have
 * one give it the idempotent handler instead.
 *
 * All messages of a receive are held by heartbeats from the start, since the last of them waits for the first. What
 * fails is left to come again at its timeout, and so are the later messages of its group.
 */

import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { type Every, startHeartbeat } from './heartbeat.ts';
import { groupOf, type SqsMessage } from './received.ts';

export interface ConsumeOptions {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly handler: (message: SqsMessage) => Promise<unknown>;
  /** Ends the loop: no further receive, and the messages at hand are handled. */
  readonly signal: AbortSignal;
  /** Long polling; default 20. */
  readonly waitSeconds?: number;
  /** Default 30; extended while handlers run. */
  readonly visibilitySeconds?: number;
  /** Told of what failed, and with which message; without one, receiving did. What it throws ends the loop. Default: nobody is. */
  readonly onError?: (error: unknown, message: SqsMessage | undefined) => void;
  /** What drives the heartbeats; default: an interval of Node's. */
  readonly every?: Every;
  /** Makes a span of each handling, for handlers that make none of their own; default: none does. */
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
  const beats = messages.map((message) => startHeartbeat(message, options));
  const held = new Set<string>();
  try {
    for (const [index, message] of messages.entries()) {
      try {
        if (held.has(groupOf(message))) continue;
        await (telemetry === undefined
          ? handler(message)
          : telemetry.processing(message, queueUrl, () => handler(message)));
        const { ReceiptHandle } = message;
        await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
      } catch (error) {
        held.add(groupOf(message));
        onError(error, message);
      } finally {
        beats[index]?.stop();
      }
    }
  } finally {
    // If onError has thrown, nobody gets to the others, and they must not be held for hours.
    for (const beat of beats) beat.stop();
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
