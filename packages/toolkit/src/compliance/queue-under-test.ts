/**
 * A FIFO queue with content-based deduplication and a clock that can be advanced: what the compliance tests need to see a
 * window open and close. `oncemq verify` brings its own; in a test, `queueUnderTest` builds one from the AWS client and
 * the clock of `startTestServer()`.
 */

import type { SQSClient } from '@aws-sdk/client-sqs';
import { type ProducerMessage, sendMessages } from '../producer/send.ts';

export interface QueueUnderTest {
  /** Returns the id of the message, or of the original if it was a duplicate. */
  send(message: ProducerMessage): Promise<string>;
  /** Receives and deletes all messages; returns their bodies in order. */
  drain(): Promise<string[]>;
  advance(seconds: number): Promise<unknown>;
}

export function queueUnderTest(options: {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly clock: { advance(seconds: number): Promise<unknown> };
}): QueueUnderTest {
  const { client, queueUrl, clock } = options;
  return {
    send: async (message) => {
      const [sent] = await sendMessages([message], { client, queueUrl });
      return sent?.messageId ?? '';
    },
    drain: () => drain(client, queueUrl),
    advance: (seconds) => clock.advance(seconds),
  };
}

async function drain(client: Pick<SQSClient, 'send'>, QueueUrl: string): Promise<string[]> {
  const { DeleteMessageCommand, ReceiveMessageCommand } = await import('@aws-sdk/client-sqs');
  const bodies: string[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    if (Messages.length === 0) return bodies;
    for (const { Body = '', ReceiptHandle } of Messages) {
      bodies.push(Body);
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }
}
