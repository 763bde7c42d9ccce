/**
 * The steps of a simulation, as plain data that fast-check can shrink and people can read: engine commands, moves of
 * the clock, and a look at everything.
 *
 * A command cannot know the handles of a run that has not happened, so it refers to them: `$2` is the third newest
 * receipt handle (or task) of its own queue, `$$2` that of all queues together; `References` puts the real ones in.
 */

import type { Command, Outcome } from '../../src/core/commands.ts';
import { arnOf } from './model.ts';
import type { DeadlineKind } from './model-views.ts';

export type ClockStep =
  | { readonly type: 'clock'; readonly addMs: number }
  /** To the nth next deadline of this kind, plus an offset; stays where it is if there is none. */
  | {
      readonly type: 'clock';
      readonly until: DeadlineKind;
      readonly nth: number;
      readonly offsetMs: number;
    };

export type Step = Command | ClockStep | { readonly type: 'look' };

export interface Scenario {
  readonly inFlightMax: number;
  readonly steps: readonly Step[];
}

export const queueNames = ['orders.fifo', 'dead.fifo', 'loop.fifo', 'tasks', 'dead'] as const;

/** How every scenario starts: a queue of each kind with a dead-letter queue, and one that is its own. */
export const prologue: readonly Command[] = [
  create('dead'),
  create('dead.fifo', { FifoQueue: 'true' }),
  create('tasks'),
  create('orders.fifo', { FifoQueue: 'true', ContentBasedDeduplication: 'true' }),
  create('loop.fifo', {
    FifoQueue: 'true',
    ContentBasedDeduplication: 'true',
    Profile: 'yandex',
  }),
  set('tasks', { RedrivePolicy: redrive('dead', 2) }),
  set('orders.fifo', { RedrivePolicy: redrive('dead.fifo', 2) }),
  set('loop.fifo', { RedrivePolicy: redrive('loop.fifo', 1) }),
];

/** A step in one line; absent parameters are left out. */
export function describeStep({ type, ...rest }: Step): string {
  return `${type} ${JSON.stringify(rest)}`;
}

/** The receipt handles and tasks that a run has seen, for the commands that refer to them. */
export class References {
  readonly #handles = new Map<string, string[]>();
  readonly #tasks = new Map<string, string[]>();

  resolve(command: Command): Command {
    if (command.type === 'cancel-move-task') {
      const { taskId, sourceArn = '' } = command;
      return { ...command, taskId: pick(taskId, this.#tasks, sourceArn) };
    }
    if (command.type === 'delete-messages') {
      return { ...command, entries: this.#resolveEntries(command.queue, command.entries) };
    }
    if (command.type === 'change-visibility') {
      return { ...command, entries: this.#resolveEntries(command.queue, command.entries) };
    }
    return command;
  }

  learn(command: Command, outcome: Outcome): void {
    if (command.type === 'receive' && 'messages' in outcome) {
      for (const message of outcome.messages) {
        if ('receiptHandle' in message)
          remember(this.#handles, command.queue, message.receiptHandle);
      }
    }
    if (command.type === 'start-move-task' && 'taskId' in outcome) {
      remember(this.#tasks, outcome.sourceArn, outcome.taskId);
    }
  }

  #resolveEntries<E extends { readonly receiptHandle?: string | undefined }>(
    queue: string,
    entries: readonly E[],
  ): E[] {
    return entries.map((entry) => ({
      ...entry,
      receiptHandle: pick(entry.receiptHandle, this.#handles, queue),
    }));
  }
}

function remember(known: Map<string, string[]>, owner: string, name: string): void {
  const names = known.get(owner) ?? [];
  if (!names.includes(name)) names.push(name);
  known.set(owner, names);
}

function pick(reference: string | undefined, known: Map<string, string[]>, owner: string) {
  const [, dollars, back] = /^(\$+)(\d+)$/.exec(reference ?? '') ?? [];
  if (dollars === undefined) return reference;
  const names = dollars === '$' ? (known.get(owner) ?? []) : [...known.values()].flat();
  return names.length === 0 ? 'nothing yet' : names.at(-1 - (Number(back) % names.length));
}

export function create(queue: string, attributes: Record<string, string> = {}): Command {
  return { type: 'create-queue', queue, attributes };
}

export function set(queue: string, attributes: Record<string, string>): Command {
  return { type: 'set-attributes', queue, attributes };
}

export function redrive(queue: string, maxReceiveCount: number): string {
  return JSON.stringify({ deadLetterTargetArn: arnOf(queue), maxReceiveCount });
}
