/**
 * The state that the heaviest requests meet: many queues, topics and subscriptions, full queues, policies and filter policies
 * at their quotas. As large as a run of seconds allows; what grows beyond it must not make a turn longer.
 */

import type { Answer, MeteredServer } from './metered-server.ts';

export const account = '000000000000';
export const megabyte = 1_048_576;

const queuesMany = 10_000;
const messagesMany = 20_000;
/** As many deliveries as one publication may have. */
export const subscribersMany = 1_000;
const topicsMany = 500;

export function queueArn(name: string): string {
  return `arn:aws:sqs:us-east-1:${account}:${name}`;
}

export function topicArn(name: string): string {
  return `arn:aws:sns:us-east-1:${account}:${name}`;
}

/** Queues that are bound, to the form of an envelope and to a schema, and one that only reports. */
export const contractText: string = JSON.stringify({
  queues: [
    { queue: 'bound*', mode: 'observe' },
    {
      queue: 'unique',
      mode: 'reject',
      schema: { type: 'array', items: { type: 'object' }, uniqueItems: true },
    },
  ],
});

/** As many queues as one publication of 250 KB reaches. */
const boundMany = 100;

/** A queue policy of the most statements, conditions and bytes that is accepted; the last statement allows. */
export function largestPolicy(): string {
  const condition = (n: number): object =>
    Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`aws:k${at}`, `v${n}`]));
  const statement = (n: number): object => ({
    Effect: 'Allow',
    Principal: '*',
    Action: Array.from({ length: 7 }, (_, at) => `sqs:A${at}*`),
    Condition: { StringLike: condition(n) },
  });
  const last = { Effect: 'Allow', Principal: '*', Action: 'sqs:SendMessage' };
  const statements = [...Array.from({ length: 19 }, (_, n) => statement(n)), last];
  const text = JSON.stringify({ Version: '2012-10-17', Statement: statements });
  return text.replace('{', `{${' '.repeat(8_192 - text.length)}`);
}

/** 150 conditions on one key, the most that a filter policy can have. */
export function filterPolicy(condition: (n: number) => unknown): string {
  return JSON.stringify({ a: Array.from({ length: 150 }, (_, n) => condition(n)) });
}

export class Scene {
  readonly server: MeteredServer;

  constructor(server: MeteredServer) {
    this.server = server;
  }

  url(queue: string): string {
    return `${this.server.url}/${account}/${queue}`;
  }

  async build(): Promise<void> {
    const { server } = this;
    const Policy = largestPolicy();
    await many(queuesMany, (n) => {
      const Attributes = n < subscribersMany ? { Policy } : {};
      return server.sqs('CreateQueue', { QueueName: `q${n}`, Attributes });
    });
    const bound = Array.from({ length: boundMany }, (_, n) => `bound${n}`);
    for (const QueueName of ['full', 'large', 'other', 'dead', 'unique', ...bound]) {
      await this.sqs('CreateQueue', { QueueName, Attributes: { Policy } });
    }
    const FifoQueue = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
    await this.sqs('CreateQueue', { QueueName: 'groups.fifo', Attributes: FifoQueue });
    await this.fill('full');
    await this.fill('dead');
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: queueArn('dead'),
      maxReceiveCount: 1,
    });
    await many(1_000, (n) =>
      server.sqs('SetQueueAttributes', {
        QueueUrl: this.url(`q${n}`),
        Attributes: { RedrivePolicy },
      }),
    );
    await many(messagesMany / 10, (n) => {
      const Entries = Array.from({ length: 10 }, (_, at) => {
        const id = `${n}-${at}`;
        return { Id: `m${at}`, MessageBody: id, MessageGroupId: id, MessageDeduplicationId: id };
      });
      const QueueUrl = this.url('groups.fifo');
      return server.sqs('SendMessageBatch', { QueueUrl, Entries });
    });
    await many(topicsMany, (n) => server.sns('CreateTopic', { Name: `t${n}` }));
    for (const name of ['wide', 'raw', 'filtered', 'nested', 'texts', 'large', 'bound']) {
      await this.sns('CreateTopic', { Name: name });
    }
    const fifo = { 'Attributes.entry.1.key': 'FifoTopic', 'Attributes.entry.1.value': 'true' };
    await this.sns('CreateTopic', { Name: 'ordered.fifo', ...fifo });
    await many(subscribersMany, (n) => this.subscribe('wide', `q${n}`));
    await many(64, (n) => this.subscribe('large', `q${n}`));
    await many(100, (n) => this.subscribe('raw', `q${n}`, { RawMessageDelivery: 'true' }));
    await many(boundMany, (n) => this.subscribe('bound', `bound${n}`));
    await many(200, (n) =>
      this.subscribe('filtered', `q${n}`, {
        FilterPolicy: filterPolicy((at) => ({ cidr: `10.${n}.${at}.0/24` })),
        FilterPolicyScope: 'MessageBody',
      }),
    );
    // A long path with many dots, which can be split in as many ways.
    const path = Array.from({ length: 30 }, (_, n) => `${n}${'k'.repeat(500)}`).join('.');
    const nested = JSON.stringify({ x: { [path]: ['a'] } });
    const inBody = { FilterPolicyScope: 'MessageBody' };
    await this.subscribe('nested', 'q0', { ...inBody, FilterPolicy: nested });
    // Texts that differ in their last characters.
    const searched = filterPolicy((n) =>
      n % 2 === 0 ? { wildcard: '*ab*' } : { 'anything-but': { prefix: 'a'.repeat(200) } },
    );
    await this.subscribe('texts', 'q0', { ...inBody, FilterPolicy: searched });
  }

  /** Small messages, for what walks through them. */
  fill(queue: string): Promise<void> {
    return many(messagesMany / 10, (n) => {
      const Entries = Array.from({ length: 10 }, (_, at) => ({
        Id: `m${at}`,
        MessageBody: `${n} ${at}`,
      }));
      return this.server.sqs('SendMessageBatch', { QueueUrl: this.url(queue), Entries });
    });
  }

  subscribe(
    topic: string,
    queue: string,
    attributes: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const Endpoint = queueArn(queue);
    const target = { TopicArn: topicArn(topic), Protocol: 'sqs', Endpoint };
    return this.server.sns('Subscribe', { ...target, ...entries('Attributes', attributes) });
  }

  async sqs(action: string, input: object): Promise<Readonly<Record<string, unknown>>> {
    const answer = good(await this.server.sqs(action, input));
    return answer.text === '' ? {} : (JSON.parse(answer.text) as Record<string, unknown>);
  }

  async sns(action: string, input: Readonly<Record<string, string>>): Promise<string> {
    return good(await this.server.sns(action, input)).text;
  }
}

/** A map as AWS Query writes it. */
export function entries(
  name: string,
  map: Readonly<Record<string, string>>,
): Record<string, string> {
  const pairs = Object.entries(map).flatMap(([key, value], at) => [
    [`${name}.entry.${at + 1}.key`, key],
    [`${name}.entry.${at + 1}.value`, value],
  ]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

export function good(answer: Answer): Answer {
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text.slice(0, 300)}`);
  return answer;
}

const atOnce = 16;

async function many(count: number, send: (n: number) => Promise<Answer>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const n = next;
      next += 1;
      good(await send(n));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
