/**
 * What every outbox promises a relay: the oldest unsent message of each group, in order and as it was kept, until it is
 * marked; one relay at a time; and that a parked message waits for a decision without holding up its group.
 */

import assert from 'node:assert/strict';
import type { KeptMessage, Outbox, Verdict } from '../outbox/outbox.ts';
import type { ProducerMessage } from '../producer/send.ts';
import type { StoreCheck } from './store-check.ts';

/** Opens a new, empty outbox; `append` keeps one message, in a transaction of its own where there are transactions. */
export type OutboxUnderTest = (options: {
  readonly now: () => number;
}) => Promise<Outbox & { append(message: ProducerMessage): Promise<number> }>;

const day = Date.parse('2025-12-04T00:00:00Z');
const forever = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

function message(key: string, groupId: string, payload = 1): ProducerMessage {
  const body = JSON.stringify({
    dedupe_key: key,
    event_source: 'orders',
    event_time: new Date(day).toISOString(),
    payload,
  });
  return { body, groupId };
}

export function outboxChecks(open: OutboxUnderTest): StoreCheck[] {
  const setUp = async () => {
    const clock = { time: day };
    const outbox = await open({ now: () => clock.time });
    const take = async (decide: (ids: readonly number[]) => Verdict, leaveOut: string[] = []) => {
      let given: readonly KeptMessage[] = [];
      const count = await outbox.take(100, new Set(leaveOut), async (kept) => {
        given = kept;
        return decide(kept.map(({ id }) => id));
      });
      assert.equal(count, given.length);
      return given.map((each) => each.message.body);
    };
    return { outbox, clock, take };
  };
  const sendAll = (sent: readonly number[]): Verdict => ({ sent });
  const sendNone = (): Verdict => ({ sent: [] });
  const bodies = (...messages: ProducerMessage[]): string[] => messages.map(({ body }) => body);
  const [a1, a2, b1] = [message('a1', 'a'), message('a2', 'a'), message('b1', 'b')] as const;

  return [
    {
      name: 'the oldest unsent message of each group is given, as it was kept',
      run: async () => {
        const { outbox, take } = await setUp();
        const attributes = { region: 'eu' };
        for (const each of [a1, a2, { ...b1, attributes }]) await outbox.append(each);
        await outbox.take(100, new Set(), async (kept) => {
          assert.deepEqual(
            kept.map((each) => each.message),
            [a1, { ...b1, attributes }],
          );
          assert.equal(kept[0]?.appendedAt, day);
          return { sent: kept.map(({ id }) => id) };
        });
        assert.deepEqual(await take(sendAll), bodies(a2));
        assert.deepEqual(await take(sendAll), []);
      },
    },
    {
      name: 'what is not marked as sent is given again, and nothing overtakes it',
      run: async () => {
        const { outbox, take } = await setUp();
        for (const each of [a1, a2]) await outbox.append(each);
        assert.deepEqual(await take(sendNone), bodies(a1));
        assert.deepEqual(await take(sendAll), bodies(a1));
        assert.deepEqual(await take(sendAll), bodies(a2));
      },
    },
    {
      name: 'groups are left out on request, and no more than the limit is given',
      run: async () => {
        const { outbox, take } = await setUp();
        for (const each of [a1, b1]) await outbox.append(each);
        assert.deepEqual(await take(sendNone, ['a']), bodies(b1));
        assert.equal(await outbox.take(1, new Set(), async () => ({ sent: [] })), 1);
      },
    },
    {
      name: 'one relay at a time',
      run: async () => {
        const { outbox } = await setUp();
        await outbox.append(a1);
        await outbox.take(100, new Set(), async () => {
          const fail = async (): Promise<Verdict> => assert.fail('two relays had it');
          assert.equal(await outbox.take(100, new Set(), fail), 0);
          return { sent: [] };
        });
      },
    },
    {
      name: 'a message is kept once, and another body under its key is refused',
      run: async () => {
        const { outbox, take } = await setUp();
        const id = await outbox.append(a1);
        assert.equal(await outbox.append(a1), id);
        await assert.rejects(outbox.append(message('a1', 'a', 2)), { name: 'ContractError' });
        assert.deepEqual(await take(sendAll), bodies(a1));
        assert.equal(await outbox.append(a1), id);
        assert.deepEqual(await take(sendAll), []);
      },
    },
    {
      name: 'a parked message waits with its reason, and its group goes on',
      run: async () => {
        const { outbox, clock, take } = await setUp();
        const id = await outbox.append(a1);
        await outbox.append(a2);
        clock.time += 1_000;
        await take(() => ({ sent: [], parked: [{ id, reason: 'too long' }] }));
        assert.deepEqual(await take(sendAll), bodies(a2));
        const parked = {
          id,
          message: a1,
          appendedAt: day,
          reason: 'too long',
          parkedAt: day + 1_000,
        };
        assert.deepEqual(await outbox.parked(10), [parked]);
        assert.deepEqual(await outbox.parked(10, id), []);
      },
    },
    {
      name: 'a parked message is sent when it is retried, before the later ones of its group',
      run: async () => {
        const { outbox, take } = await setUp();
        const id = await outbox.append(a1);
        await outbox.append(a2);
        assert.equal(await outbox.retry(id), false);
        await take(() => ({ sent: [], parked: [{ id, reason: 'too long' }] }));
        assert.equal(await outbox.retry(id), true);
        assert.deepEqual(await take(sendAll), bodies(a1));
        assert.deepEqual(await take(sendAll), bodies(a2));
      },
    },
    {
      name: 'a skipped message is never given again, and still found by its time',
      run: async () => {
        const { outbox, take } = await setUp();
        const id = await outbox.append(a1);
        assert.equal(await outbox.skip(id), false);
        await take(() => ({ sent: [], parked: [{ id, reason: 'too long' }] }));
        assert.equal(await outbox.skip(id), true);
        assert.equal(await outbox.skip(id), false);
        assert.deepEqual(await take(sendAll), []);
        const found: number[] = [];
        for await (const each of outbox.between(forever)) found.push(each.id);
        assert.deepEqual(found, [id]);
      },
    },
    {
      name: 'the backlog counts what is unsent and what is parked',
      run: async () => {
        const { outbox, clock, take } = await setUp();
        assert.deepEqual(await outbox.backlog(), { unsent: 0, oldestAt: undefined, parked: 0 });
        const id = await outbox.append(a1);
        clock.time += 1_000;
        await outbox.append(a2);
        assert.deepEqual(await outbox.backlog(), { unsent: 2, oldestAt: day, parked: 0 });
        await take(() => ({ sent: [], parked: [{ id, reason: 'too long' }] }));
        assert.deepEqual(await outbox.backlog(), { unsent: 1, oldestAt: day + 1_000, parked: 1 });
      },
    },
    {
      name: 'messages are found by the time of their event, sent or not, in order',
      run: async () => {
        const { outbox, take } = await setUp();
        await outbox.append(a1);
        await take(sendAll);
        await outbox.append(b1);
        const found: string[] = [];
        for await (const each of outbox.between({ from: day, to: day + 1 }))
          found.push(each.message.body);
        assert.deepEqual(found, bodies(a1, b1));
        for await (const each of outbox.between({ from: day + 1, to: forever.to }))
          assert.fail(each.message.body);
      },
    },
    {
      name: 'pruning removes nothing that is unsent or parked',
      run: async () => {
        const { outbox, take } = await setUp();
        const id = await outbox.append(a1);
        await outbox.append(a2);
        await take(() => ({ sent: [], parked: [{ id, reason: 'too long' }] }));
        await outbox.prune(day + 1);
        assert.equal((await outbox.parked(10)).length, 1);
        assert.deepEqual(await take(sendAll), bodies(a2));
      },
    },
  ];
}
