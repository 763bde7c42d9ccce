/**
 * The AWS SDK for JavaScript v2, in its last version that speaks Query with XML answers (2.1490.0; from 2.1491.0 on it
 * speaks JSON, as v3 does): the tests that all clients share, and how it handles XML and GET. It compares MD5 sums of
 * bodies, and sends each request to the queue's own URL.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import SNS from 'aws-sdk/clients/sns.js';
import SQS from 'aws-sdk/clients/sqs.js';
import { everydayLife } from './everyday-life.ts';
import { openServer, testMsMax } from './fixture.ts';
import { type TopicClient, topicLife } from './topic-life.ts';
import { CallError, type ClientKind, credentials, region, type WireClient } from './wire-client.ts';

// Otherwise each run prints that v2 is no longer maintained.
process.env['AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE'] = '1';

const v2: ClientKind = { wire: 'query', open: openV2 };

describe('aws-sdk v2', () => {
  everydayLife(v2);
  topicLife(openTopics);

  test('a public URL with an ampersand survives XML', {
    timeout: testMsMax,
  }, async (t) => {
    const server = await openServer(t, { publicUrl: 'http://queues.example:80&more' });
    const client = v2Client(server.url);
    const { QueueUrl } = await client.createQueue({ QueueName: 'jobs' }).promise();
    assert.equal(QueueUrl, 'http://queues.example:80&more/000000000000/jobs');
  });

  test('special characters in an error text survive XML', { timeout: testMsMax }, async (t) => {
    const server = await openServer(t);
    const client = v2Client(server.url);
    const { QueueUrl = '' } = await client.createQueue({ QueueName: 'jobs' }).promise();
    const deletion = client.deleteMessage({ QueueUrl, ReceiptHandle: '<"\r\n&😀' }).promise();
    await assert.rejects(deletion, {
      code: 'ReceiptHandleIsInvalid',
      statusCode: 404,
      message: 'The input receipt handle "<"\r\n&😀" is not a valid receipt handle.',
    });
  });

  test('every answer has its request id', { timeout: testMsMax }, async (t) => {
    const server = await openServer(t);
    const client = v2Client(server.url);
    const { $response } = await client.createQueue({ QueueName: 'jobs' }).promise();
    assert.match($response.requestId, /^[0-9a-f-]{36}$/);
    const missing = client.getQueueUrl({ QueueName: 'missing' }).promise();
    await assert.rejects(missing, (error: { requestId?: string }) =>
      /^[0-9a-f-]{36}$/.test(error.requestId ?? ''),
    );
  });
});

function v2Client(endpoint: string): SQS {
  return new SQS({ endpoint, region, credentials, maxRetries: 0 });
}

function openV2(endpoint: string): WireClient {
  const client = v2Client(endpoint);
  return {
    call: (action, input) => call(client, action, input),
    has: (action) => methodName(action) in client,
    // It uses Node's default agent; the server closes its idle connections.
    close: () => {},
  };
}

function openTopics(endpoint: string): TopicClient {
  const client = new SNS({ endpoint, region, credentials, maxRetries: 0 });
  return { call: (action, input) => call(client, action, input), close: () => {} };
}

function call(client: SQS | SNS, action: string, input: unknown): Promise<never> {
  return client
    .makeRequest(methodName(action), input as Record<string, unknown>)
    .promise()
    .catch((error: { code: string; statusCode?: number; message: string }) => {
      const { code, statusCode, message } = error;
      throw statusCode === undefined ? error : new CallError(code, statusCode, message);
    }) as Promise<never>;
}

function methodName(action: string): string {
  return action.charAt(0).toLowerCase() + action.slice(1);
}
