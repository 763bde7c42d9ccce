/**
 * The AWS CLI, as people type it: one that speaks Query (Debian's, say) and one that speaks JSON. A command takes half a
 * second of CPU time, so what has separate tests for other clients is combined into a few scenarios here.
 *
 * The tests detect which CLIs are installed; a missing one is skipped by name.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import type { SQS } from '@aws-sdk/client-sqs';
import type { TestServer } from '../../src/testing.ts';
import { clientsAtHand, describeClient, environment, type Program } from './clients-at-hand.ts';
import { atEnd, nextArrival, openServer } from './fixture.ts';
import { v3Client } from './v3-client.ts';
import type { Wire } from './wire-client.ts';

/** A scenario has up to ten commands, on a machine that may be busy with other tests. */
const timed = { timeout: 90_000 };
const commandMsMax = 60_000;
const arnOf = (name: string): string => `arn:aws:sqs:us-east-1:000000000000:${name}`;

const atHand = clientsAtHand('awscli');

for (const wire of ['query', 'json'] as const) {
  describeClient(atHand, wire, (program) => stories(program, wire));
}

function stories(program: Program, wire: Wire): void {
  test('it creates, tags and opens a queue to others, and shows the result', timed, async (t) => {
    const server = await openServer(t);
    const aws = cli(program, server);
    const arrival = nextArrival(server);
    const created = await aws('create-queue', {
      'queue-name': 'jobs.fifo',
      attributes: 'FifoQueue=true,ContentBasedDeduplication=true',
      tags: 'team=mail,stage=test',
    });
    const { headers } = await arrival;
    assert.equal(headers['x-amz-target'] !== undefined, wire === 'json');
    const url = String(created['QueueUrl']);
    assert.equal(url, `${server.url}/000000000000/jobs.fifo`);
    await aws('add-permission', {
      'queue-url': url,
      label: 'partner',
      'aws-account-ids': '111111111111',
      actions: 'SendMessage',
    });
    const [{ Tags }, { Attributes }] = await Promise.all([
      aws('list-queue-tags', { 'queue-url': url }),
      aws('get-queue-attributes', { 'queue-url': url, 'attribute-names': 'All' }),
    ]);
    assert.deepEqual(Tags, { team: 'mail', stage: 'test' });
    const { QueueArn, ContentBasedDeduplication, Policy = '' } = Attributes ?? {};
    assert.deepEqual([QueueArn, ContentBasedDeduplication], [arnOf('jobs.fifo'), 'true']);
    assert.equal(JSON.parse(Policy).Statement[0].Sid, 'partner');
  });

  test('it sends, receives again by attempt id, hides and deletes', timed, async (t) => {
    const { server, v3 } = await openBeside(t);
    const url = await createFifo(v3, 'jobs.fifo');
    const aws = cli(program, server);
    const MessageBody = 'a <b> & "c"\r\n😀';
    const first = await aws('send-message', {
      'queue-url': url,
      'message-body': MessageBody,
      'message-attributes': '{"count":{"DataType":"Number","StringValue":"3"}}',
      'message-group-id': 'x',
      'message-deduplication-id': 'd-1',
    });
    const { Successful, Failed } = await aws('send-message-batch', {
      'queue-url': url,
      entries: JSON.stringify([
        { Id: 'good', MessageBody: 'b', MessageGroupId: 'y', MessageDeduplicationId: 'd-2' },
        { Id: 'again', MessageBody, MessageGroupId: 'x', MessageDeduplicationId: 'd-1' },
        { Id: 'bad', MessageBody: 'c', MessageGroupId: 'y', MessageDeduplicationId: 'é' },
      ]),
    });
    assert.deepEqual(
      [Successful?.map(({ Id }) => Id), Failed?.map(({ Id }) => Id)],
      [['good', 'again'], ['bad']],
    );
    assert.equal(Successful?.[1]?.MessageId, first.MessageId);
    const attempt = {
      'queue-url': url,
      'max-number-of-messages': '10',
      'message-attribute-names': 'All',
      'receive-request-attempt-id': 'attempt-1',
    };
    const { Messages = [] } = await aws('receive-message', attempt);
    assert.deepEqual(
      Messages.map(({ Body }) => Body),
      [MessageBody, 'b'],
    );
    assert.equal(Messages[0]?.MessageAttributes?.['count']?.StringValue, '3');
    assert.deepEqual((await aws('receive-message', attempt)).Messages, Messages);
    const [handle, other] = Messages.map(({ ReceiptHandle }) => ReceiptHandle ?? '');
    await Promise.all([
      aws('change-message-visibility', {
        'queue-url': url,
        'receipt-handle': handle ?? '',
        'visibility-timeout': '100',
      }),
      aws('delete-message', { 'queue-url': url, 'receipt-handle': other ?? '' }),
    ]);
    await server.clock.advance(99);
    const { Messages: visible } = await v3.receiveMessage({ QueueUrl: url });
    assert.equal(visible, undefined);
    await server.clock.advance(1);
    await assert.rejects(
      aws('delete-message', { 'queue-url': url, 'receipt-handle': handle ?? '' }),
      /\(InvalidParameterValue\).*The receipt handle has expired/s,
    );
  });

  test('it configures a dead-letter queue and finds the dead letters there', timed, async (t) => {
    const { server, v3 } = await openBeside(t);
    const deadUrl = await createFifo(v3, 'dead.fifo');
    const aws = cli(program, server);
    const policy = { deadLetterTargetArn: arnOf('dead.fifo'), maxReceiveCount: '1' };
    const { QueueUrl = '' } = await aws('create-queue', {
      'queue-name': 'jobs.fifo',
      attributes: JSON.stringify({ FifoQueue: 'true', RedrivePolicy: JSON.stringify(policy) }),
    });
    await makeDeadLetter(v3, QueueUrl);
    const [{ queueUrls }, { Messages }] = await Promise.all([
      aws('list-dead-letter-source-queues', { 'queue-url': deadUrl }),
      aws('receive-message', { 'queue-url': deadUrl, 'attribute-names': 'All' }),
    ]);
    assert.deepEqual(queueUrls, [QueueUrl]);
    assert.equal(Messages?.[0]?.Attributes?.['DeadLetterQueueSourceArn'], arnOf('jobs.fifo'));
  });

  // CLIs from before June 2023, and so Debian's that speaks Query, have no move tasks.
  if (wire === 'json') {
    test('it moves dead letters back to their source', timed, async (t) => {
      const { server, v3 } = await openBeside(t);
      await createFifo(v3, 'dead.fifo');
      const policy = { deadLetterTargetArn: arnOf('dead.fifo'), maxReceiveCount: 1 };
      const RedrivePolicy = JSON.stringify(policy);
      const QueueUrl = await createFifo(v3, 'jobs.fifo', { RedrivePolicy });
      await makeDeadLetter(v3, QueueUrl);
      const aws = cli(program, server);
      await aws('start-message-move-task', { 'source-arn': arnOf('dead.fifo') });
      await server.clock.advance(5);
      const { Results } = await aws('list-message-move-tasks', {
        'source-arn': arnOf('dead.fifo'),
      });
      const { Messages } = await v3.receiveMessage({ QueueUrl });
      assert.equal(Results?.[0]?.Status, 'COMPLETED');
      assert.equal(Messages?.[0]?.Body, 'a');
    });
  }

  test('it publishes twice to a FIFO topic, and a queue gets one message', timed, async (t) => {
    const { server, v3 } = await openBeside(t);
    const url = await createFifo(v3, 'jobs.fifo');
    const aws = cli(program, server, 'sns');
    const { TopicArn = '' } = await aws('create-topic', {
      name: 'prices.fifo',
      attributes: 'FifoTopic=true,ContentBasedDeduplication=true',
    });
    await aws('subscribe', {
      'topic-arn': TopicArn,
      protocol: 'sqs',
      'notification-endpoint': arnOf('jobs.fifo'),
      attributes: '{"RawMessageDelivery":"true","FilterPolicy":"{\\"kind\\":[\\"price\\"]}"}',
    });
    const publication = {
      'topic-arn': TopicArn,
      message: 'a <b> & "c"',
      'message-group-id': 'g',
      'message-attributes': '{"kind":{"DataType":"String","StringValue":"price"}}',
    };
    const first = await aws('publish', publication);
    const again = await aws('publish', publication);
    assert.equal(again.MessageId, first.MessageId);
    const { Messages = [] } = await v3.receiveMessage({ QueueUrl: url, MaxNumberOfMessages: 10 });
    assert.deepEqual(
      Messages.map(({ Body }) => Body),
      ['a <b> & "c"'],
    );
    await assert.rejects(
      aws('publish', { ...publication, 'topic-arn': `${TopicArn}x` }),
      /\(NotFound\).*Topic does not exist/s,
    );
  });

  test('it reports a missing queue with the code that AWS uses', timed, async (t) => {
    const aws = cli(program, await openServer(t));
    await assert.rejects(
      aws('get-queue-url', { 'queue-name': 'missing' }),
      /\(AWS\.SimpleQueueService\.NonExistentQueue\).*The specified queue does not exist/s,
    );
  });
}

