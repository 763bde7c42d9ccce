/**
 * Lets an engine fail in the middle of a command: while it is armed, a given call throws, before it begins or after it has
 * ended. The calls are those of the turn, of queues and topics and of all that they consist of, and every push, so also those of
 * changes and events.
 *
 * What queues and topics share changes in one step, in which nothing fails: the agenda, and the lists of queues and topics.
 */

import { DeduplicationWindow } from '../../src/core/deduplication/window.ts';
import { Attempts } from '../../src/core/queue/attempts.ts';
import { MessageGroups } from '../../src/core/queue/message-groups.ts';
import { MessageTable } from '../../src/core/queue/message-table.ts';
import { MovedMessages } from '../../src/core/queue/moved-messages.ts';
import { Queue } from '../../src/core/queue/queue.ts';
import { Queues } from '../../src/core/queue/queues.ts';
import { ReadyMessages } from '../../src/core/queue/ready-messages.ts';
import { Visibility } from '../../src/core/queue/visibility.ts';
import { Deadlines } from '../../src/core/structures/deadlines.ts';
import { Archive } from '../../src/core/topic/archive.ts';
import { HttpDeliveries } from '../../src/core/topic/http-deliveries.ts';
import { Subscriptions } from '../../src/core/topic/subscriptions.ts';
import { Topic } from '../../src/core/topic/topic.ts';
import { Topics } from '../../src/core/topic/topics.ts';
import { Transaction } from '../../src/core/transaction.ts';

const failing = [
  Transaction,
  Queue,
  Topic,
  MessageTable,
  MessageGroups,
  ReadyMessages,
  Visibility,
  DeduplicationWindow,
  Attempts,
  MovedMessages,
  Archive,
  HttpDeliveries,
  Subscriptions,
].map(({ prototype }) => methodsOf(prototype));

const whole = [
  methodsOf(Deadlines.prototype),
  methodsOf(Queues.prototype, ['put', 'remove', 'takeName']),
  methodsOf(Topics.prototype, ['put', 'remove']),
];

type Method = (...args: unknown[]) => unknown;

/** Thrown where nothing throws by itself. */
export class Fault extends Error {}

export class Faults {
  /** How many calls are left until one throws. */
  #left = Number.POSITIVE_INFINITY;
  readonly #undo: (() => void)[] = [];

  constructor() {
    const wraps = (method: Method, self: unknown, args: unknown[]): unknown => {
      this.#count();
      const result = Reflect.apply(method, self, args);
      this.#count();
      return result;
    };
    for (const { prototype, names } of [...failing, methodsOf(Array.prototype, ['push'])]) {
      this.#replace(prototype, names, wraps);
    }
    for (const { prototype, names } of whole) {
      this.#replace(prototype, names, (method, self, args) => {
        const left = this.#left;
        this.#left = Number.POSITIVE_INFINITY;
        const result = Reflect.apply(method, self, args);
        this.#left = left;
        return result;
      });
    }
  }

  /** Runs it with a fault at the n-th count, if it comes so far: each call counts when it begins and when it ends. */
  during<T>(n: number, run: () => T): T {
    this.#left = n;
    try {
      return run();
    } finally {
      this.#left = Number.POSITIVE_INFINITY;
    }
  }

  /** Gives every method back its own code. */
  end(): void {
    for (const undo of this.#undo) undo();
  }

  #count(): void {
    this.#left -= 1;
    if (this.#left > 0) return;
    this.#left = Number.POSITIVE_INFINITY;
    throw new Fault('a planted fault');
  }

  #replace(
    prototype: object,
    names: readonly string[],
    wrap: (method: Method, self: unknown, args: unknown[]) => unknown,
  ): void {
    for (const name of names) {
      const own = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
      const method = own.value as Method;
      Object.defineProperty(prototype, name, {
        ...own,
        value(this: unknown, ...args: unknown[]) {
          return wrap(method, this, args);
        },
      });
      this.#undo.push(() => Object.defineProperty(prototype, name, own));
    }
  }
}

function methodsOf(prototype: object, names: readonly string[] = namesOf(prototype)): Methods {
  return { prototype, names };
}

interface Methods {
  readonly prototype: object;
  readonly names: readonly string[];
}

function namesOf(prototype: object): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(prototype))
    .filter(([name, { value }]) => name !== 'constructor' && typeof value === 'function')
    .map(([name]) => name);
}
