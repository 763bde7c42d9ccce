/**
 * The checker of crash runs, shown to fail: for each rule a short history, made by hand, that breaks it and no other, and
 * beside it the history that comes closest without breaking it.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, rules } from './checker.ts';
import type { Entry, ReceivedEntry } from './history.ts';
import {
  change,
  done,
  message,
  plain,
  publish,
  queues,
  receive,
  refused,
  remove,
  send,
  taken,
  unanswered,
  windowMs,
} from './made-history.ts';

const a1 = message('a1');
const a2 = message('a2');
const a3 = message('a3');
const again = (received: ReceivedEntry, receiveCount = 2): ReceivedEntry =>
  received.sequence === undefined
    ? plain(received.body, { receiveCount })
    : message(received.body, { receiveCount });
const p1 = plain('p1');
/** Other messages with the same bodies, as if the first ones were unknown. */
const a1Twin = message('a1', { messageId: 'twin', sequence: '9'.repeat(20), receipt: 'twin' });
const p1Twin = plain('p1', { messageId: 'twin', receipt: 'twin' });
const p2OfSameId = plain('p2', { messageId: p1.messageId });

interface Case {
  readonly title: string;
  /** The only rule that it breaks; undefined if all hold. */
  readonly breaks?: string;
  /** Steps that belong together may be in a list of their own. */
  readonly history: readonly (Entry | readonly Entry[])[];
}

