/**
 * The engine's single entry point: `apply(command, { now, ids })` returns the outcome, the changes to keep and the events.
 * It is synchronous and deterministic: no I/O, no clock, no randomness. The same commands at the same times with the same
 * ids give the same answers, byte for byte.
 *
 * A tick removes a bounded number of expired entries and leaves the rest due; every other command first removes all that has
 * expired from the queues and topics it concerns, so no answer ever depends on where a tick stopped. Whoever feeds the engine
 * keeps commands short by letting them wait while `isBehind` says that the last tick left something there.
 *
 * A command that throws, which only a mistake here makes it do, may leave the queues and topics that it concerns half changed.
 * `CommandFailed` names them; whoever keeps their entries drops and loads them again.
 *
 * State is its changes. `absorb` brings an engine into the same state as applying the commands that made the changes;
 * absorbing all kept entries loads an engine; `drop` forgets a single queue or topic. `touches` tells in advance which
 * queues and topics a command may read the contents of, or change. The list of queues and topics, their settings and
 * their subscriptions are assumed to be available everywhere.
 */

import type { Realm } from './arn.ts';
import { type Change, ownerOf, type QueueChange, topicIn, topicOwner } from './changes.ts';
import type { QueueCommand as AnyQueueCommand, Command, Outcome } from './commands.ts';
import { refuse } from './errors.ts';
import type { Event } from './events.ts';
import { type Limits, strictLimits } from './limits.ts';
import { changeVisibility, deleteMessages } from './queue/acknowledge.ts';
import type { Profile } from './queue/attributes.ts';
import { countSends, describeQueue, explain, listGroups, peekMessages } from './queue/inspect.ts';
import {
  cancelMoveTask,
  destinationsOf,
  listMoveTasks,
  type Neighbours,
  progressMoveTask,
  startMoveTask,
} from './queue/move-task.ts';
import { addPermission, removePermission } from './queue/permissions.ts';
import { forgetWindow, purgeQueue } from './queue/purge.ts';
import type { Queue } from './queue/queue.ts';
import { Catalogue } from './queue/queues.ts';
import { receive } from './queue/receive.ts';
import { send } from './queue/send.ts';
import { tagQueue, untagQueue } from './queue/tags.ts';
import { Deadlines } from './structures/deadlines.ts';
import { type DuePost, type DueReplay, isTopicCommand } from './topic/commands.ts';
import type { Signer } from './topic/envelope.ts';
import type { Judge } from './topic/fan-out.ts';
import { duePosts } from './topic/http-delivery.ts';
import { dueReplays } from './topic/replay.ts';
import { Topic } from './topic/topic.ts';
import { Topics } from './topic/topics.ts';
import { CommandFailed, type Context, type Deliveries, type Touched, Turn } from './transaction.ts';

export { CommandFailed, type Context, type Ids } from './transaction.ts';

export interface EngineOptions {
  /** Default us-east-1. */
  readonly region?: string;
  /** Default 000000000000. */
  readonly account?: string;
  /** Default: what Amazon does. */
  readonly limits?: Limits;
  /** The profile of new FIFO queues that do not set one. Default aws. */
  readonly profile?: Profile;
  /** Whether a queue's policy must allow a topic to send to it. Default false. */
  readonly arePoliciesEnforced?: boolean;
  /** Signs what standard topics send; without a signer nothing is signed. */
  readonly signer?: Signer | undefined;
  /** Judges what topics bring to queues; without one nothing is judged. */
  readonly judge?: Judge | undefined;
}

export interface Applied<T extends Command['type']> {
  readonly outcome: Outcome<T>;
  readonly changes: readonly Change[];
  readonly events: readonly Event[];
  /** What became of publications, for counting. */
  readonly deliveries: readonly Deliveries[];
}

type QueueCommand = Extract<AnyQueueCommand, { readonly queue: string }>;

const nobody: readonly Touched[] = [];

export class Engine {
  readonly #realm: Realm;
  readonly #limits: Limits;
  readonly #catalogue: Catalogue;
  readonly #topics: Topics;
  /** By owner: queues and topics. */
  readonly #agenda: Deadlines = new Deadlines();
  readonly #neighbours: Neighbours;

