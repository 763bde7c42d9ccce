/**
 * The heaviest request of every action and every path that the server accepts, in the scene of scene.ts. The test fails for
 * an action or a path that has none here.
 */

import type { Answer, MeteredServer } from './metered-server.ts';
import {
  account,
  entries,
  filterPolicy,
  good,
  largestPolicy,
  megabyte,
  queueArn,
  type Scene,
  topicArn,
} from './scene.ts';

export interface Heaviest {
  /** Creates what the request uses up; called before each try. */
  readonly prepare?: (scene: Scene) => Promise<unknown>;
  /** `prepared` is what `prepare` returned. */
  readonly send: (scene: Scene, prepared: never) => Promise<Answer>;
}

/** Every character escaped: JSON can hardly be longer. */
function escaped(text: string): string {
  let out = '';
  for (const char of text) out += `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return out;
}

const largeText = `${'"<&\\'.repeat(megabyte / 4 - 16)}`;
const largeEscaped = escaped(largeText);
const publishedText = '"'.repeat(120_000);
const tags = Array.from({ length: 50 }, (_, n): [string, string] => [
  `k${n}${'x'.repeat(120)}`,
  'v'.repeat(256),
]);

function rawSqs(server: MeteredServer, action: string, body: string): Promise<Answer> {
  return server.fetch('POST', '/', body, {
    'Content-Type': 'application/x-amz-json-1.0',
    'X-Amz-Target': `AmazonSQS.${action}`,
  });
}

function sqs(action: string, input: (scene: Scene) => object): Heaviest {
  return { send: (scene) => scene.server.sqs(action, input(scene)) };
}

function sns(action: string, input: (scene: Scene) => Readonly<Record<string, string>>): Heaviest {
  return { send: (scene) => scene.server.sns(action, input(scene)) };
}

let counter = 0;
function fresh(): string {
  counter += 1;
  return `new${counter}`;
}

/** Ten messages of a mebibyte, received; returns their receipt handles. */
async function receipts(scene: Scene): Promise<string[]> {
  await tenLarge(scene);
  const QueueUrl = scene.url('large');
  const asked = { QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 1 };
  const { Messages = [] } = await scene.sqs('ReceiveMessage', asked);
  return (Messages as { ReceiptHandle: string }[]).map(({ ReceiptHandle }) => ReceiptHandle);
}

async function tenLarge(scene: Scene, MessageBody: string = largeText): Promise<void> {
  const QueueUrl = scene.url('large');
  await scene.sqs('PurgeQueue', { QueueUrl });
  for (let n = 0; n < 10; n += 1) await scene.sqs('SendMessage', { QueueUrl, MessageBody });
}

/** In XML each is six bytes, the most that a character can be. */
const tenOfQuotes = (scene: Scene): Promise<void> => tenLarge(scene, '"'.repeat(megabyte));

const receiveTen = 'Action=ReceiveMessage&QueueUrl=large&MaxNumberOfMessages=10';

function receivedInQuery(
  { server }: Scene,
  headers: Record<string, string>,
  body: string = receiveTen,
): Promise<Answer> {
  const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return server.fetch('POST', '/', body, { ...headers, ...type });
}

async function subscriptionOf(scene: Scene, attributes = {}): Promise<string> {
  const name = fresh();
  const answer = good(await scene.subscribe('filtered', name, attributes));
  return /<SubscriptionArn>(.*?)</.exec(answer.text)?.[1] ?? '';
}

const largestFilter = { FilterPolicy: filterPolicy((n) => `${n}${'x'.repeat(1_700)}`) };
const wideBatch = Object.fromEntries(
  Array.from({ length: 10 }, (_, n) => [
    [`PublishBatchRequestEntries.member.${n + 1}.Id`, `i${n}`],
    [`PublishBatchRequestEntries.member.${n + 1}.Message`, 'hello'],
  ]).flat(),
) as Record<string, string>;

export const sqsHeaviest: Readonly<Record<string, Heaviest>> = {
  AddPermission: {
    prepare: (scene) =>
      scene.sqs('SetQueueAttributes', { QueueUrl: scene.url('other'), Attributes: { Policy: '' } }),
    send: (scene) =>
      scene.server.sqs('AddPermission', {
        QueueUrl: scene.url('other'),
        Label: fresh(),
        AWSAccountIds: Array.from({ length: 50 }, () => '111122223333'),
        Actions: Array.from({ length: 7 }, () => 'SendMessage'),
      }),
  },
  CancelMessageMoveTask: {
    prepare: async (scene) => {
      await endMoveTask(scene);
      const { TaskHandle } = await scene.sqs('StartMessageMoveTask', moveTask());
      return TaskHandle;
    },
    send: (scene, TaskHandle) => scene.server.sqs('CancelMessageMoveTask', { TaskHandle }),
  },
  ChangeMessageVisibility: {
    prepare: receipts,
    send: (scene, [ReceiptHandle]: string[]) =>
      scene.server.sqs('ChangeMessageVisibility', {
        QueueUrl: scene.url('large'),
        ReceiptHandle,
        VisibilityTimeout: 0,
      }),
  },
  ChangeMessageVisibilityBatch: {
    prepare: receipts,
    send: (scene, handles: string[]) =>
      scene.server.sqs('ChangeMessageVisibilityBatch', {
        QueueUrl: scene.url('large'),
        Entries: handles.map((ReceiptHandle, n) => ({
          Id: `m${n}`,
          ReceiptHandle,
          VisibilityTimeout: 0,
        })),
      }),
  },
  CreateQueue: sqs('CreateQueue', () => ({
    QueueName: fresh(),
    Attributes: { Policy: largestPolicy() },
    tags: Object.fromEntries(tags),
  })),
  DeleteMessage: {
    prepare: receipts,
    send: (scene, [ReceiptHandle]: string[]) =>
      scene.server.sqs('DeleteMessage', { QueueUrl: scene.url('large'), ReceiptHandle }),
  },
  DeleteMessageBatch: {
    prepare: receipts,
    send: (scene, handles: string[]) =>
      scene.server.sqs('DeleteMessageBatch', {
        QueueUrl: scene.url('large'),
        Entries: handles.map((ReceiptHandle, n) => ({ Id: `m${n}`, ReceiptHandle })),
      }),
  },
  DeleteQueue: {
    prepare: async (scene) => {
      const QueueName = fresh();
      await scene.sqs('CreateQueue', { QueueName });
      await scene.fill(QueueName);
      return QueueName;
    },
    send: (scene, name: string) => scene.server.sqs('DeleteQueue', { QueueUrl: scene.url(name) }),
  },
  GetQueueAttributes: sqs('GetQueueAttributes', (scene) => ({
    QueueUrl: scene.url('q0'),
    AttributeNames: ['All'],
  })),
  GetQueueUrl: sqs('GetQueueUrl', () => ({ QueueName: 'q0', QueueOwnerAWSAccountId: account })),
  ListDeadLetterSourceQueues: sqs('ListDeadLetterSourceQueues', (scene) => ({
    QueueUrl: scene.url('dead'),
    MaxResults: 1000,
  })),
  ListMessageMoveTasks: sqs('ListMessageMoveTasks', () => ({
    SourceArn: queueArn('dead'),
    MaxResults: 10,
  })),
  ListQueues: sqs('ListQueues', () => ({ MaxResults: 1000, QueueNamePrefix: 'q' })),
  ListQueueTags: {
    prepare: (scene) =>
      scene.sqs('TagQueue', { QueueUrl: scene.url('other'), Tags: Object.fromEntries(tags) }),
    send: (scene) => scene.server.sqs('ListQueueTags', { QueueUrl: scene.url('other') }),
  },
  PurgeQueue: {
    prepare: (scene) => scene.fill('full'),
    send: (scene) => scene.server.sqs('PurgeQueue', { QueueUrl: scene.url('full') }),
  },
  ReceiveMessage: {
    prepare: tenLarge,
    send: (scene) =>
      scene.server.sqs('ReceiveMessage', {
        QueueUrl: scene.url('large'),
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['All'],
      }),
  },
  RemovePermission: {
    prepare: async (scene) => {
      const Label = fresh();
      const QueueUrl = scene.url('other');
      await scene.sqs('SetQueueAttributes', { QueueUrl, Attributes: { Policy: '' } });
      const accounts = Array.from({ length: 50 }, () => '111122223333');
      const Actions = ['SendMessage'];
      await scene.sqs('AddPermission', { QueueUrl, Label, AWSAccountIds: accounts, Actions });
      return Label;
    },
    send: (scene, Label: string) =>
      scene.server.sqs('RemovePermission', { QueueUrl: scene.url('other'), Label }),
  },
  SendMessage: {
    send: (scene) => {
      const url = JSON.stringify(scene.url('other'));
      const body = `{"QueueUrl":${url},"MessageBody":"${largeEscaped}"}`;
      return rawSqs(scene.server, 'SendMessage', body);
    },
  },
  SendMessageBatch: {
    send: (scene) => {
      const part = escaped(largeText.slice(0, megabyte / 10 - 100));
      const list = Array.from({ length: 10 }, (_, n) => `{"Id":"m${n}","MessageBody":"${part}"}`);
      const url = JSON.stringify(scene.url('other'));
      return rawSqs(scene.server, 'SendMessageBatch', `{"QueueUrl":${url},"Entries":[${list}]}`);
    },
  },
  SetQueueAttributes: sqs('SetQueueAttributes', (scene) => ({
    QueueUrl: scene.url('other'),
    Attributes: { Policy: largestPolicy(), KmsMasterKeyId: 'k'.repeat(2_048) },
  })),
  StartMessageMoveTask: { ...sqs('StartMessageMoveTask', moveTask), prepare: endMoveTask },
  TagQueue: sqs('TagQueue', (scene) => ({
    QueueUrl: scene.url('other'),
    Tags: Object.fromEntries(tags),
  })),
  UntagQueue: sqs('UntagQueue', (scene) => ({
    QueueUrl: scene.url('other'),
    TagKeys: tags.map(([key]) => key),
  })),
};

function moveTask(): object {
  return {
    SourceArn: queueArn('dead'),
    DestinationArn: queueArn('other'),
    MaxNumberOfMessagesPerSecond: 1,
  };
}

/** A queue has one task at a time. */
async function endMoveTask(scene: Scene): Promise<void> {
  const { Results } = await scene.sqs('ListMessageMoveTasks', { SourceArn: queueArn('dead') });
  const [latest] = (Results ?? []) as { TaskHandle?: string }[];
  if (latest?.TaskHandle === undefined) return;
  await scene.sqs('CancelMessageMoveTask', { TaskHandle: latest.TaskHandle });
}

export const snsHeaviest: Readonly<Record<string, Heaviest>> = {
  AddPermission: sns('AddPermission', () => ({
    TopicArn: topicArn('t0'),
    Label: fresh(),
    ...members('AWSAccountId', 200, () => '111122223333'),
    ...members('ActionName', 8, () => 'Publish'),
  })),
  ConfirmSubscription: {
    // A token that is nobody's: those of all topics are looked through.
    send: async (scene) => {
      const Token = 'a'.repeat(64);
      const asked = { TopicArn: topicArn('wide'), Token };
      return asGood(await scene.server.sns('ConfirmSubscription', asked), 400);
    },
  },
  CreateTopic: sns('CreateTopic', () => ({
    Name: fresh(),
    ...entries('Attributes', { Policy: topicPolicy() }),
    ...topicTags('Tags'),
  })),
  DeleteTopic: {
    prepare: async (scene) => {
      const Name = fresh();
      await scene.sns('CreateTopic', { Name });
      for (let n = 0; n < 500; n += 1) good(await scene.subscribe(Name, `q${n}`));
      return Name;
    },
    send: (scene, name: string) => scene.server.sns('DeleteTopic', { TopicArn: topicArn(name) }),
  },
  GetDataProtectionPolicy: sns('GetDataProtectionPolicy', () => ({ ResourceArn: topicArn('t0') })),
  GetSubscriptionAttributes: {
    prepare: (scene) => subscriptionOf(scene, largestFilter),
    send: (scene, SubscriptionArn: string) =>
      scene.server.sns('GetSubscriptionAttributes', { SubscriptionArn }),
  },
  GetTopicAttributes: sns('GetTopicAttributes', () => ({ TopicArn: topicArn('wide') })),
  ListSubscriptions: sns('ListSubscriptions', () => ({})),
  ListSubscriptionsByTopic: sns('ListSubscriptionsByTopic', () => ({ TopicArn: topicArn('wide') })),
  ListTagsForResource: {
    prepare: (scene) =>
      scene.sns('TagResource', { ResourceArn: topicArn('t0'), ...topicTags('Tags') }),
    send: (scene) => scene.server.sns('ListTagsForResource', { ResourceArn: topicArn('t0') }),
  },
  ListTopics: sns('ListTopics', () => ({})),
  Publish: sns('Publish', () => ({ TopicArn: topicArn('wide'), Message: 'hello' })),
  PublishBatch: sns('PublishBatch', () => ({ TopicArn: topicArn('wide'), ...wideBatch })),
  PutDataProtectionPolicy: sns('PutDataProtectionPolicy', () => ({
    ResourceArn: topicArn('t0'),
    DataProtectionPolicy: JSON.stringify({ Name: 'x'.repeat(30_000) }),
  })),
  RemovePermission: sns('RemovePermission', () => ({
    TopicArn: topicArn('t0'),
    Label: 'none of them',
  })),
  SetSubscriptionAttributes: {
    prepare: (scene) => subscriptionOf(scene),
    send: (scene, SubscriptionArn: string) =>
      scene.server.sns('SetSubscriptionAttributes', {
        SubscriptionArn,
        AttributeName: 'FilterPolicy',
        AttributeValue: largestFilter.FilterPolicy,
      }),
  },
  SetTopicAttributes: sns('SetTopicAttributes', () => ({
    TopicArn: topicArn('t1'),
    AttributeName: 'Policy',
    AttributeValue: topicPolicy(),
  })),
  Subscribe: {
    send: (scene) => scene.subscribe('filtered', fresh(), largestFilter),
  },
  TagResource: sns('TagResource', () => ({
    ResourceArn: topicArn('t0'),
    ...topicTags('Tags'),
  })),
  Unsubscribe: {
    prepare: async (scene) => {
      const filtered = { FilterPolicy: '{"a":["x"]}' };
      const answer = good(await scene.subscribe('wide', fresh(), filtered));
      return /<SubscriptionArn>(.*?)</.exec(answer.text)?.[1];
    },
    send: (scene, SubscriptionArn: string) => scene.server.sns('Unsubscribe', { SubscriptionArn }),
  },
  UntagResource: sns('UntagResource', () => ({
    ResourceArn: topicArn('t0'),
    ...members('TagKeys', 50, (n) => tags[n]?.[0] ?? ''),
  })),
};

/** Different names cost the most to read. */
function membersMany(count: number): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n])));
}

/** A body that keeps the contract, so that all of it is read. */
function enveloped(payload: string): string {
  const id = '0190a6f0-0000-7000-8000-000000000000';
  const source = `"event_source":"kfm.web.orders","event_time":"2026-01-01T00:00:00Z"`;
  return `{"event_id":"${id}",${source},"dedupe_key":"a","payload":${payload}}`;
}

/** More than one way for a request to be heavy. */
export const otherHeaviest: Readonly<Record<string, Heaviest>> = {
  'Publish of a large message': sns('Publish', () => ({
    TopicArn: topicArn('large'),
    Message: publishedText,
  })),
  'Publish of a large message, raw': sns('Publish', () => ({
    TopicArn: topicArn('raw'),
    Message: 'x'.repeat(250_000),
  })),
  'Publish of a large message beyond ASCII': sns('Publish', () => ({
    TopicArn: topicArn('large'),
    Message: 'ы'.repeat(57_500),
  })),
  'Publish of large attributes': sns('Publish', () => ({
    TopicArn: topicArn('large'),
    Message: 'x',
    'MessageAttributes.entry.1.Name': 'a',
    'MessageAttributes.entry.1.Value.DataType': 'String',
    'MessageAttributes.entry.1.Value.StringValue': 'x'.repeat(150_000),
  })),
  'Publish of many values to filter': sns('Publish', () => ({
    TopicArn: topicArn('filtered'),
    Message: JSON.stringify({ a: Array.from({ length: 25 }, () => '10.250.0.1') }),
  })),
  'Publish of many objects to filter': sns('Publish', () => ({
    TopicArn: topicArn('nested'),
    Message: JSON.stringify({ x: Array.from({ length: 15_000 }, () => ({})) }),
  })),
  'Publish of long texts to filter': sns('Publish', () => ({
    TopicArn: topicArn('texts'),
    Message: JSON.stringify({ a: Array.from({ length: 90 }, () => 'a'.repeat(400)) }),
  })),
  'SendMessage in AWS Query': {
    send: (scene) => {
      const body = new URLSearchParams({
        Action: 'SendMessage',
        Version: '2012-11-05',
        QueueUrl: scene.url('other'),
        MessageBody: largeText,
      });
      const type = 'application/x-www-form-urlencoded';
      return scene.server.fetch('POST', '/', body.toString(), { 'Content-Type': type });
    },
  },
  // Members that an action does not know are ignored, but parsed.
  'SendMessage with as many values as a request may have': {
    send: (scene) => {
      const url = JSON.stringify(scene.url('other'));
      const ignored = `[${'{},'.repeat(4_990)}"${'\\"'.repeat(3_000_000)}"]`;
      const body = `{"QueueUrl":${url},"MessageBody":"x","Ignored":${ignored}}`;
      return rawSqs(scene.server, 'SendMessage', body);
    },
  },
  'SendMessage with more values than a request may have': {
    send: async ({ server }) => {
      const body = `{"QueueUrl":"other","MessageBody":"x","Ignored":[${'{},'.repeat(2_000_000)}{}]}`;
      return asGood(await rawSqs(server, 'SendMessage', body), 400);
    },
  },
  'SetQueueAttributes with a policy of many values': {
    send: async (scene) => {
      const Policy = `{"Statement":[${'{},'.repeat(1_000_000)}{}]}`;
      const asked = { QueueUrl: scene.url('other'), Attributes: { Policy } };
      return asGood(await scene.server.sqs('SetQueueAttributes', asked), 400);
    },
  },
  'SendMessage of spaces in AWS Query': {
    send: (scene) => {
      const head = `Action=SendMessage&QueueUrl=${encodeURIComponent(scene.url('other'))}`;
      const body = `${head}&MessageBody=${'x+'.repeat(megabyte / 2)}`;
      const type = 'application/x-www-form-urlencoded';
      return scene.server.fetch('POST', '/', body, { 'Content-Type': type });
    },
  },
  'A form of nothing but separators': {
    send: async ({ server }) => {
      const type = 'application/x-www-form-urlencoded';
      const body = '&'.repeat(5_000_000);
      return asGood(await server.fetch('POST', '/', body, { 'Content-Type': type }), 400);
    },
  },
  'ReceiveMessage in AWS Query': { prepare: tenLarge, send: (scene) => receivedInQuery(scene, {}) },
  'ReceiveMessage of quotes': {
    prepare: tenOfQuotes,
    send: ({ server }) =>
      server.sqs('ReceiveMessage', { QueueUrl: 'large', MaxNumberOfMessages: 10 }),
  },
  'ReceiveMessage of quotes in AWS Query': {
    prepare: tenOfQuotes,
    send: (scene) => receivedInQuery(scene, {}),
  },
  // Each is made in pieces; those of all must not come together.
  'ReceiveMessage of quotes in AWS Query, by four at once': {
    prepare: tenOfQuotes,
    send: async (scene) => {
      const seen = () => receivedInQuery(scene, {}, `${receiveTen}&VisibilityTimeout=0`);
      const answers = await Promise.all([seen(), seen(), seen(), seen()]);
      return good(answers.find(({ status }) => status !== 200) ?? (answers[0] as Answer));
    },
  },
  'ReceiveMessage in AWS Query with an answer in JSON': {
    prepare: tenLarge,
    send: (scene) => receivedInQuery(scene, { Accept: 'application/json' }),
  },
  'Publish of a message of many values to filter': sns('Publish', () => ({
    TopicArn: topicArn('nested'),
    Message: JSON.stringify({ x: Array.from({ length: 60_000 }, () => 1), y: 'z'.repeat(10_000) }),
  })),
  'Publish of a message of too many values to filter': {
    send: async ({ server }) => {
      const Message = JSON.stringify({ x: Array.from({ length: 80_000 }, () => ({})) });
      return asGood(await server.sns('Publish', { TopicArn: topicArn('nested'), Message }), 400);
    },
  },
  'SendMessage to a queue with a contract': sqs('SendMessage', (scene) => ({
    QueueUrl: scene.url('bound0'),
    MessageBody: enveloped(membersMany(9_500)),
  })),
  'SendMessageBatch to a queue with a contract': sqs('SendMessageBatch', (scene) => ({
    QueueUrl: scene.url('bound0'),
    Entries: Array.from({ length: 10 }, (_, n) => ({
      Id: `m${n}`,
      MessageBody: enveloped(membersMany(7_000)),
    })),
  })),
  'SendMessage of more values than a contract allows': {
    send: async (scene) => {
      const MessageBody = `[${'[],'.repeat(2_000_000)}[]]`;
      const asked = { QueueUrl: scene.url('bound0'), MessageBody };
      return asGood(await scene.server.sqs('SendMessage', asked), 400);
    },
  },
  'SendMessage of objects that must differ': sqs('SendMessage', (scene) => ({
    QueueUrl: scene.url('unique'),
    MessageBody: JSON.stringify(Array.from({ length: 4_900 }, (_, n) => ({ n }))),
  })),
  'Publish to queues with a contract': sns('Publish', () => ({
    TopicArn: topicArn('bound'),
    Message: enveloped(membersMany(9_500)),
  })),
  'PublishBatch to queues with a contract': sns('PublishBatch', () => ({
    TopicArn: topicArn('bound'),
    ...Object.fromEntries(
      Array.from({ length: 10 }, (_, n) => [
        [`PublishBatchRequestEntries.member.${n + 1}.Id`, `i${n}`],
        [`PublishBatchRequestEntries.member.${n + 1}.Message`, enveloped(membersMany(1_700))],
      ]).flat(),
    ),
  })),
  'GET /metrics': { send: ({ server }) => server.fetch('GET', '/metrics', '') },
};