const cases: Case[] = [
  {
    title: 'sends, receives and deletes one after the other',
    history: [
      [send(0, a1), send(20, a2), receive(40, [a1, a2]), remove(60, a1), remove(80, a2)],
      [send(100, p1), receive(120, [p1]), remove(140, p1)],
    ],
  },

  {
    title: 'an answered send that is never delivered',
    breaks: 'every answered send is delivered',
    history: [send(0, a1)],
  },
  {
    title: 'an answered send that is lost, with its id given to another',
    breaks: 'every answered send is delivered',
    history: [
      [send(0, p1), { type: 'kill', at: 15, isStarting: false }],
      [send(20, p2OfSameId), receive(40, [p2OfSameId]), remove(60, p2OfSameId)],
    ],
  },
  {
    title: 'an unanswered send that is never delivered',
    history: [send(0, a1, unanswered), send(20, p1, unanswered)],
  },

  {
    title: 'a message that is delivered and then missing, though nobody deleted it',
    breaks: 'every message stays until it is deleted',
    history: [send(0, a1), receive(20, [a1]), remove(5_000, a1, refused)],
  },
  {
    title: 'a message that is missing after a delete without an answer',
    history: [send(0, a1), receive(20, [a1]), remove(40, a1, unanswered)],
  },

  {
    title: 'a message left after the queue was drained',
    breaks: 'the queues are empty after the drain',
    history: [
      [send(0, a1), receive(20, [a1]), remove(40, a1, unanswered)],
      { type: 'left', queue: 'orders.fifo', count: 1 },
    ],
  },
  { title: 'empty queues', history: [{ type: 'left', queue: 'plain', count: 0 }] },

  {
    title: 'a message delivered after its delete was answered',
    breaks: 'nothing is delivered after its delete was answered',
    history: [
      [send(0, a1), receive(20, [a1]), remove(40, a1), receive(3_000, [again(a1)])],
      remove(3_020, again(a1)),
    ],
  },
  {
    title: 'a message delivered after a delete that was not answered',
    history: [
      [send(0, a1), receive(20, [a1]), remove(40, a1, unanswered)],
      [receive(3_000, [again(a1)]), remove(3_020, again(a1))],
    ],
  },

  {
    title: 'a duplicate answered with another id',
    breaks: 'a duplicate is answered with the ids of its original',
    history: [
      [send(0, a1, unanswered), send(20, a1), receive(40, [a1]), remove(60, a1)],
      send(80, a1Twin),
    ],
  },
  {
    title: 'a duplicate answered with the same ids, after its original was deleted',
    history: [
      send(0, a1),
      receive(20, [a1]),
      remove(40, a1),
      send(60, a1),
      send(windowMs - 20, a1),
    ],
  },
  {
    title: 'an id sent again after its window',
    history: [
      [send(0, a1), receive(20, [a1]), remove(40, a1)],
      [send(windowMs, a1Twin), receive(windowMs + 20, [a1Twin]), remove(windowMs + 40, a1Twin)],
    ],
  },

  {
    title: 'an unanswered send and its retry, delivered as two messages',
    breaks: 'a message sent again is one message',
    history: [
      [send(0, a1, unanswered), send(20, a1), receive(40, [a1]), remove(60, a1)],
      [receive(80, [a1Twin]), remove(100, a1Twin)],
    ],
  },
  {
    title: 'an unanswered standard send, delivered as two messages',
    breaks: 'a message sent again is one message',
    history: [
      [send(0, p1, unanswered), receive(20, [p1]), remove(40, p1)],
      [receive(60, [p1Twin]), remove(80, p1Twin)],
    ],
  },
  {
    title: 'an unanswered send tried three times, delivered as one message',
    history: [
      [send(0, a1, unanswered), send(20, a1, unanswered), send(40, a1, unanswered)],
      [receive(60, [a1]), remove(80, a1)],
    ],
  },

  {
    title: 'a message that nobody sent',
    breaks: 'nothing is delivered that nobody sent',
    history: [receive(0, [a1]), remove(20, a1)],
  },
  {
    title: 'a message of another group than it was sent to',
    breaks: 'nothing is delivered that nobody sent',
    history: [
      [send(0, a1, unanswered), receive(20, [message('a1', { group: 'b' })]), remove(40, a1)],
    ],
  },
  {
    title: 'a message that is sent after its delivery',
    breaks: 'nothing is delivered that nobody sent',
    history: [receive(0, [a1]), remove(20, a1), send(40, a1)],
  },

  {
    title: 'a send that is refused',
    breaks: 'no send and no receive is refused',
    history: [send(0, a1, refused)],
  },
  {
    title: 'a receive that is refused',
    breaks: 'no send and no receive is refused',
    history: [receive(0, [], refused)],
  },

  {
    title: 'a lower sequence number for a later send',
    breaks: 'sequence numbers rise in the order of the sends',
    history: [[send(0, a2), send(20, a1), receive(40, [a1, a2]), remove(60, a1), remove(80, a2)]],
  },
  {
    title: 'sequence numbers against the order of a batch',
    breaks: 'sequence numbers rise in the order of the sends',
    history: [
      [send(0, a2, done, 0), send(0, a1, done, 1)],
      [receive(20, [a1, a2]), remove(40, a1), remove(60, a2)],
    ],
  },
  {
    title: 'a send without an answer, retried after a later send, with its first number',
    history: [
      [send(0, a1, unanswered), send(20, a2), send(40, a1)],
      [receive(60, [a1, a2]), remove(80, a1), remove(100, a2)],
    ],
  },
  {
    title: 'sequence numbers against the order of a batch that was retried',
    breaks: 'sequence numbers rise in the order of the sends',
    history: [
      [send(0, a2, unanswered, 0), send(0, a1, unanswered, 1)],
      [send(20, a2, done, 0), send(20, a1, done, 1)],
      [receive(40, [a1, a2]), remove(60, a1), remove(80, a2)],
    ],
  },
  {
    title: 'a batch without an answer, its messages then sent one by one against its order',
    history: [
      [send(0, a2, unanswered, 0), send(0, a1, unanswered, 1), send(20, a1), send(40, a2)],
      [receive(60, [a1, a2]), remove(80, a1), remove(100, a2)],
    ],
  },
  {
    title: 'a batch without an answer, its messages then sent in another order',
    history: [
      [send(0, a2, unanswered, 0), send(0, a1, unanswered, 1)],
      [send(20, a1, done, 0), send(20, a2, done, 1)],
      [receive(40, [a1, a2]), remove(60, a1), remove(80, a2)],
    ],
  },

  {
    title: 'a message delivered while an earlier one of its group is in flight',
    breaks: 'a group gives its messages in order, and none while an earlier one is in flight',
    history: [
      [send(0, a1), send(20, a2), receive(40, [a1]), receive(60, [a2])],
      [remove(80, a1), remove(100, a2)],
    ],
  },
  {
    title: 'one answer with a group out of order',
    breaks: 'a group gives its messages in order, and none while an earlier one is in flight',
    history: [
      [send(0, a1), send(20, a2), receive(40, [a2, a1])],
      [remove(80, a1), remove(100, a2)],
    ],
  },
  {
    title: 'one answer that leaves a message of a group out',
    breaks: 'a group gives its messages in order, and none while an earlier one is in flight',
    history: [
      [send(0, a1), send(20, a2), send(40, a3), receive(60, [a1, a3])],
      [remove(80, a1), remove(100, a3), receive(120, [a2]), remove(140, a2)],
    ],
  },
  {
    title: 'the first of two received messages again, alone, while the second is in flight',
    history: [
      [send(0, a1), send(20, a2), receive(40, [a1, a2]), change(60, a1, 0)],
      [receive(80, [again(a1)]), remove(100, again(a1)), remove(120, a2)],
    ],
  },
  {
    title: 'the next message of a group after a delete that was not answered',
    history: [
      [send(0, a1), send(20, a2), receive(40, [a1]), remove(60, a1, unanswered)],
      [receive(80, [a2]), remove(100, a2)],
    ],
  },

  {
    title: 'a receive count that falls',
    breaks: 'a message counts its receives upwards',
    history: [[send(0, p1), receive(20, [again(p1)]), receive(3_000, [p1]), remove(3_020, p1)]],
  },
  {
    title: 'a receive count that does not rise',
    breaks: 'a message counts its receives upwards',
    history: [
      [send(0, p1), receive(20, [p1])],
      [receive(3_000, [plain('p1', { receipt: 'other' })]), remove(3_020, p1)],
    ],
  },
  {
    title: 'a receive count that skips receives whose answers were lost',
    history: [
      [send(0, p1), receive(20, [p1]), receive(3_000, [], unanswered)],
      [receive(6_000, [again(p1, 3)]), remove(6_020, again(p1, 3))],
    ],
  },

  {
    title: 'a message delivered again before its timeout',
    breaks: 'a message in flight is delivered to nobody else',
    history: [
      [send(0, a1), receive(20, [a1]), receive(1_900, [again(a1)])],
      remove(1_920, again(a1)),
    ],
  },
  {
    title: 'a message delivered by two long polls at once',
    breaks: 'a message in flight is delivered to nobody else',
    history: [
      [send(500, p1), receive(0, [p1], { to: 600 }), receive(1, [again(p1)], { to: 601 })],
      remove(700, p1),
    ],
  },
  {
    title: 'a message delivered again before its extended timeout',
    breaks: 'a message in flight is delivered to nobody else',
    history: [
      [send(0, a1), receive(20, [a1]), change(40, a1, 5_000), receive(4_000, [again(a1)])],
      remove(4_020, again(a1)),
    ],
  },
  {
    title: 'a message delivered again after its timeout',
    history: [
      [send(0, a1), receive(20, [a1]), receive(2_020, [again(a1)]), remove(2_040, again(a1))],
    ],
  },
  {
    title: 'a message delivered again at once after an unanswered change of its timeout to 0',
    history: [
      [send(0, a1), receive(20, [a1]), change(40, a1, 0, unanswered)],
      [receive(60, [again(a1)]), remove(80, again(a1))],
    ],
  },

  {
    title: 'a receipt refused while its message is in flight',
    breaks: 'a receipt is good while its message is in flight',
    history: [
      [send(0, a1), receive(20, [a1]), { type: 'kill', at: 500, isStarting: false } as const],
      [remove(1_500, a1, refused), receive(3_000, [again(a1)]), remove(3_020, again(a1))],
    ],
  },
  {
    title: 'an old receipt of a standard queue refused',
    breaks: 'a receipt is good while its message is in flight',
    history: [
      [send(0, p1), receive(20, [p1]), receive(3_000, [again(p1)])],
      [remove(6_000, p1, refused), remove(6_020, again(p1))],
    ],
  },
  {
    title: 'a change refused while the message is in flight',
    breaks: 'a receipt is good while its message is in flight',
    history: [send(0, a1), receive(20, [a1]), change(40, a1, 9_000, refused), remove(60, a1)],
  },
  {
    title: 'a FIFO receipt refused after its timeout, and a change after the delete',
    history: [
      [send(0, a1), receive(20, [a1]), remove(2_100, a1, refused)],
      [receive(2_120, [again(a1)]), remove(2_140, again(a1))],
      change(2_160, again(a1), 9_000, refused),
    ],
  },
  {
    title: 'a FIFO receipt refused after an unanswered change of its timeout to 0',
    history: [
      [send(0, a1), receive(20, [a1]), change(40, a1, 0, unanswered), remove(60, a1, refused)],
      [receive(80, [again(a1)]), remove(100, again(a1))],
    ],
  },
  {
    title: 'a FIFO receipt refused because its message has a new one, whose timeout was extended',
    history: [
      [send(0, a1), receive(20, [a1]), change(40, a1, 0), receive(60, [again(a1)])],
      [change(80, again(a1), 4_000), remove(100, a1, refused), remove(120, again(a1))],
    ],
  },

  {
    title: 'a repeated attempt that gets other messages',
    breaks: 'a repeated attempt gives the same messages',
    history: [
      [send(0, a1), receive(20, [a1], { attemptId: 'x' }), receive(500, [], { attemptId: 'x' })],
      remove(600, a1),
    ],
  },
  {
    title: 'a repeated attempt with the same receipts and a new timeout',
    history: [
      [send(0, a1), receive(20, [a1], { attemptId: 'x' })],
      [receive(1_500, [a1], { attemptId: 'x' }), remove(3_000, a1)],
    ],
  },
  {
    title: 'a repeated attempt after one of its messages was deleted',
    history: [
      [send(0, a1), receive(20, [a1], { attemptId: 'x' }), remove(40, a1)],
      receive(60, [], { attemptId: 'x' }),
    ],
  },

  {
    title: 'a publication that is answered and in one of two queues',
    breaks: 'a publication is in all queues of its topic or in none',
    history: [publish(0, 'a1'), taken(20, [a1], [])],
  },
  {
    title: 'a publication that is answered and in no queue',
    breaks: 'a publication is in all queues of its topic or in none',
    history: [publish(0, 'a1')],
  },
  {
    title: 'a publication without an answer that is in one of two queues',
    breaks: 'a publication is in all queues of its topic or in none',
    history: [publish(0, 'a1', unanswered), taken(20, [], [a1])],
  },
  {
    title: 'a publication that is refused',
    breaks: 'no send and no receive is refused',
    history: [publish(0, 'a1', refused)],
  },
  {
    title: 'two publications in two orders',
    breaks: 'all queues of a topic have its publications in the same order',
    history: [
      [publish(0, 'a1'), publish(5, 'a2')],
      taken(40, [a1, a2], [message('a2', { sequence: '1' }), message('a1', { sequence: '2' })]),
    ],
  },
  {
    title: 'a publication without an answer that is in no queue, and one that is in both',
    history: [publish(0, 'a1', unanswered), publish(20, 'a2'), taken(40, [a2], [a2])],
  },
];

for (const { title, breaks, history } of cases) {
  test(`${breaks === undefined ? 'no violation' : 'a violation'}: ${title}`, () => {
    const found = check([...queues, ...history.flat()]);
    const broken = [...new Set(found.map(({ rule }) => rule))];
    assert.deepEqual(broken, breaks === undefined ? [] : [breaks], JSON.stringify(found, null, 2));
  });
}

test('every rule is violated by one of these histories', () => {
  const broken = new Set(cases.map(({ breaks }) => breaks));
  assert.deepEqual(
    Object.keys(rules).filter((rule) => !broken.has(rule)),
    [],
  );
});
