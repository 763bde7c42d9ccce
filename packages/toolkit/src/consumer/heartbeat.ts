/**
 * Keeps a message hidden while its handler runs: extends its visibility timeout each time half of it has passed, so that
 * no other consumer gets the message however long the handler takes. If an extension fails, the signal aborts: another
 * consumer may have the message by now.
 */

import type { SQSClient } from '@aws-sdk/client-sqs';
import type { SqsMessage } from './received.ts';

export interface HeartbeatOptions {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  /** For how long each beat hides the message; default 30. */
  readonly visibilitySeconds?: number;
  /** Default: setInterval. */
  readonly every?: Every;
}

/** Calls a function periodically; returns a function that stops it. */
export type Every = (milliseconds: number, beat: () => void) => () => void;

/** What a handler learns about its message while it runs. */
export interface Held {
  /** Aborts when the message could not be held. A handler that stops because of it must throw: returning means handled. */
  readonly signal: AbortSignal;
}

export interface Heartbeat extends Held {
  stop(): void;
}

/** Amazon lets a message be hidden for twelve hours in all. */
const heldMsMax = 43_200_000;

export function startHeartbeat(message: SqsMessage, options: HeartbeatOptions): Heartbeat {
  const { client, queueUrl, visibilitySeconds = 30, every = interval } = options;
  const lost = new AbortController();
  const periodMs = visibilitySeconds * 500;
  let beats = 0;
  let isStopped = false;
  const extend = async (): Promise<void> => {
    const { ChangeMessageVisibilityCommand } = await import('@aws-sdk/client-sqs');
    if (isStopped) return;
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: queueUrl,
        ReceiptHandle: message.ReceiptHandle,
        VisibilityTimeout: visibilitySeconds,
      }),
    );
  };
  const stopTimer = every(periodMs, () => {
    beats += 1;
    if (beats * periodMs >= heldMsMax) {
      stop();
      lost.abort(
        new Error('The message has been held for twelve hours and cannot be held any longer.'),
      );
      return;
    }
    extend().catch((error: unknown) => {
      // If the handler has ended in the meantime, the message may already be deleted, and nothing is lost.
      if (!isStopped) lost.abort(error);
    });
  });
  const stop = (): void => {
    isStopped = true;
    stopTimer();
  };
  return { signal: lost.signal, stop };
}

function interval(milliseconds: number, beat: () => void): () => void {
  const timer = setInterval(beat, milliseconds);
  return () => clearInterval(timer);
}