const get = (path: string): Heaviest => ({ send: ({ server }) => server.inspect(path) });

export const pathHeaviest: Readonly<Record<string, Heaviest>> = {
  'GET ^health$': get('health'),
  'GET ^store$': get('store'),
  'HEAD ^health$': { send: ({ server }) => server.inspect('health', 'HEAD') },
  'POST ^clock\\/advance$': {
    send: ({ server }) => server.inspect('clock/advance', 'POST', '{"seconds":1}'),
  },
  'GET ^overview$': get('overview?limit=1000'),
  'GET ^events$': {
    // The answer goes on: it is heavy while everything happens that it tells of.
    send: async (scene) => {
      const left = scene.server.follow('/_oncemq/events');
      const asked = { TopicArn: topicArn('wide'), Message: 'told' };
      const answer = await scene.server.sns('Publish', asked);
      left();
      return answer;
    },
  },
  'GET ^queues$': get('queues'),
  'GET ^queues\\/([^/]+)$': get('queues/groups.fifo'),
  'GET ^queues\\/([^/]+)\\/messages$': {
    prepare: tenLarge,
    send: ({ server }) => server.inspect('queues/large/messages?limit=1000'),
  },
  'GET ^queues\\/([^/]+)\\/counts$': get('queues/groups.fifo/counts'),
  'GET ^queues\\/([^/]+)\\/groups$': get('queues/groups.fifo/groups?limit=1000&state=blocked'),
  'GET ^queues\\/([^/]+)\\/window$': get('queues/groups.fifo/window?limit=1000&search=9-9'),
  'GET ^queues\\/([^/]+)\\/window\\/[^/]+$': get('queues/groups.fifo/window/20000'),
  'GET ^queues\\/([^/]+)\\/violations$': {
    send: ({ server }) => server.inspect('queues/bound0/violations'),
  },
  'GET ^queues\\/([^/]+)\\/dedup$': get('queues/groups.fifo/dedup?limit=1000'),
  'DELETE ^queues\\/([^/]+)\\/dedup$': {
    send: ({ server }) => server.inspect('queues/groups.fifo/dedup', 'DELETE'),
  },
  'GET ^topics$': get('topics'),
  'GET ^topics\\/([^/]+)$': get('topics/wide'),
  'GET ^topics\\/([^/]+)\\/dedup$': get('topics/ordered.fifo/dedup?limit=1000'),
  'DELETE ^topics\\/([^/]+)\\/dedup$': {
    send: ({ server }) => server.inspect('topics/ordered.fifo/dedup', 'DELETE'),
  },
  'GET ^topics\\/([^/]+)\\/deliveries$': get('topics/wide/deliveries'),
  'POST ^topics\\/([^/]+)\\/match$': {
    send: ({ server }) => {
      const message = JSON.stringify({ a: Array.from({ length: 25 }, () => '10.250.0.1') });
      return server.inspect('topics/filtered/match', 'POST', JSON.stringify({ message }));
    },
  },
  'GET ^signing-certificate\\.pem$': get('signing-certificate.pem'),
  // The last, since nothing is left after it.
  'POST ^reset$': { send: ({ server }) => server.inspect('reset', 'POST') },
};

function members(
  name: string,
  count: number,
  value: (n: number) => string,
): Record<string, string> {
  const pairs = Array.from({ length: count }, (_, n) => [`${name}.member.${n + 1}`, value(n)]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

function topicTags(name: string): Record<string, string> {
  const pairs = tags.flatMap(([key, value], n) => [
    [`${name}.member.${n + 1}.Key`, key],
    [`${name}.member.${n + 1}.Value`, value],
  ]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

function topicPolicy(): string {
  const statement = (n: number): object => ({
    Sid: `s${n}`,
    Effect: 'Allow',
    Principal: '*',
    Action: 'sns:Publish',
  });
  return JSON.stringify({ Statement: Array.from({ length: 100 }, (_, n) => statement(n)) });
}

/** What it answers is the heaviest that there is, although it is a refusal. */
function asGood(answer: Answer, status: number): Answer {
  return answer.status === status ? { ...answer, status: 200 } : answer;
}
