/**
 * An outbox in DynamoDB, for producers whose data is there: `writes` returns what keeps a message, three entries for the
 * TransactWriteItems of the change, so that both are committed or neither.
 *
 * An id is drawn from a counter before the transaction. As in PostgreSQL (postgres-outbox.ts), what was committed before
 * has a smaller id, and overlapping transactions have no order; so call `writes` after reading what the change depends on,
 * and let the change have a condition on it. A query is no snapshot: it could pass the place of a message shortly before
 * that is committed, and then meet a later one. So a message counts as the first one of its group only if a second,
 * strongly consistent query, begun after the first one has ended, finds it as well.
 *
 * The table has the string keys `kind` and `place`. `waiting` is sorted by group and id, so that a relay goes from group to
 * group and reads only the first entry of each. A relay sends while it holds a lease. DynamoDB allows 400 KB in an item, so
 * it refuses longer messages, and about a thousand writes in a second to one counter.
 */

import { randomUUID } from 'node:crypto';
import type {
  AttributeValue,
  DynamoDBClient,
  QueryCommandInput,
  TransactWriteItem,
} from '@aws-sdk/client-dynamodb';
import { sha256 } from '../contract/canonical.ts';
import { ContractError } from '../contract/refusals.ts';
import { keyReused, scopedKey } from '../contract/reused-key.ts';
import type { ProducerMessage } from '../producer/send.ts';
import {
  countedMax,
  eventKeyOf,
  type KeptMessage,
  type Outbox,
  type ParkedMessage,
  timeToKeep,
} from './outbox.ts';
import { groupBehind, idText, waitingPlace } from './places.ts';

export interface DynamodbOutboxOptions {
  readonly client: Pick<DynamoDBClient, 'send'>;
  /** Default oncemq_outbox. */
  readonly table?: string;
  /** Epoch milliseconds; default: the system clock. */
  readonly now?: () => number;
}

export interface DynamodbOutbox extends Outbox {
  /** Keeps the message in a transaction of its own and resolves to its id, as `writes` does. */
  append(message: ProducerMessage): Promise<number>;
  /**
   * What keeps the message, as part of the caller's TransactWriteItems: three writes, or none if it is kept already. Throws a
   * ContractError if the key was used for another body. If the same key is appended meanwhile, the transaction is
   * canceled, and can be repeated with new writes.
   */
  writes(message: ProducerMessage): Promise<{ id: number; writes: TransactWriteItem[] }>;
  /** Creates the table, paid per request, if it does not exist. */
  migrate(): Promise<void>;
}

type Item = Record<string, AttributeValue>;

/** Longer than the requests of one take; a relay that was killed is replaced after this time. */
const leaseMs = 300_000;
const pageSize = 100;
/** A transaction has at most a hundred writes, and a message to be pruned needs three. */
const prunedAtOnce = 33;
const markedAtOnce = 50;
const attemptsMax = 5;
const only = '-';
/** Behind every character of an encoded group. */
const placeMax = '\u007f';
const everywhere = [' ', placeMax] as const;

