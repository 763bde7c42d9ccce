/**
 * An inbox in DynamoDB, shared by any number of consumers. Writes that an effect adds to its transaction are committed
 * together with the mark, by one TransactWriteItems: both or neither. For any other effect, the two are separate steps, and
 * if the process dies between them, the message takes effect once more.
 *
 * While an effect runs, its key is reserved for `leaseMs`, which has to be longer than any effect takes: after it, another
 * consumer may begin the same one. The outcome meanwhile is `busy`.
 *
 * The table has one key, the string `key`. With its time to live on the attribute `ttl`, DynamoDB removes expired keys.
 */

import { randomUUID } from 'node:crypto';
import type {
  AttributeValue,
  DynamoDBClient,
  PutItemCommandInput,
  TransactWriteItem,
} from '@aws-sdk/client-dynamodb';
import { sha256 } from '../contract/canonical.ts';
import {
  type Inbox,
  type InboxOptions,
  keepMsOf,
  leaseOver,
  outcomeOf,
  scopedKey,
} from './inbox.ts';

export interface DynamodbInboxOptions extends InboxOptions {
  readonly client: Pick<DynamoDBClient, 'send'>;
  /** Default oncemq_inbox. Each consumer needs its own. */
  readonly table?: string;
  /** Default five minutes. */
  readonly leaseMs?: number;
}

/** Collects writes that take place together with the mark, after the handler has returned; at most 99. */
export interface DynamodbTransaction {
  write(item: TransactWriteItem): void;
}

export interface DynamodbInbox extends Inbox<DynamodbTransaction> {
  /** Creates the table, paid per request, and its time to live, if it does not exist. */
  migrate(): Promise<void>;
}

const defaultLeaseMs = 300_000;
/** A transaction has at most a hundred items, and one is the mark. */
const writesMax = 99;
/** The largest time a Date can hold. */
const timeMax = 8.64e15;

export function dynamodbInbox(options: DynamodbInboxOptions): DynamodbInbox {
  const { client, table = 'oncemq_inbox', leaseMs = defaultLeaseMs, now = Date.now } = options;
  const keepMs = keepMsOf(options);

  /** The item, and the condition that nobody else has it. */
  const put = (
    item: Readonly<Record<string, AttributeValue>>,
    condition: string,
    values: Readonly<Record<string, AttributeValue>>,
  ): PutItemCommandInput => ({
    TableName: table,
    Item: item,
    ConditionExpression: condition,
    ExpressionAttributeNames: condition.includes('#until') ? { '#until': 'until' } : undefined,
    ExpressionAttributeValues: values,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });

  const once: Inbox<DynamodbTransaction>['once'] = async (event, effect) => {
    const sdk = await import('@aws-sdk/client-dynamodb');
    const key = { S: sha256(scopedKey(event)) };
    const holder = { S: randomUUID() };
    const digest = { S: event.digest };
    const lease = { key, holder, digest, ...expiry(now() + leaseMs) };
    const isFree = 'attribute_not_exists(digest) or #until <= :now';
    const held = { condition: 'holder = :holder', values: { ':holder': holder } };
    try {
      await client.send(
        new sdk.PutItemCommand(put(lease, isFree, { ':now': { N: String(now()) } })),
      );
    } catch (error) {
      if (!(error instanceof sdk.ConditionalCheckFailedException)) throw error;
      return error.Item?.['holder'] === undefined
        ? outcomeOf(event, error.Item?.['digest']?.S)
        : 'busy';
    }
    const writes: TransactWriteItem[] = [];
    let isMarking = false;
    /** The condition of the mark, and not one of the effect's own requests, or of its writes. */
    const isMarkRefused = (error: unknown): boolean =>
      isMarking &&
      (error instanceof sdk.ConditionalCheckFailedException ||
        (error instanceof sdk.TransactionCanceledException &&
          error.CancellationReasons?.[0]?.Code === 'ConditionalCheckFailed'));
    try {
      await effect({ write: (item) => void writes.push(item) });
      if (writes.length > writesMax) {
        throw new RangeError(`A DynamoDB transaction takes at most ${writesMax} writes.`);
      }
      const done = { key, digest, ...expiry(Math.min(now() + keepMs, timeMax)) };
      isMarking = true;
      const mark = put(done, held.condition, held.values);
      await (writes.length === 0
        ? client.send(new sdk.PutItemCommand(mark))
        : client.send(
            new sdk.TransactWriteItemsCommand({
              TransactItems: [{ Put: mark as Required<PutItemCommandInput> }, ...writes],
            }),
          ));
    } catch (error) {
      await client
        .send(
          new sdk.DeleteItemCommand({
            TableName: table,
            Key: { key },
            ConditionExpression: held.condition,
            ExpressionAttributeValues: held.values,
          }),
        )
        // What is not released is free again after its lease; the first error says more.
        .catch(() => {});
      throw isMarkRefused(error) ? leaseOver(event, leaseMs, error) : error;
    }
    return 'done';
  };

  const migrate = async (): Promise<void> => {
    const sdk = await import('@aws-sdk/client-dynamodb');
    try {
      await client.send(
        new sdk.CreateTableCommand({
          TableName: table,
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [{ AttributeName: 'key', AttributeType: 'S' }],
          KeySchema: [{ AttributeName: 'key', KeyType: 'HASH' }],
        }),
      );
    } catch (error) {
      if (error instanceof sdk.ResourceInUseException) return;
      throw error;
    }
    await sdk.waitUntilTableExists(
      { client: client as DynamoDBClient, maxWaitTime: 60 },
      { TableName: table },
    );
    await client.send(
      new sdk.UpdateTimeToLiveCommand({
        TableName: table,
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      }),
    );
  };

  return { once, migrate };
}

/** `until` decides; `ttl`, in seconds, is for DynamoDB, which removes items some time later. */
function expiry(until: number): Record<'until' | 'ttl', AttributeValue> {
  return { until: { N: String(until) }, ttl: { N: String(Math.ceil(until / 1_000)) } };
}