/** The part of the CLI's JSON output that the tests read. */
interface Answer {
  readonly QueueUrl?: string;
  readonly TopicArn?: string;
  readonly queueUrls?: readonly string[];
  readonly Tags?: Readonly<Record<string, string>>;
  readonly Attributes?: Readonly<Partial<Record<string, string>>>;
  readonly MessageId?: string;
  readonly Successful?: readonly { readonly Id: string; readonly MessageId?: string }[];
  readonly Failed?: readonly { readonly Id: string }[];
  readonly Messages?: readonly {
    readonly Body?: string;
    readonly ReceiptHandle?: string;
    readonly Attributes?: Readonly<Record<string, string>>;
    readonly MessageAttributes?: Readonly<Record<string, { readonly StringValue?: string }>>;
  }[];
  readonly Results?: readonly { readonly Status?: string }[];
}

/** A function that runs `aws SERVICE ACTION --OPTION VALUE …` against the server; a failure includes the CLI's output. */
function cli(
  { command, env }: Program,
  server: TestServer,
  service = 'sqs',
): (action: string, options: Readonly<Record<string, string>>) => Promise<Answer> {
  const [file = '', ...before] = command;
  return (action, options) => {
    const given = Object.entries({ ...options, 'endpoint-url': server.url, output: 'json' });
    const args = [
      ...before,
      service,
      action,
      ...given.flatMap(([name, value]) => [`--${name}`, value]),
    ];
    const settings = { env: environment(env), timeout: commandMsMax };
    return new Promise((resolve, reject) => {
      execFile(file, args, settings, (error, stdout, stderr) => {
        if (error !== null) reject(new Error(`${action}: ${stderr || error.message}`));
        else resolve(stdout.trim() === '' ? {} : (JSON.parse(stdout) as Answer));
      });
    });
  };
}

/**
 * A server, and v3 beside the CLI: it sets up what a scenario needs but is not about, because CLI commands are slow.
 */
async function openBeside(t: TestContext): Promise<{ server: TestServer; v3: SQS }> {
  const server = await openServer(t);
  const v3 = v3Client(server.url);
  atEnd(t, () => v3.destroy());
  return { server, v3 };
}

async function createFifo(
  v3: SQS,
  QueueName: string,
  attributes: Readonly<Record<string, string>> = {},
): Promise<string> {
  const Attributes = { FifoQueue: 'true', ...attributes };
  const { QueueUrl = '' } = await v3.createQueue({ QueueName, Attributes });
  return QueueUrl;
}

/** Sends a message to a queue with a maxReceiveCount of 1, and receives it twice. */
async function makeDeadLetter(v3: SQS, QueueUrl: string): Promise<void> {
  const fifo = { MessageGroupId: 'x', MessageDeduplicationId: 'd' };
  await v3.sendMessage({ QueueUrl, MessageBody: 'a', ...fifo });
  await v3.receiveMessage({ QueueUrl, VisibilityTimeout: 0 });
  await v3.receiveMessage({ QueueUrl });
}
