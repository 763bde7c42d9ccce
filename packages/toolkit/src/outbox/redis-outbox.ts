/**
 * An outbox in Redis or Valkey, for producers whose data is there. `append` takes the commands of the change with it, and
 * runs them and keeps the message in one script: nobody sees one without the other. If the message is kept already, or its
 * key was used for another body, none of the commands runs, so a repeated append changes nothing.
 *
 * Redis has no rollback. If a command fails, for instance because of the type of its key, those before it have taken
 * place, and neither the later ones nor the message. An outbox keeps as well as its server does: without append-only
 * persistence, and with an eviction policy other than `noeviction`, messages are lost.
 *
 * Scripts run one after another, so the order of ids is the order of appends. Members of `waiting` are a group and an id
 * and sorted as text, so that a relay goes from group to group and reads only the first entry of each. A relay sends while
 * it holds a lease. All keys have one hash tag, and so are on one node of a cluster.
 */

import { randomUUID } from 'node:crypto';
import { sha256 } from '../contract/canonical.ts';
import { ContractError } from '../contract/refusals.ts';
import { keyReused, scopedKey } from '../contract/reused-key.ts';
import type { RunCommand } from '../inbox/redis-inbox.ts';
import type { ProducerMessage } from '../producer/send.ts';
import {
  countedMax,
  eventKeyOf,
  type KeptMessage,
  type Outbox,
  type ParkedMessage,
  prunedMax,
  timeToKeep,
} from './outbox.ts';
import { groupBehind, waitingPlace } from './places.ts';

export interface RedisOutboxOptions {
  readonly run: RunCommand;
  /** Before every key; default `{oncemq:outbox}:`. Each destination needs its own; keep the braces in a cluster. */
  readonly prefix?: string;
  /** Epoch milliseconds; default: the system clock. */
  readonly now?: () => number;
}

export interface RedisOutbox extends Outbox {
  /**
   * Runs the commands and keeps the message, in one script, and resolves to its id; for a message that is kept already,
   * runs nothing and resolves to the id it has. Throws a ContractError if the key was used for another body. In a cluster,
   * the commands' keys need the hash tag of the prefix.
   */
  append(message: ProducerMessage, commands?: readonly (readonly string[])[]): Promise<number>;
}

interface Kept {
  readonly at: number;
  readonly message: ProducerMessage;
}

/** Longer than the requests of one take; a relay that was killed is replaced after this time. */
const leaseMs = 300_000;
const pageSize = 100;

/** KEYS: id, messages, keys, order, waiting, unsent. ARGV: event key, digest, event time, time, group, message, commands. */
const append = `
local known = redis.call('HGET', KEYS[3], ARGV[1])
if known then return known end
for i = 7, #ARGV do redis.call(unpack(cjson.decode(ARGV[i]))) end
local id = redis.call('INCR', KEYS[1])
local kept = id .. ' ' .. ARGV[2]
redis.call('HSET', KEYS[2], id, ARGV[6])
redis.call('HSET', KEYS[3], ARGV[1], kept)
redis.call('ZADD', KEYS[4], id, id .. ' ' .. ARGV[3])
redis.call('ZADD', KEYS[5], 0, ARGV[5] .. ' ' .. string.format('%016.0f', id))
redis.call('ZADD', KEYS[6], ARGV[4], id)
return kept`;

/** The first entry of up to ARGV[2] groups. KEYS: waiting. ARGV: from where, how many. */
const heads = `
local found, from = {}, ARGV[1]
for i = 1, tonumber(ARGV[2]) do
  local head = redis.call('ZRANGEBYLEX', KEYS[1], from, '+', 'LIMIT', 0, 1)[1]
  if not head then break end
  found[i] = head
  from = '[' .. string.match(head, '^%S*') .. '!'
end
return found`;