  constructor(options: EngineOptions = {}) {
    const { region = 'us-east-1', account = '000000000000', limits = strictLimits } = options;
    const { profile = 'aws' } = options;
    this.#realm = { region, account };
    this.#limits = limits;
    this.#catalogue = new Catalogue(this.#realm, limits, profile);
    this.#topics = new Topics(this.#realm, {
      realm: this.#realm,
      queue: (name) => this.#catalogue.get(name),
      arePoliciesEnforced: options.arePoliciesEnforced ?? false,
      signer: options.signer,
      judge: options.judge,
    });
    this.#neighbours = {
      queueOf: (arn) => this.#catalogue.queueOf(arn),
      hasDeadLetterQueue: (arn) =>
        this.#some((queue) => queue.settings.deadLetter?.targetArn === arn),
      activeTasks: () => this.#runningTasks(),
    };
  }

  apply<C extends Command>(command: C, context: Context): Applied<C['type']> {
    const turn = new Turn(context);
    try {
      const outcome = this.#run(command, turn) as Outcome<C['type']>;
      this.#finish(turn);
      const { changes, events, deliveries } = turn;
      return { outcome, changes, events, deliveries };
    } catch (cause) {
      throw new CommandFailed(command.type, turn, cause);
    }
  }

  /** The earliest time at which a `tick` would do something; undefined if nothing is waiting for time to pass. */
  nextDueAt(): number | undefined {
    const due = this.#agenda.first();
    const free = this.#catalogue.nextFreeAt();
    return due === undefined || free === undefined ? (due ?? free) : Math.min(due, free);
  }

  /** Puts off what a tick would do with this queue or topic, until the time comes or another command concerns it. */
  postpone(owner: string, until: number): void {
    if (this.#at(owner) !== undefined) this.#agenda.set(owner, until);
  }

  /**
   * The queues and topics (`ownerOf`) that the command may read the contents of, or change, if it is applied now. Limits that
   * span queues or topics are not among their contents: they are counted in settings and subscriptions.
   */
  touches(command: Command, now: number): readonly string[] {
    if (isTopicCommand(command)) return this.#topics.touches(command);
    switch (command.type) {
      case 'tick':
        return this.#touchedByTick(now);
      case 'start-move-task':
      case 'cancel-move-task':
      case 'list-move-tasks': {
        const source = this.#catalogue.queueOf(command.sourceArn ?? '');
        return source === undefined ? [] : [source.name];
      }
      case 'receive': {
        const queue = this.#catalogue.get(command.queue);
        const target = queue === undefined ? undefined : this.#deadLetterQueueOf(queue);
        return target === undefined ? [command.queue] : [command.queue, target.name];
      }
      case 'list-queues':
      case 'find-queue':
        return [];
      default: {
        const { queue } = command;
        if (queue === undefined) return [];
        const isThere = this.#catalogue.get(queue) !== undefined;
        // Of one that is there, only the settings are compared.
        return isThere && command.type === 'create-queue' ? [] : [queue];
      }
    }
  }

  /** Whether a queue or topic that the command concerns still has something that had expired by this time. */
  isBehind(command: Command, time: number): boolean {
    return this.touches(command, time).some((owner) => this.#at(owner)?.hasExpired(time) === true);
  }

  /** Takes over the changes of another engine, or loads kept entries. */
  absorb(changes: Iterable<Change>, now: number): void {
    const touched = new Set<string>();
    for (const change of changes) {
      if ('topic' in change) this.#topics.absorb(change);
      else this.#absorbOne(change, now);
      touched.add(ownerOf(change));
    }
    for (const owner of touched) this.#reschedule(owner);
  }

  /** Forgets one queue or topic in memory. This is no change: its kept entries load it again. */
  drop(owner: string): void {
    const topic = topicIn(owner);
    if (topic !== undefined) {
      this.#topics.remove(topic);
    } else {
      this.#catalogue.remove(owner);
      this.#catalogue.takeName(owner, null);
    }
    this.#reschedule(owner);
  }

  #run(command: Command, turn: Turn): Outcome {
    switch (command.type) {
      // The hot path skips the test for topic commands.
      case 'send':
      case 'receive':
      case 'delete-messages':
        return this.#runOnQueue(command, turn);
      default:
        return isTopicCommand(command)
          ? this.#topics.run(command, turn)
          : this.#runOther(command, turn);
    }
  }

  #runOther(command: AnyQueueCommand, turn: Turn): Outcome {
    switch (command.type) {
      case 'create-queue':
        return this.#catalogue.create(command, turn);
      case 'find-queue':
        return this.#catalogue.find(command);
      case 'list-queues':
        return this.#catalogue.list(command);
      case 'start-move-task':
        return startMoveTask(command, this.#neighbours, turn);
      case 'cancel-move-task':
        return cancelMoveTask(command, this.#neighbours, turn);
      case 'list-move-tasks':
        return listMoveTasks(command, this.#neighbours);
      case 'tick':
        return this.#tick(turn);
      default:
        return this.#runOnQueue(command, turn);
    }
  }

  #runOnQueue(command: QueueCommand, turn: Turn): Outcome {
    const queue = this.#catalogue.get(command.queue);
    if (queue === undefined) return refuse('queue-missing');
    queue.advance(turn);
    return this.#runOn(queue, command, turn);
  }

  #runOn(queue: Queue, command: QueueCommand, turn: Turn): Outcome {
    switch (command.type) {
      case 'send':
        return send(queue, command, turn);
      case 'receive': {
        const deadLetterQueue = this.#deadLetterQueueOf(queue);
        return receive(queue, command, { limits: this.#limits, deadLetterQueue }, turn);
      }
      case 'delete-messages':
        return deleteMessages(queue, command, turn);
      case 'change-visibility':
        return changeVisibility(queue, command, turn);
      case 'delete-queue':
        return this.#catalogue.delete(queue, turn);
      case 'get-attributes':
        return this.#catalogue.getAttributes(queue, command);
      case 'set-attributes':
        return this.#catalogue.setAttributes(queue, command, turn);
      case 'tag-queue':
        return tagQueue(queue, command, turn);
      case 'untag-queue':
        return untagQueue(queue, command, turn);
      case 'list-tags':
        return { ok: true, tags: queue.kept.tags };
      case 'add-permission':
        return addPermission(queue, command, turn);
      case 'remove-permission':
        return removePermission(queue, command, turn);
      case 'purge-queue':
        return purgeQueue(queue, this.#limits, turn);
      case 'list-dead-letter-sources':
        return this.#catalogue.listSourcesOf(queue, command);
      case 'describe-queue':
        return describeQueue(queue);
      case 'peek-messages':
        return peekMessages(queue, command);
      case 'list-groups':
        return listGroups(queue, command);
      case 'count-sends':
        return countSends(queue, command, turn.now);
      case 'explain':
        return explain(queue, command);
      case 'forget-window':
        return forgetWindow(queue, turn);
    }
  }

  #tick(turn: Turn): Outcome<'tick'> {
    const posts: DuePost[] = [];
    const replays: DueReplay[] = [];
    const due = this.#agenda.dueBy(turn.now).map((owner) => this.#at(owner) as Queue | Topic);
    let room = this.#limits.expiredPerTickMax;
    let sharing = due.filter((owner) => owner.hasExpired(turn.now)).length;
    let isUnfinished = false;
    for (const owner of due) {
      turn.working = owner instanceof Topic ? topicOwner(owner.name) : owner.name;
      // Each has an equal share of the room: one with millions of entries to remove holds up no other.
      const removed = owner.advance(turn, Math.ceil(room / Math.max(sharing, 1)));
      room -= removed;
      if (removed > 0) sharing -= 1;
      if (owner.hasExpired(turn.now)) {
        // What else is due here, a task or a replay, must not find what has expired.
        isUnfinished = true;
      } else if (owner instanceof Topic) {
        posts.push(...duePosts(owner, turn));
        replays.push(...dueReplays(owner, turn));
      } else {
        progressMoveTask(owner, this.#neighbours, turn);
      }
    }
    turn.working = undefined;
    this.#catalogue.freeNames(turn);
    return { ok: true, posts, replays, isUnfinished };
  }

  #touchedByTick(now: number): string[] {
    const names = new Set<string>(this.#catalogue.freedBy(now));
    for (const name of this.#agenda.dueBy(now)) {
      names.add(name);
      if (topicIn(name) !== undefined) continue;
      for (const arn of destinationsOf(this.#catalogue.get(name) as Queue)) {
        const destination = this.#catalogue.queueOf(arn);
        if (destination !== undefined) names.add(destination.name);
      }
    }
    return [...names];
  }

  /** Keeps counters and the agenda in step with what the command did to each queue and topic. */
  #finish(turn: Turn): void {
    const { touched, otherTouched, touchedTopics } = turn;
    if (touched !== undefined) this.#finishQueue(touched, turn);
    for (const queue of otherTouched ?? nobody) this.#finishQueue(queue, turn);
    for (const topic of touchedTopics ?? nobody) this.#finishTopic(topic, turn);
  }

  #finishQueue(queue: Touched, turn: Turn): void {
    const isThere = this.#catalogue.get(queue.name) === queue;
    if (isThere) queue.keepCounter(turn);
    this.#agenda.set(queue.name, isThere ? queue.nextDueAt() : undefined);
  }

  #finishTopic(topic: Touched, turn: Turn): void {
    const isThere = this.#topics.get(topic.name) === topic;
    if (isThere) topic.keepCounter(turn);
    this.#agenda.set(topicOwner(topic.name), isThere ? topic.nextDueAt() : undefined);
  }

  #reschedule(owner: string): void {
    this.#agenda.set(owner, this.#at(owner)?.nextDueAt());
  }

  #at(owner: string): Queue | Topic | undefined {
    const topic = topicIn(owner);
    return topic === undefined ? this.#catalogue.get(owner) : this.#topics.get(topic);
  }

  #absorbOne(change: QueueChange, now: number): void {
    const queue = this.#catalogue.get(change.queue);
    if (change.kind === 'name') this.#catalogue.takeName(change.queue, change.value);
    else if (queue !== undefined && !(change.kind === 'queue' && change.value === null)) {
      queue.absorb(change, now);
    } else if (change.kind === 'queue') {
      if (change.value === null) this.#catalogue.remove(change.queue);
      else this.#catalogue.put(change.queue, change.value);
    }
  }

  #deadLetterQueueOf(queue: Queue): Queue | undefined {
    const arn = queue.settings.deadLetter?.targetArn;
    return arn === undefined ? undefined : this.#catalogue.queueOf(arn);
  }

  #runningTasks(): number {
    let count = 0;
    for (const { kept } of this.#catalogue.all()) if (kept.isMoving === true) count += 1;
    return count;
  }

  #some(test: (queue: Queue) => boolean): boolean {
    for (const queue of this.#catalogue.all()) if (test(queue)) return true;
    return false;
  }
}
