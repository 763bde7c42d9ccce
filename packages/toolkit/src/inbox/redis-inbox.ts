/**
 * An inbox in Redis or Valkey, shared by any number of consumers. Commands that an effect queues on its transaction are
 * applied in the same script as the mark: both or neither. For any other effect, the two are separate steps, and if the
 * process dies between them, the message takes effect once more.
 *
 * While an effect runs, its key is reserved for `leaseMs`, which has to be longer than any effect takes: after it, another
 * consumer may begin the same one. The outcome meanwhile is `busy`.
 *
 * It remembers as well as its server does. Without append-only persistence, and with an eviction policy other than
 * `noeviction`, a restart or a lack of memory forgets keys, and their effects can take place again.
 */

import { randomUUID } from 'node:crypto';
import { sha256 } from '../contract/canonical.ts';
import {
  type Inbox,
  type InboxOptions,
  keepMsOf,
  leaseOver,
  outcomeOf,
  scopedKey,
} from './inbox.ts';

/** Runs one command: `(command) => redis.sendCommand(command)`, or `([name, ...args]) => ioredis.call(name, ...args)`. */
export type RunCommand = (command: string[]) => Promise<unknown>;

export interface RedisInboxOptions extends InboxOptions {
  readonly run: RunCommand;
  /** Before every key; default `oncemq:inbox:`. Each consumer needs its own. */
  readonly prefix?: string;
  /** Default five minutes. */
  readonly leaseMs?: number;
}

/** Queues commands that take place together with the mark, after the handler has returned. */
export interface RedisTransaction {
  queue(...command: string[]): void;
}

const defaultLeaseMs = 300_000;
/** Redis accepts no expiry later than this; keys that are kept forever have none. */
const expiryMsMax = 8.64e15;

/** A value is `d` for done or `b` for busy, then the time until it holds, the digest, and the holder. */
const begin = `
local kept = redis.call('GET', KEYS[1])
if kept then
  local state, until_, digest = string.match(kept, '^(%a) (%S+) (%S+)')
  if tonumber(until_) > tonumber(ARGV[1]) then return {state, digest} end
end
redis.call('SET', KEYS[1], 'b ' .. ARGV[2] .. ' ' .. ARGV[3] .. ' ' .. ARGV[4], 'PX', ARGV[5])
return {'mine', ''}`;

const finish = `
local kept = redis.call('GET', KEYS[1])
if kept ~= ARGV[1] then return 0 end
for i = 4, #ARGV do redis.call(unpack(cjson.decode(ARGV[i]))) end
if ARGV[3] == '' then redis.call('SET', KEYS[1], ARGV[2])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`;

const giveUp = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0`;

export function redisInbox(options: RedisInboxOptions): Inbox<RedisTransaction> {
  const { run, prefix = 'oncemq:inbox:', leaseMs = defaultLeaseMs, now = Date.now } = options;
  const keepMs = keepMsOf(options);
  const script = (text: string, key: string, ...values: string[]): Promise<unknown> =>
    run(['EVAL', text, '1', key, ...values]);

  return {
    once: async (event, effect) => {
      const key = prefix + sha256(scopedKey(event));
      const holder = randomUUID();
      const leaseUntil = String(now() + leaseMs);
      const reserved = `b ${leaseUntil} ${event.digest} ${holder}`;
      const [state, digest] = (await script(
        begin,
        key,
        String(now()),
        leaseUntil,
        event.digest,
        holder,
        String(leaseMs),
      )) as [string, string];
      if (String(state) === 'b') return 'busy';
      if (String(state) === 'd') return outcomeOf(event, String(digest));
      const commands: string[] = [];
      try {
        await effect({ queue: (...command) => void commands.push(JSON.stringify(command)) });
      } catch (error) {
        await script(giveUp, key, reserved);
        throw error;
      }
      const until = Math.min(now() + keepMs, expiryMsMax);
      const done = `d ${until} ${event.digest} -`;
      const expiry = until === expiryMsMax ? '' : String(Math.ceil(keepMs));
      const isMarked = Number(await script(finish, key, reserved, done, expiry, ...commands)) === 1;
      if (isMarked) return 'done';
      throw leaseOver(event, leaseMs);
    },
  };
}