/** KEYS: waiting, unsent, sent, parked, reasons. ARGV: for each message its id, place, and either its time and key, or a reason. */
const mark = `
for i = 1, #ARGV, 5 do
  local id = ARGV[i]
  if redis.call('ZREM', KEYS[1], ARGV[i + 1]) == 1 then
    redis.call('ZREM', KEYS[2], id)
    if ARGV[i + 4] == '' then redis.call('ZADD', KEYS[3], ARGV[i + 2], id .. ' ' .. ARGV[i + 3])
    else
      redis.call('ZADD', KEYS[4], id, id)
      redis.call('HSET', KEYS[5], id, ARGV[i + 4])
    end
  end
end
return 1`;

/** KEYS: parked, reasons, then the sorted sets to enter. ARGV: id, then a score and a member for each set. */
const unpark = `
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HDEL', KEYS[2], ARGV[1])
for i = 3, #KEYS do redis.call('ZADD', KEYS[i], ARGV[2 * i - 4], ARGV[2 * i - 3]) end
return 1`;

/** KEYS: sent, messages, keys, order. ARGV: before, how many. */
const prune = `
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[1], 'LIMIT', 0, ARGV[2])
for _, member in ipairs(old) do
  local id, key = string.match(member, '^(%S+) (%S+)')
  redis.call('HDEL', KEYS[2], id)
  redis.call('HDEL', KEYS[3], key)
  redis.call('ZREMRANGEBYSCORE', KEYS[4], id, id)
  redis.call('ZREM', KEYS[1], member)
end
return #old`;

const release = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;

