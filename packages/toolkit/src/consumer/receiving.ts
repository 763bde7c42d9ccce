/**
 * One ReceiveMessage that is repeated until it is answered, with the same receive attempt id: if only the answer was lost,
 * a FIFO queue gives the same messages again, so that a broken connection costs milliseconds and not the visibility
 * timeout. Standard queues have no attempt ids.
 *
 * At the end, a receive that waits for messages is cut off, but one that does not wait is given a moment to answer: messages
 * that arrive with nobody listening would be hidden for their visibility timeout.
 */

import { randomUUID } from 'node:crypto';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { SqsMessage } from './received.ts';

export interface ReceiveOptions {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly visibilitySeconds: number;
  /** Ends the attempts. */
  readonly signal: AbortSignal;
  /** Called with each failed attempt. If it throws, so does the receive. */
  readonly onFailure: (error: unknown) => void;
}

export const receiveMax = 10;
const lastAnswerMsMax = 2_000;
const pauseMs = { first: 50, max: 30_000 };

/** Empty if there was nothing to receive, or if the signal has aborted. */
export async function receive(
  size: { readonly messagesMax: number; readonly waitSeconds: number },
  { client, queueUrl, visibilitySeconds, signal, onFailure }: ReceiveOptions,
): Promise<readonly SqsMessage[]> {
  const { ReceiveMessageCommand } = await import('@aws-sdk/client-sqs');
  const attempt = queueUrl.endsWith('.fifo') ? { ReceiveRequestAttemptId: randomUUID() } : {};
  let pause = pauseMs.first;
  while (!signal.aborted) {
    const cut = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => {
      timer = setTimeout(() => cut.abort(), size.waitSeconds > 0 ? 0 : lastAnswerMsMax);
    };
    signal.addEventListener('abort', end);
    try {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: size.messagesMax,
          WaitTimeSeconds: size.waitSeconds,
          VisibilityTimeout: visibilitySeconds,
          MessageSystemAttributeNames: ['All'],
          MessageAttributeNames: ['All'],
          ...attempt,
        }),
        { abortSignal: cut.signal },
      );
      return Messages;
    } catch (error) {
      if (signal.aborted) break;
      onFailure(error);
      await pauseFor(pause, signal);
      pause = Math.min(pause * 2, pauseMs.max);
    } finally {
      signal.removeEventListener('abort', end);
      clearTimeout(timer);
    }
  }
  return [];
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
