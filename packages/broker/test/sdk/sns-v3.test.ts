/**
 * The AWS SDK for JavaScript v3 for SNS: the tests of topics that all clients share, and the header that reports
 * duplicates. Retries are off, so that an answer that the SDK considers transient shows immediately.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SNS, SNSServiceException } from '@aws-sdk/client-sns';
import { openServer, testMsMax } from './fixture.ts';
import { type TopicActionName, type TopicClient, topicLife } from './topic-life.ts';
import { CallError, credentials, region } from './wire-client.ts';

describe('the AWS SDK v3', { concurrency: true }, () => topicLife(openV3));

describe('the AWS SDK v3, with durable storage', { concurrency: true }, () => {
  topicLife(openV3, { isKept: true });
});

function openV3(endpoint: string): TopicClient {
  const client = new SNS({ endpoint, region, credentials, maxAttempts: 1 });
  const methods = client as unknown as Record<string, (input: unknown) => Promise<never>>;
  return {
    call: (action, input) =>
      methods[methodName(action)]?.call(client, input).catch((error: unknown) => {
        throw error instanceof SNSServiceException ? asCallError(error) : error;
      }) ?? Promise.reject(new Error(`The client has no ${action}.`)),
    close: () => client.destroy(),
  };
}

function methodName(action: TopicActionName): string {
  return action.charAt(0).toLowerCase() + action.slice(1);
}

function asCallError(error: SNSServiceException): CallError {
  const { Code: code = error.name } = (error as { Error?: { Code?: string } }).Error ?? {};
  return new CallError(code, error.$metadata.httpStatusCode, error.message);
}

test('a duplicate publication is reported in a header that clients ignore', {
  timeout: testMsMax,
}, async (t) => {
  const server = await openServer(t);
  const ask = (parameters: Record<string, string>) =>
    fetch(server.url, {
      method: 'POST',
      body: new URLSearchParams({ Version: '2010-03-31', ...parameters }),
    });
  await ask({
    Action: 'CreateTopic',
    Name: 'prices.fifo',
    'Attributes.entry.1.key': 'FifoTopic',
    'Attributes.entry.1.value': 'true',
  });
  const publication = {
    Action: 'Publish',
    TopicArn: 'arn:aws:sns:us-east-1:000000000000:prices.fifo',
    Message: 'x',
    MessageGroupId: 'g',
    MessageDeduplicationId: 'd',
  };
  const first = await ask(publication);
  assert.equal(first.headers.get('x-oncemq-duplicate-of'), null);
  const again = await ask(publication);
  const original = again.headers.get('x-oncemq-duplicate-of') ?? 'none';
  assert.ok((await first.text()).includes(`<MessageId>${original}</MessageId>`));
});