export function redisOutbox(options: RedisOutboxOptions): RedisOutbox {
  const { run, prefix = '{oncemq:outbox}:', now = Date.now } = options;
  const script = (text: string, keys: readonly string[], values: readonly string[]) =>
    run(['EVAL', text, String(keys.length), ...keys.map((key) => prefix + key), ...values]);
  const texts = async (name: string, key: string, ...values: string[]): Promise<string[]> =>
    ((await run([name, prefix + key, ...values])) as unknown[]).map(String);
  const count = async (key: string): Promise<number> =>
    Math.min(Number(await run(['ZCARD', prefix + key])), countedMax);

  /** Those of the messages that are still kept, in the given order. */
  const read = async (ids: readonly string[]): Promise<KeptMessage[]> => {
    if (ids.length === 0) return [];
    const found = (await run(['HMGET', `${prefix}messages`, ...ids])) as (unknown | null)[];
    return found.flatMap((text, index) => {
      if (text === null) return [];
      const { at, message } = JSON.parse(String(text)) as Kept;
      return [{ id: Number(ids[index]), message, appendedAt: at }];
    });
  };

  /** The last group that was taken. */
  let lastGroup = '';

  const headsOf = async (limit: number, leaveOut: ReadonlySet<string>): Promise<KeptMessage[]> => {
    const found: KeptMessage[] = [];
    const start = lastGroup;
    const last = groupBehind(start);
    for (const part of ['after', 'before'] as const) {
      let from = part === 'after' ? `[${last}` : '-';
      while (found.length < limit) {
        const places = ((await script(heads, ['waiting'], [from, String(pageSize)])) as unknown[])
          .map(String)
          .filter((place) => part === 'after' || place < last);
        const kept = await read(places.map((place) => String(Number(place.split(' ')[1]))));
        const wanted = kept.filter(({ message }) => !leaveOut.has(message.groupId));
        found.push(...wanted.slice(0, limit - found.length));
        if (places.length < pageSize) break;
        from = `[${places.at(-1)?.split(' ')[0]}!`;
      }
    }
    lastGroup = found.at(-1)?.message.groupId ?? lastGroup;
    return found.sort((a, b) => a.id - b.id);
  };

  const take: Outbox['take'] = async (limit, leaveOut, work) => {
    const holder = randomUUID();
    const lease = ['SET', `${prefix}lease`, holder, 'NX', 'PX', String(leaseMs)];
    if ((await run(lease)) === null) return 0;
    try {
      const taken = await headsOf(limit, leaveOut);
      if (taken.length === 0) return 0;
      const { sent, parked = [] } = await work(taken);
      const reasons = new Map(parked.map(({ id, reason }) => [id, reason]));
      const values = taken.flatMap((kept) => {
        const reason = reasons.get(kept.id);
        if (reason === undefined && !sent.includes(kept.id)) return [];
        const parking = reason === undefined ? '' : JSON.stringify({ reason, parkedAt: now() });
        return [...entryOf(kept), parking];
      });
      if (values.length > 0)
        await script(mark, ['waiting', 'unsent', 'sent', 'parked', 'reasons'], values);
      return taken.length;
    } finally {
      await script(release, ['lease'], [holder]);
    }
  };

  return {
    append: async (message, commands = []) => {
      const time = timeToKeep(message);
      const event = eventKeyOf(message);
      const digest = sha256(message.body);
      const at = now();
      const kept = await script(
        append,
        ['id', 'messages', 'keys', 'order', 'waiting', 'unsent'],
        [
          sha256(scopedKey(event)),
          digest,
          String(time),
          String(at),
          waitingPlace(message.groupId),
          JSON.stringify({ at, message } satisfies Kept),
          ...commands.map((command) => JSON.stringify(command)),
        ],
      );
      const [id, known] = String(kept).split(' ');
      if (known !== digest) throw new ContractError(keyReused(event));
      return Number(id);
    },
    take,
    parked: async (limit, after = 0) => {
      const ids = await texts(
        'ZRANGEBYSCORE',
        'parked',
        `(${after}`,
        '+inf',
        'LIMIT',
        '0',
        String(limit),
      );
      if (ids.length === 0) return [];
      const kept = await read(ids);
      const reasons = (await run(['HMGET', `${prefix}reasons`, ...ids])) as (unknown | null)[];
      return kept.flatMap((each): ParkedMessage[] => {
        const text = reasons[ids.indexOf(String(each.id))];
        // Retried or skipped meanwhile.
        if (text == null) return [];
        const { reason, parkedAt } = JSON.parse(String(text)) as ParkedMessage;
        return [{ ...each, reason, parkedAt }];
      });
    },
    retry: async (id) => {
      const [kept] = await read([String(id)]);
      if (kept === undefined) return false;
      const [, place, at] = entryOf(kept);
      const values = [String(id), '0', place, at, String(id)];
      return Number(await script(unpark, ['parked', 'reasons', 'waiting', 'unsent'], values)) === 1;
    },
    skip: async (id) => {
      const [kept] = await read([String(id)]);
      if (kept === undefined) return false;
      const [, , at, key] = entryOf(kept);
      const values = [String(id), at, `${id} ${key}`];
      return Number(await script(unpark, ['parked', 'reasons', 'sent'], values)) === 1;
    },
    backlog: async () => {
      // Not its score: what WITHSCORES answers depends on the version of the protocol.
      const [oldest] = await read(await texts('ZRANGE', 'unsent', '0', '0'));
      return {
        unsent: await count('unsent'),
        oldestAt: oldest?.appendedAt,
        parked: await count('parked'),
      };
    },
    between: async function* ({ from, to }) {
      let after = '0';
      for (;;) {
        const page = await texts(
          'ZRANGEBYSCORE',
          'order',
          `(${after}`,
          '+inf',
          'LIMIT',
          '0',
          String(prunedMax),
        );
        if (page.length === 0) return;
        const entries = page.map((member) => member.split(' ') as [id: string, time: string]);
        const ids = entries.flatMap(([id, time]) =>
          Number(time) >= from && Number(time) < to ? [id] : [],
        );
        for (let at = 0; at < ids.length; at += pageSize)
          yield* await read(ids.slice(at, at + pageSize));
        after = (entries.at(-1) as [string, string])[0];
      }
    },
    prune: async (before) => {
      const keys = ['sent', 'messages', 'keys', 'order'];
      while (Number(await script(prune, keys, [String(before), String(prunedMax)])) > 0);
    },
  };
}

/** What the sorted sets say of a message. */
function entryOf({
  id,
  message,
  appendedAt,
}: KeptMessage): [id: string, place: string, at: string, key: string] {
  const key = sha256(scopedKey(eventKeyOf(message)));
  return [String(id), waitingPlace(message.groupId, id), String(appendedAt), key];
}
