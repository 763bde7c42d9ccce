/**
 * Calls that the console's tests make beside the browser: the `/_oncemq/` endpoints, and SQS and SNS as bare requests,
 * which is all that is needed to set a scene.
 */

import assert from 'node:assert/strict';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into at will here
export type Answer = { status: number; body: any; headers: Headers };

interface Server {
  readonly url: string;
}

/** A FIFO queue whose ids are the hashes of its bodies. */
export const fifo = { FifoQueue: 'true', ContentBasedDeduplication: 'true' } as const;

/** `path` is what stands behind `/_oncemq/`. */
export async function ask(server: Server, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${server.url}/_oncemq/${path}`, init);
  const { status, headers } = response;
  return { status, headers, body: await response.json() };
}

export async function sqs(server: Server, action: string, input: object): Promise<Answer> {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': `AmazonSQS.${action}`,
    },
    body: JSON.stringify(input),
  });
  const { status, headers } = response;
  const text = await response.text();
  assert.equal(status, 200, text);
  return { status, headers, body: text === '' ? undefined : JSON.parse(text) };
}

/** The answer's ARN, where there is one: nothing else of SNS's answers is needed. */
export async function sns(
  server: Server,
  Action: string,
  input: Readonly<Record<string, string>>,
): Promise<{ readonly TopicArn: string }> {
  const body = new URLSearchParams({ Action, Version: '2010-03-31', ...input });
  const response = await fetch(server.url, { method: 'POST', body });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return { TopicArn: /<TopicArn>(.*?)<\/TopicArn>/.exec(text)?.[1] ?? '' };
}
