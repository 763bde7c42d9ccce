/**
 * Generates scenarios for a simulation. Names, ids, groups and bodies come from tiny alphabets, so that they collide all
 * the time; clock steps aim at deadlines; and some phrases bring together what chance alone seldom would, like the same
 * send on both sides of the window's end. Weights are chosen so that every kind of outcome comes up often.
 */

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { AttributeInput, Command, CommandOf, SendEntry } from '../../src/core/commands.ts';
import { arnOf } from './model.ts';
import type { DeadlineKind } from './model-views.ts';
import {
  type ClockStep,
  create,
  queueNames,
  redrive,
  type Scenario,
  type Step,
  set,
} from './steps.ts';

export function scenario(maxLength: number): fc.Arbitrary<Scenario> {
  return fc.record({
    inFlightMax: fc.constantFrom(120_000, 12, 3),
    steps: fc.array(phrase(), { maxLength, size: 'max' }).map((phrases) => phrases.flat()),
  });
}

type Weighted<T> = readonly [weight: number, value: T];

/** One of the values, heavier ones more often; the first is the simplest. */
function among<T>(...values: Weighted<T>[]): fc.Arbitrary<T> {
  return fc.oneof(...values.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })));
}

function some<T>(...values: Weighted<fc.Arbitrary<T>>[]): fc.Arbitrary<T> {
  return fc.oneof(...values.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

/** A few steps that belong together; most are one step alone. */
function phrase(): fc.Arbitrary<Step[]> {
  return some<Step[]>(
    [90, step().map((one) => [one])],
    [3, sendAgainAtTheEdge()],
    [2, sendAcrossScopes()],
    [3, receiveAgain()],
    [2, receiveAgainAtTheEdge()],
    [3, useReceiptAtTheEdge()],
    [3, die()],
    [1, waitFor('purge', (queue) => [{ type: 'purge-queue', queue }])],
    [1, waitFor('name', (queue) => [{ type: 'delete-queue', queue }, created(queue)])],
  );
}

function step(): fc.Arbitrary<Step> {
  return some<Step>(
    [30, send()],
    [24, receive()],
    [12, deleteMessages()],
    [8, changeVisibility()],
    [14, clock()],
    [6, fc.constant({ type: 'tick' })],
    [5, setAttributes()],
    [5, moveTask()],
    [2, queueLife()],
    [4, fc.constant({ type: 'look' })],
  );
}

const offsetMs = fc.constantFrom(0, -1, 1);

/** The same send on both sides of the window's end. */
function sendAgainAtTheEdge(): fc.Arbitrary<Step[]> {
  return fc.tuple(send(), offsetMs, fc.nat({ max: 1 })).map(([once, offset, nth]) => {
    return [once, { type: 'clock', until: 'window', nth, offsetMs: offset }, once];
  });
}

/** One id in two groups, and then a scope in which they collide. */
function sendAcrossScopes(): fc.Arbitrary<Step[]> {
  const queue = fc.constantFrom('orders.fifo', 'loop.fifo');
  return fc.tuple(queue, fifoEntry, step()).map(([name, entry, between]) => {
    const scope = (value: string) => set(name, { DeduplicationScope: value });
    const sent = (groupId: string): Command => {
      return { type: 'send', queue: name, isBatch: false, entries: [{ ...entry, groupId }] };
    };
    return [scope('messageGroup'), sent('g1'), between, sent('g2'), scope('queue'), sent('g2')];
  });
}

/** One receive attempt made twice, with something in between. */
function receiveAgain(): fc.Arbitrary<Step[]> {
  return fc.tuple(attempt(), step()).map(([once, between]) => [once, between, once]);
}

/** One receive attempt repeated until it is forgotten, while its messages are held for longer. */
function receiveAgainAtTheEdge(): fc.Arbitrary<Step[]> {
  return fc.tuple(attempt(), offsetMs).map(([held, offset]) => {
    const once = { ...held, visibilitySeconds: 400 };
    const edge: ClockStep = { type: 'clock', until: 'attempt', nth: 0, offsetMs: offset };
    return [once, { type: 'clock', addMs: 1000 }, once, edge, once];
  });
}

function attempt(): fc.Arbitrary<CommandOf<'receive'>> {
  return fc.record({
    type: fc.constant('receive'),
    queue: fc.constantFrom('orders.fifo', 'loop.fifo'),
    count: among([2, 1], [2, 3]),
    attemptId: among([3, 't1'], [1, 't2']),
  });
}

/** A receipt used just before, at and just after the end of its timeout. */
function useReceiptAtTheEdge(): fc.Arbitrary<Step[]> {
  const use = (queue: string) =>
    fc.constantFrom<Command>(
      { type: 'delete-messages', queue, isBatch: false, entries: [{ receiptHandle: '$0' }] },
      {
        type: 'change-visibility',
        queue,
        isBatch: false,
        entries: [{ receiptHandle: '$0', visibilitySeconds: 10 }],
      },
    );
  return anyQueue.chain((queue) =>
    fc
      .tuple(use(queue), offsetMs)
      .map(([used, offset]) => [
        { type: 'receive', queue, count: 2, visibilitySeconds: 10 },
        { type: 'clock', until: 'visible', nth: 0, offsetMs: offset },
        used,
      ]),
  );
}

/** Messages received until they are dead letters, perhaps in the dead-letter queue as well, and perhaps moved back. */
function die(): fc.Arbitrary<Step[]> {
  const queue = fc.constantFrom('orders.fifo', 'loop.fifo', 'tasks', 'dead', 'dead.fifo');
  return fc.tuple(queue, moveTask(), offsetMs).map(([name, task, offset]) => {
    const again = { type: 'receive', queue: name, count: 10, visibilitySeconds: 0 } as const;
    const next: ClockStep = { type: 'clock', until: 'task', nth: 0, offsetMs: offset };
    return [again, again, again, task, { type: 'tick' }, next, { type: 'tick' }];
  });
}

/** A command that is refused for some time, repeated on a queue at the end of that time. */
function waitFor(until: DeadlineKind, commands: (queue: string) => Step[]): fc.Arbitrary<Step[]> {
  return fc.tuple(anyQueue, offsetMs).map(([queue, offset]) => {
    const [first, last = first] = commands(queue) as [Step, Step?];
    return [first, { type: 'clock', until, nth: 0, offsetMs: offset }, last];
  });
}

function created(queue: string): Command {
  return create(queue, queue.endsWith('.fifo') ? { FifoQueue: 'true' } : {});
}

const anyQueue = among<string>(
  [6, 'orders.fifo'],
  [3, 'loop.fifo'],
  [2, 'dead.fifo'],
  [5, 'tasks'],
  [2, 'dead'],
);

function ofQueue<T>(rest: (isFifo: boolean, queue: string) => fc.Arbitrary<T>): fc.Arbitrary<T> {
  return anyQueue.chain((queue) => rest(queue.endsWith('.fifo'), queue));
}

/** One entry in a call of its own, or up to ten in a batch. */
function entriesOf<E>(entry: fc.Arbitrary<E>): fc.Arbitrary<{ isBatch: boolean; entries: E[] }> {
  const single = entry.map((one) => ({ isBatch: false, entries: [one] }));
  const batch = fc.array(entry, { minLength: 1, maxLength: 10, size: 'max' }).map((list) => ({
    isBatch: true,
    entries: list.map((one, index) => ({ id: `e${index}`, ...one })),
  }));
  return some([2, single], [1, batch]);
}

const hashOfX = createHash('sha256').update('x').digest('hex');

function send(): fc.Arbitrary<Command> {
  return ofQueue((isFifo, queue) =>
    entriesOf(isFifo ? fifoEntry : standardEntry).map((rest) => ({ type: 'send', queue, ...rest })),
  );
}

const body = among([4, 'x'], [2, 'y'], [1, 'z']);
const attributes = among(
  [6, undefined],
  [1, [{ name: 'origin', type: 'String', stringValue: 'east' }]],
  [1, [{ name: 'origin', type: 'String', stringValue: 'west' }]],
  [1, [traced('a1'), { name: 'origin', type: 'String', stringValue: 'west' }]],
  [1, [traced('a2')]],
);

/** Differs at every send, and is no difference between events. */
function traced(span: string): AttributeInput {
  return { name: 'traceparent', type: 'String', stringValue: `00-5b8e-${span}-01` };
}

const fifoEntry: fc.Arbitrary<SendEntry> = fc.record({
  body,
  groupId: among<string | undefined>([20, 'g1'], [14, 'g2'], [6, 'g3'], [1, undefined]),
  deduplicationId: among<string | undefined>(
    [8, undefined],
    [3, 'a'],
    [3, 'b'],
    [3, 'c'],
    [2, 'd'],
    [2, hashOfX],
  ),
  delaySeconds: among<number | undefined>([30, undefined], [2, 0], [1, 5]),
  attributes,
});

const standardEntry: fc.Arbitrary<SendEntry> = fc.record({
  body,
  groupId: among<string | undefined>([6, undefined], [1, 'g1']),
  deduplicationId: among<string | undefined>([40, undefined], [1, 'a']),
  delaySeconds: among<number | undefined>([8, undefined], [2, 0], [2, 1], [2, 5], [1, 900]),
});

function receive(): fc.Arbitrary<Command> {
  return ofQueue((isFifo, queue) =>
    fc.record({
      type: fc.constant('receive' as const),
      queue: fc.constant(queue),
      count: among<number | undefined>([3, undefined], [3, 2], [3, 3], [1, 5], [4, 10]),
      visibilitySeconds: among<number | undefined>(
        [6, undefined],
        [3, 0],
        [3, 1],
        [3, 10],
        [1, 30],
        [1, 43_200],
      ),
      waitSeconds: among<number | undefined>([4, undefined], [1, 0], [1, 20]),
      attemptId: isFifo
        ? among<string | undefined>([5, undefined], [3, 't1'], [2, 't2'])
        : among<string | undefined>([40, undefined], [1, 't1']),
    }),
  );
}

const handle = some<string | undefined>(
  [30, fc.nat({ max: 4 }).map((back) => `$${back}`)],
  [15, fc.nat({ max: 30 }).map((back) => `$${back}`)],
  [3, fc.nat({ max: 10 }).map((back) => `$$${back}`)],
  [1, fc.constant('nonsense')],
  [1, fc.constant(undefined)],
);

function deleteMessages(): fc.Arbitrary<Command> {
  return ofQueue((_, queue) =>
    entriesOf(fc.record({ receiptHandle: handle })).map((rest) => ({
      type: 'delete-messages',
      queue,
      ...rest,
    })),
  );
}

function changeVisibility(): fc.Arbitrary<Command> {
  const visibilitySeconds = among<number | undefined>(
    [6, 0],
    [3, 1],
    [3, 10],
    [2, 30],
    [2, 400],
    [2, 43_200],
  );
  return ofQueue((_, queue) =>
    entriesOf(fc.record({ receiptHandle: handle, visibilitySeconds })).map((rest) => ({
      type: 'change-visibility',
      queue,
      ...rest,
    })),
  );
}

function clock(): fc.Arbitrary<ClockStep> {
  const plain = among(
    [4, 1],
    [4, 500],
    [4, 1000],
    [3, 5000],
    [3, 10_000],
    [2, 30_000],
    [2, 60_000],
    [1, 299_999],
    [1, 300_000],
    [1, 3_600_000],
  ).map((addMs) => ({ type: 'clock' as const, addMs }));
  const aimed = fc.record({
    type: fc.constant('clock' as const),
    until: among<DeadlineKind>(
      [12, 'visible'],
      [6, 'window'],
      [3, 'attempt'],
      [3, 'task'],
      [2, 'retention'],
      [1, 'name'],
      [1, 'purge'],
    ),
    nth: among([6, 0], [2, 1], [1, 2], [1, 5]),
    offsetMs,
  });
  return some<ClockStep>([1, plain], [2, aimed]);
}

function setAttributes(): fc.Arbitrary<Command> {
  const either = (name: string, ...values: string[]) =>
    fc.constantFrom(...values).map((value) => ({ [name]: value }));
  const shared = [
    either('VisibilityTimeout', '30', '0', '1', '10', '43200'),
    either('DelaySeconds', '0', '1', '5', '900'),
    either('MessageRetentionPeriod', '345600', '60', '120', '1209600'),
    either('ReceiveMessageWaitTimeSeconds', '0', '20'),
    fc
      .record({ target: fc.constantFrom(...queueNames), count: fc.constantFrom(1, 2, 3) })
      .map(({ target, count }) => ({ RedrivePolicy: redrive(target, count) })),
    fc.constant({ RedrivePolicy: '' }),
  ];
  const fifo = [
    either('ContentBasedDeduplication', 'true', 'false'),
    either('DeduplicationScope', 'messageGroup', 'queue'),
    either('DeduplicationIntervalSeconds', '300', '1', '5', '60', '1000'),
    either('Profile', 'yandex', 'aws'),
  ];
  return ofQueue((isFifo, queue) =>
    fc
      .oneof(...shared, ...(isFifo ? [...fifo, ...fifo] : []))
      .map((attributes) => set(queue, attributes as Record<string, string>)),
  );
}

function moveTask(): fc.Arbitrary<Command> {
  const source = among([6, 'dead.fifo'], [6, 'dead'], [4, 'loop.fifo'], [1, 'orders.fifo']);
  const start = fc.record({
    type: fc.constant('start-move-task' as const),
    sourceArn: source.map(arnOf),
    destinationArn: some<string | undefined>(
      [3, fc.constant(undefined)],
      [2, fc.constantFrom(...queueNames).map(arnOf)],
    ),
    perSecond: among<number | undefined>([3, undefined], [2, 1], [1, 3], [1, 500]),
  });
  const cancel = fc.record({
    type: fc.constant('cancel-move-task' as const),
    taskId: among([6, '$0'], [1, '$1'], [1, '$$0'], [1, 'unknown']),
    sourceArn: source.map(arnOf),
  });
  return some<Command>([4, start], [1, cancel]);
}

function queueLife(): fc.Arbitrary<Command> {
  return ofQueue((isFifo, queue) =>
    some<Command>(
      [3, fc.constant({ type: 'purge-queue', queue })],
      [3, fc.constant({ type: 'forget-window', queue })],
      [1, fc.constant({ type: 'delete-queue', queue })],
      [4, fc.constant(create(queue, isFifo ? { FifoQueue: 'true' } : {}))],
      [
        1,
        fc.constant(create(queue, { ...(isFifo ? { FifoQueue: 'true' } : {}), DelaySeconds: '5' })),
      ],
    ),
  );
}
