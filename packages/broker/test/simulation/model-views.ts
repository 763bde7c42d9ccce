/**
 * The read-only part of the reference model: the commands that change nothing (counts, peek, explain, tasks), and the list
 * of moments at which time alone will change something. The clock steps of a simulation aim at those moments.
 */

import type { Command, CommandOf } from '../../src/core/commands.ts';
import { refuse } from '../../src/core/errors.ts';
import { attemptMs, moveTaskMs } from '../../src/core/limits.ts';
import {
  arnOf,
  availableAt,
  done,
  type Model,
  ms,
  nextMoveAt,
  type Queue,
  type Result,
  type WindowEntry,
  windowMs,
} from './model.ts';

export type DeadlineKind =
  | 'visible'
  | 'retention'
  | 'window'
  | 'attempt'
  | 'name'
  | 'purge'
  | 'task';

export interface Deadline {
  readonly at: number;
  readonly kind: DeadlineKind;
}

/** The model's answer to any command, read-only or not. */
export function answer(model: Model, command: Command, now: number): Result {
  model.advance(now);
  const isAboutTasks = command.type === 'list-move-tasks';
  if (isAboutTasks) {
    const source = model.queues.find((it) => arnOf(it.name) === command.sourceArn);
    if (source === undefined) return refuse('move-source-unknown');
    return done({ tasks: source.tasks.slice(0, command.limit ?? 1) });
  }
  const queue = 'queue' in command ? model.find(command.queue) : undefined;
  if (queue === undefined) return model.apply(command, now);
  if (command.type === 'get-attributes') return attributes(model, queue);
  if (command.type === 'describe-queue') return describeQueue(model, queue);
  if (command.type === 'peek-messages') return peek(model, queue, command);
  if (command.type === 'explain') return explain(queue, command);
  return model.apply(command, now);
}

/** Counters (6.6), and what was set. */
function attributes(model: Model, queue: Queue): Result {
  return done({
    attributes: {
      ...queue.attributes,
      QueueArn: arnOf(queue.name),
      ApproximateNumberOfMessages: String(model.inState(queue, 'visible').length),
      ApproximateNumberOfMessagesNotVisible: String(model.inState(queue, 'in-flight').length),
      ApproximateNumberOfMessagesDelayed: String(model.inState(queue, 'delayed').length),
    },
  });
}

function describeQueue(model: Model, queue: Queue): Result {
  return done({
    isFifo: queue.isFifo,
    visible: model.inState(queue, 'visible').length,
    inFlight: model.inState(queue, 'in-flight').length,
    delayed: model.inState(queue, 'delayed').length,
    groups: queue.isFifo ? new Set(queue.messages.map((it) => it.groupId)).size : 0,
    blockedGroups: queue.isFifo ? blockedGroups(model, queue) : 0,
    windowEntries: queue.window.length,
    oldestSentAt: queue.messages.map((it) => it.sentAt).sort((a, b) => a - b)[0],
  });
}

function blockedGroups(model: Model, queue: Queue): number {
  const heads = new Map(queue.messages.toReversed().map((it) => [it.groupId, it]));
  return [...heads.values()].filter((it) => model.stateOf(queue, it) !== 'visible').length;
}

function peek(model: Model, queue: Queue, command: CommandOf<'peek-messages'>): Result {
  const { groupId, limit } = command;
  const asked = queue.messages.filter((it) => groupId === undefined || it.groupId === groupId);
  const messages = asked.slice(0, limit).map((it) => {
    const state = model.stateOf(queue, it);
    return { ...it, state, visibleAt: state === 'visible' ? undefined : availableAt(queue, it) };
  });
  return done({ messages });
}

/** The entry that a send with this id, to this group, would match; without an id the newest entries. */
function explain(queue: Queue, command: CommandOf<'explain'>): Result {
  const { deduplicationId, groupId, limit } = command;
  const isWide = queue.attributes['DeduplicationScope'] === 'queue';
  const met = queue.window.find(
    (it) => it.deduplicationId === deduplicationId && (isWide || it.groupId === groupId),
  );
  const newest = queue.window.toReversed().slice(0, limit);
  const chosen = deduplicationId === undefined ? newest : met === undefined ? [] : [met];
  const ending = (it: WindowEntry) => ({ ...it, expiresAt: it.acceptedAt + windowMs(queue) });
  return done({ entries: chosen.map(ending) });
}

/** Every moment from now on at which time alone changes something, in order. */
export function deadlines(model: Model): Deadline[] {
  const found: Deadline[] = [];
  for (const [name, at] of model.deletedAt) {
    if (model.find(name) === undefined) {
      found.push({ at: at + model.limits.nameReuseMs, kind: 'name' });
    }
  }
  for (const queue of model.queues) {
    found.push({ at: queue.purgedAt + model.limits.purgeIntervalMs, kind: 'purge' });
    for (const message of queue.messages) {
      found.push({ at: availableAt(queue, message), kind: 'visible' });
      found.push({ at: message.sentAt + ms(queue, 'MessageRetentionPeriod'), kind: 'retention' });
    }
    for (const { acceptedAt } of queue.window) {
      found.push({ at: acceptedAt + windowMs(queue), kind: 'window' });
    }
    for (const { receivedAt } of queue.attempts) {
      found.push({ at: receivedAt + attemptMs, kind: 'attempt' });
    }
    for (const task of queue.tasks.filter(({ status }) => status === 'RUNNING')) {
      found.push({ at: Math.max(nextMoveAt(task), model.now), kind: 'task' });
      found.push({ at: task.startedAt + moveTaskMs, kind: 'task' });
    }
  }
  return found.filter(({ at }) => at >= model.now).sort((a, b) => a.at - b.at);
}
