/**
 * Keeps a message hidden while its handler runs: extends its visibility timeout each time half of it has passed, so that
 * no other consumer gets the message however long the handler takes.
 *
 * An extension that fails is repeated until the timeout is over, unless SQS says that the message is no longer ours. If it
 * cannot be extended in time, the signal aborts: another consumer may have the message by now.
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
  /** Where the message came from, if `consume` holds it. */
  readonly queueUrl?: string;
}

export interface Heartbeat extends Held {
  stop(): void;
}

/** Amazon lets a message be hidden for twelve hours in all. */
const heldMsMax = 43_200_000;
/** How often a failed extension is repeated within the half of the timeout that is left. */
const repeatsMax = 10;

export function startHeartbeat(message: SqsMessage, options: HeartbeatOptions): Heartbeat {
  const { visibilitySeconds = 30, every = interval } = options;
  const lost = new AbortController();
  const periodMs = visibilitySeconds * 500;
  let beats = 0;
  let failure: unknown;
  /** Set while the last extension has not succeeded: stops its repetition. */
  let stopRepeating: (() => void) | undefined;

  const stop = (): void => {
    stopTimer();
    stopRepeating?.();
    stopRepeating = undefined;
  };
  const lose = (reason: unknown): void => {
    stop();
    lost.abort(reason);
  };
  const extend = (isCurrent: () => boolean): void => {
    changeVisibility(message, visibilitySeconds, options).then(
      () => {
        if (!isCurrent()) return;
        stopRepeating?.();
        stopRepeating = undefined;
      },
      (error: unknown) => {
        failure = error;
        // If the handler has ended in the meantime, the message may already be deleted, and nothing is lost.
        if (isCurrent() && isNoLongerOurs(error)) lose(error);
      },
    );
  };

  const stopTimer = every(periodMs, () => {
    beats += 1;
    if (beats * periodMs >= heldMsMax) {
      lose(new Error('The message has been held for twelve hours and cannot be held any longer.'));
      return;
    }
    if (stopRepeating !== undefined) {
      lose(failure ?? new Error('Extending the visibility timeout took longer than the timeout.'));
      return;
    }
    failure = undefined;
    const isCurrent = (): boolean => stopRepeating === stopThis;
    const stopThis = every(periodMs / repeatsMax, () => {
      // Only after a failure: a request that is still under way is not doubled.
      if (failure === undefined) return;
      failure = undefined;
      extend(isCurrent);
    });
    stopRepeating = stopThis;
    extend(isCurrent);
  });
  return { signal: lost.signal, stop };
}

export async function changeVisibility(
  { ReceiptHandle }: SqsMessage,
  VisibilityTimeout: number,
  { client, queueUrl: QueueUrl }: Pick<HeartbeatOptions, 'client' | 'queueUrl'>,
): Promise<void> {
  const { ChangeMessageVisibilityCommand } = await import('@aws-sdk/client-sqs');
  await client.send(
    new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }),
  );
}

/** The message is gone, or with another consumer. Anything else may pass: a lost connection, throttling, a busy server. */
export function isNoLongerOurs(error: unknown): boolean {
  return /MessageNotInflight|ReceiptHandleIsInvalid|InvalidParameterValue|QueueDoesNotExist|NonExistentQueue/.test(
    (error as Error | undefined)?.name ?? '',
  );
}

export function interval(milliseconds: number, beat: () => void): () => void {
  const timer = setInterval(beat, milliseconds);
  return () => clearInterval(timer);
}