export function dynamodbOutbox(options: DynamodbOutboxOptions): DynamodbOutbox {
  const { client, table = 'oncemq_outbox', now = Date.now } = options;
  const sdk = (): Promise<typeof import('@aws-sdk/client-dynamodb')> =>
    import('@aws-sdk/client-dynamodb');

  const put = (kind: string, place: string, item: Item = {}): TransactWriteItem => ({
    Put: { TableName: table, Item: { ...keyOf(kind, place), ...item } },
  });
  const putNew = (kind: string, place: string, item: Item): TransactWriteItem => ({
    Put: {
      ...put(kind, place, item).Put,
      ConditionExpression: 'attribute_not_exists(kind)',
    } as NonNullable<TransactWriteItem['Put']>,
  });
  const remove = (kind: string, place: string): TransactWriteItem => ({
    Delete: { TableName: table, Key: keyOf(kind, place) },
  });
  const removeKnown = (kind: string, place: string): TransactWriteItem => ({
    Delete: {
      TableName: table,
      Key: keyOf(kind, place),
      ConditionExpression: 'attribute_exists(kind)',
    },
  });

  const commit = async (writes: TransactWriteItem[]): Promise<void> => {
    const { TransactWriteItemsCommand } = await sdk();
    await client.send(new TransactWriteItemsCommand({ TransactItems: writes }));
  };
  /** Returns false if the transaction was canceled, by a condition or by another transaction. */
  const tryCommit = async (writes: TransactWriteItem[]): Promise<boolean> => {
    const { TransactionCanceledException } = await sdk();
    try {
      await commit(writes);
      return true;
    } catch (error) {
      const isOther =
        error instanceof TransactionCanceledException &&
        error.CancellationReasons?.some(({ Code = '' }) =>
          ['ConditionalCheckFailed', 'TransactionConflict'].includes(Code),
        );
      if (isOther === true) return false;
      throw error;
    }
  };

  const get = async (kind: string, place: string): Promise<Item | undefined> => {
    const { GetItemCommand } = await sdk();
    const command = { TableName: table, Key: keyOf(kind, place), ConsistentRead: true };
    return (await client.send(new GetItemCommand(command))).Item;
  };
  /** Entries of one kind, strongly consistent, whose places are between the two, inclusive. */
  const query = async (
    kind: string,
    [from, to]: readonly [string, string],
    more: Partial<QueryCommandInput>,
  ): Promise<{ items: Item[]; next: Item | undefined }> => {
    const { QueryCommand } = await sdk();
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: 'kind = :kind and place between :from and :to',
        ...more,
        ExpressionAttributeValues: {
          ':kind': { S: kind },
          ':from': { S: from },
          ':to': { S: to },
          ...more.ExpressionAttributeValues,
        },
      }),
    );
    return { items: Items, next: LastEvaluatedKey };
  };

  const writes: DynamodbOutbox['writes'] = async (message) => {
    const time = timeToKeep(message);
    const event = eventKeyOf(message);
    const key = `key ${sha256(scopedKey(event))}`;
    const digest = sha256(message.body);
    const known = await get(key, only);
    if (known !== undefined) {
      if (known['digest']?.S !== digest) throw new ContractError(keyReused(event));
      return { id: numberIn(known['id']), writes: [] };
    }
    const { UpdateItemCommand } = await sdk();
    const { Attributes = {} } = await client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: keyOf('counter', only),
        UpdateExpression: 'add drawn :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
        ReturnValues: 'UPDATED_NEW',
      }),
    );
    const id = numberIn(Attributes['drawn']);
    const at = numberOf(now());
    const content = { S: JSON.stringify(message) };
    return {
      id,
      writes: [
        putNew(key, only, { id: numberOf(id), digest: { S: digest } }),
        putNew('message', idText(id), { message: content, at, happened: numberOf(time) }),
        putNew('waiting', waitingPlace(message.groupId, id), { at }),
      ],
    };
  };

  const append = async (message: ProducerMessage): Promise<number> => {
    for (let attempt = 1; ; attempt += 1) {
      const { id, writes: given } = await writes(message);
      if (given.length === 0) return id;
      // Canceled: the same key was appended meanwhile, so the next attempt finds it.
      if (attempt === attemptsMax) await commit(given);
      else if (!(await tryCommit(given))) continue;
      return id;
    }
  };

  /** The last group that was taken. */
  let lastGroup = '';

  const headsOf = async (limit: number, leaveOut: ReadonlySet<string>): Promise<KeptMessage[]> => {
    const found: string[] = [];
    const left = new Set([...leaveOut].map((groupId) => waitingPlace(groupId)));
    const last = groupBehind(lastGroup);
    for (const range of [
      [last, placeMax],
      [' ', last],
    ] as const) {
      let from: string = range[0];
      while (found.length < limit) {
        const { items } = await query('waiting', [from, range[1]], { Limit: 1 });
        const place = items[0]?.['place']?.S;
        if (place === undefined) break;
        const [group = ''] = place.split(' ');
        if (!left.has(group)) found.push(place);
        from = `${group}!`;
      }
    }
    const kept = await Promise.all(
      found.map(async (place) => {
        const [group, id = ''] = place.split(' ');
        const { items } = await query('waiting', [`${group} `, place], { Limit: 1 });
        // An earlier one became visible meanwhile: the group's turn is in the next take.
        if (items[0]?.['place']?.S !== place) return [];
        return keptOf(await get('message', id));
      }),
    );
    const heads = kept.flat();
    lastGroup = heads.at(-1)?.message.groupId ?? lastGroup;
    return heads.sort((a, b) => a.id - b.id);
  };

  const mark = async (each: readonly TransactWriteItem[][]): Promise<void> => {
    for (let at = 0; at < each.length; at += markedAtOnce)
      await commit(each.slice(at, at + markedAtOnce).flat());
  };

  const take: Outbox['take'] = async (limit, leaveOut, work) => {
    const { ConditionalCheckFailedException, DeleteItemCommand, PutItemCommand } = await sdk();
    const holder = { S: randomUUID() };
    try {
      await client.send(
        new PutItemCommand({
          TableName: table,
          Item: { ...keyOf('lease', only), holder, held: numberOf(now() + leaseMs) },
          ConditionExpression: 'attribute_not_exists(kind) or held <= :now',
          ExpressionAttributeValues: { ':now': numberOf(now()) },
        }),
      );
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return 0;
      throw error;
    }
    try {
      const taken = await headsOf(limit, leaveOut);
      if (taken.length === 0) return 0;
      const { sent, parked = [] } = await work(taken);
      const reasons = new Map(parked.map(({ id, reason }) => [id, reason]));
      await mark(
        taken.flatMap((kept) => {
          const reason = reasons.get(kept.id);
          if (reason === undefined && !sent.includes(kept.id)) return [];
          const outcome =
            reason === undefined
              ? putSent(kept)
              : put('parked', idText(kept.id), {
                  reason: { S: reason },
                  parkedAt: numberOf(now()),
                });
          return [[remove('waiting', waitingPlace(kept.message.groupId, kept.id)), outcome]];
        }),
      );
      return taken.length;
    } finally {
      await client
        .send(
          new DeleteItemCommand({
            TableName: table,
            Key: keyOf('lease', only),
            ConditionExpression: 'holder = :holder',
            ExpressionAttributeValues: { ':holder': holder },
          }),
        )
        // It ended meanwhile, and another relay may have it; what failed otherwise is free again after its time.
        .catch(() => {});
    }
  };

  const putSent = ({ id, message, appendedAt }: KeptMessage): TransactWriteItem =>
    put('sent', `${idText(appendedAt)} ${idText(id)}`, {
      key: { S: `key ${sha256(scopedKey(eventKeyOf(message)))}` },
    });

  const unpark = async (
    id: number,
    to: (kept: KeptMessage) => TransactWriteItem,
  ): Promise<boolean> => {
    const [kept] = keptOf(await get('message', idText(id)));
    return kept !== undefined && tryCommit([removeKnown('parked', idText(id)), to(kept)]);
  };

  /** How many there are, and when the oldest of them was appended. */
  const count = async (kind: string): Promise<{ found: number; oldestAt: number | undefined }> => {
    let [found, oldestAt, next] = [0, Number.POSITIVE_INFINITY, undefined as Item | undefined];
    do {
      const page = await query(kind, everywhere, {
        Limit: countedMax - found,
        ExclusiveStartKey: next,
      });
      found += page.items.length;
      for (const item of page.items) oldestAt = Math.min(oldestAt, numberIn(item['at']));
      next = page.next;
    } while (next !== undefined && found < countedMax);
    return { found, oldestAt: found === 0 ? undefined : oldestAt };
  };

  return {
    append,
    writes,
    take,
    parked: async (limit, after = 0) => {
      const { items } = await query('parked', [idText(after + 1), placeMax], { Limit: limit });
      const all = await Promise.all(
        items.map(async (item): Promise<ParkedMessage[]> => {
          const [kept] = keptOf(await get('message', item['place']?.S ?? ''));
          const parkedAt = numberIn(item['parkedAt']);
          return kept === undefined ? [] : [{ ...kept, reason: item['reason']?.S ?? '', parkedAt }];
        }),
      );
      return all.flat();
    },
    retry: (id) =>
      unpark(id, ({ message, appendedAt }) =>
        put('waiting', waitingPlace(message.groupId, id), { at: numberOf(appendedAt) }),
      ),
    skip: (id) => unpark(id, putSent),
    backlog: async () => {
      const [unsent, parked] = await Promise.all([count('waiting'), count('parked')]);
      return { unsent: unsent.found, oldestAt: unsent.oldestAt, parked: parked.found };
    },
    between: async function* ({ from, to }) {
      let next: Item | undefined;
      do {
        const page = await query('message', everywhere, {
          Limit: pageSize,
          ExclusiveStartKey: next,
        });
        for (const item of page.items) {
          const time = numberIn(item['happened']);
          if (time >= from && time < to) yield* keptOf(item);
        }
        next = page.next;
      } while (next !== undefined);
    },
    prune: async (before) => {
      if (before <= 0) return;
      const until = idText(Math.min(Math.ceil(before), Number.MAX_SAFE_INTEGER));
      for (;;) {
        const { items } = await query('sent', [' ', until], { Limit: prunedAtOnce });
        if (items.length === 0) return;
        // Canceled: another relay removes them, and the next query finds fewer.
        await tryCommit(
          items.flatMap((item) => {
            const place = item['place']?.S ?? '';
            const id = place.split(' ')[1] ?? '';
            return [
              removeKnown('sent', place),
              remove('message', id),
              remove(item['key']?.S ?? '', only),
            ];
          }),
        );
      }
    },
    migrate: async () => {
      const { CreateTableCommand, ResourceInUseException, waitUntilTableExists } = await sdk();
      try {
        await client.send(
          new CreateTableCommand({
            TableName: table,
            BillingMode: 'PAY_PER_REQUEST',
            AttributeDefinitions: [
              { AttributeName: 'kind', AttributeType: 'S' },
              { AttributeName: 'place', AttributeType: 'S' },
            ],
            KeySchema: [
              { AttributeName: 'kind', KeyType: 'HASH' },
              { AttributeName: 'place', KeyType: 'RANGE' },
            ],
          }),
        );
      } catch (error) {
        if (!(error instanceof ResourceInUseException)) throw error;
      }
      await waitUntilTableExists(
        { client: client as DynamoDBClient, maxWaitTime: 60 },
        { TableName: table },
      );
    },
  };
}

function keyOf(kind: string, place: string): Item {
  return { kind: { S: kind }, place: { S: place } };
}

function numberOf(value: number): AttributeValue {
  return { N: String(value) };
}

function numberIn(value: AttributeValue | undefined): number {
  return Number(value?.N);
}

/** None if the message is no longer kept. */
function keptOf(item: Item | undefined): KeptMessage[] {
  if (item === undefined) return [];
  const message = JSON.parse(item['message']?.S ?? '') as ProducerMessage;
  return [{ id: Number(item['place']?.S), message, appendedAt: numberIn(item['at']) }];
}
