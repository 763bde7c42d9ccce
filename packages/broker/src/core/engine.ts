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
 * their subscriptions (the catalog) are assumed to be available everywhere.
 *
 * An engine can also hold some queues and topics without their contents: `learn` tells it their settings, `unload` forgets
 * the contents of one. Nothing falls due there, and only commands that do not touch them may be applied.
 */

import type { Realm } from './arn.ts';
import {
  type Change,
  catalog,
  isSetting,
  type KeptQueue,
  ownerOf,
  type QueueChange,
  type QueueSize,
  topicIn,
  topicOwner,
} from './changes.ts';
import type {
  QueueCommand as AnyQueueCommand,
  Command,
  CommandOf,
  Outcome,
  QueueDescription,
} from './commands.ts';
import { Drifted } from './drifted.ts';
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
  type OtherQueues,
  progressMoveTask,
  startMoveTask,
} from './queue/move-task.ts';
import { addPermission, removePermission } from './queue/permissions.ts';
import { forgetWindow, purgeQueue } from './queue/purge.ts';
import type { Queue } from './queue/queue.ts';
import { Queues } from './queue/queues.ts';
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
import { CommandFailed, type Context, type TouchedOwner, Transaction } from './transaction.ts';

export { Drifted } from './drifted.ts';
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
}

type QueueCommand = Extract<AnyQueueCommand, { readonly queue: string }>;

const nobody: readonly TouchedOwner[] = [];

/** Commands on a queue that may change its settings; purging notes its time there. */
const changesSettings: ReadonlySet<Command['type']> = new Set<Command['type']>([
  'delete-queue',
  'set-attributes',
  'tag-queue',
  'untag-queue',
  'add-permission',
  'remove-permission',
  'purge-queue',
]);

export class Engine {
  readonly #realm: Realm;
  readonly #limits: Limits;
  readonly #queues: Queues;
  readonly #topics: Topics;
  /** By owner: queues and topics. */
  readonly #deadlines: Deadlines = new Deadlines();
  readonly #otherQueues: OtherQueues;

  constructor(options: EngineOptions = {}) {
    const { region = 'us-east-1', account = '000000000000', limits = strictLimits } = options;
    const { profile = 'aws' } = options;
    this.#realm = { region, account };
    this.#limits = limits;
    this.#queues = new Queues(this.#realm, limits, profile);
    this.#topics = new Topics(this.#realm, {
      realm: this.#realm,
      queue: (name) => this.#queues.get(name),
      arePoliciesEnforced: options.arePoliciesEnforced ?? false,
      signer: options.signer,
      judge: options.judge,
    });
    this.#otherQueues = {
      queueOf: (arn) => this.#queues.queueOf(arn),
      hasDeadLetterQueue: (arn) =>
        this.#some((queue) => queue.settings.deadLetter?.targetArn === arn),
      activeTasks: () => this.#runningTasks(),
    };
  }

  apply<C extends Command>(command: C, context: Context): Applied<C['type']> {
    const tx = new Transaction(context);
    try {
      const outcome = this.#run(command, tx) as Outcome<C['type']>;
      this.#finish(tx);
      return { outcome, changes: tx.changes, events: tx.events };
    } catch (cause) {
      throw new CommandFailed(command.type, tx, cause);
    }
  }

  /** The earliest time at which a `tick` would do something; undefined if nothing is waiting for time to pass. */
  nextDueAt(): number | undefined {
    const due = this.#deadlines.first();
    const free = this.#queues.nextFreeAt();
    return due === undefined || free === undefined ? (due ?? free) : Math.min(due, free);
  }

  /** The same for one queue or topic. */
  dueAt(owner: string): number | undefined {
    return this.#deadlines.timeOf(owner);
  }

  /** What a queue holds, as 'describe-queue' tells it; undefined for what is no queue. */
  held(owner: string): QueueDescription | undefined {
    const queue = this.#queues.get(owner);
    return queue && describeQueue(queue);
  }

  /** What a tick would do something with; the catalog stands for names that are free again. */
  dueBy(now: number): string[] {
    const due = this.#deadlines.dueBy(now);
    return this.#queues.freedBy(now).length === 0 ? due : [...due, catalog];
  }

  /** Makes room in an empty queue for what is loaded into it next: a hint, which changes no state. */
  reserve(queue: string, size: QueueSize): void {
    this.#queues.get(queue)?.reserve(size);
  }

  /** Puts off what a tick would do with this queue or topic, until the time comes or another command concerns it. */
  postpone(owner: string, until: number): void {
    if (this.#at(owner) !== undefined) this.#deadlines.set(owner, until);
  }

  /**
   * The queues and topics (`ownerOf`) that the command may read the contents of, or change, if it is applied now; and the
   * catalog if it may change that. Limits that span queues or topics are counted in the catalog.
   */
  touches(command: Command, now: number): readonly string[] {
    if (isTopicCommand(command)) return this.#topics.touches(command, now);
    switch (command.type) {
      case 'tick':
        return this.#touchedByTick(now, command.owners);
      case 'list-move-tasks':
        return this.#named(command.sourceArn);
      case 'start-move-task':
      case 'cancel-move-task':
        return [...this.#named(command.sourceArn), catalog];
      case 'receive': {
        const queue = this.#queues.get(command.queue);
        const target = queue === undefined ? undefined : this.#deadLetterQueueOf(queue);
        return target === undefined ? [command.queue] : [command.queue, target.name];
      }
      case 'list-queues':
      case 'find-queue':
        return [];
      case 'create-queue': {
        const { queue } = command;
        if (queue === undefined) return [];
        // Of one that is there, only the settings are compared.
        return this.#queues.get(queue) === undefined ? [queue, catalog] : [];
      }
      default:
        return changesSettings.has(command.type) ? [command.queue, catalog] : [command.queue];
    }
  }

  /** Whether a queue or topic that the command concerns still has something that had expired by this time. */
  isBehind(command: Command, time: number): boolean {
    return this.touches(command, time).some((owner) => this.#at(owner)?.hasExpired(time) === true);
  }

  /**
   * Takes over the changes of another engine, or loads kept entries. Throws Drifted if the queue or topic is not in the
   * state in which these changes were made; then it must be loaded anew.
   */
  absorb(changes: Iterable<Change>, now: number): void {
    const touched = new Set<string>();
    for (const change of changes) {
      this.#absorbOne(change, now);
      touched.add(ownerOf(change));
    }
    for (const owner of touched) this.reschedule(owner);
  }

  /** Loads a part of a queue or topic. Nothing falls due there before `reschedule`, and no command may touch it. */
  absorbPart(changes: Iterable<Change>, now: number): void {
    for (const change of changes) this.#absorbOne(change, now);
  }

  /** What is due at this queue or topic, now that it is loaded. */
  reschedule(owner: string): void {
    this.#deadlines.set(owner, this.#at(owner)?.nextDueAt());
  }

  /** Takes over settings of queues and topics that are not loaded, and the end of any: nothing falls due there. */
  learn(settings: Iterable<Change>, now: number): void {
    for (const change of settings) {
      if (!isSetting(change)) throw new Error(`a ${change.kind} is no setting`);
      this.#absorbOne(change, now);
      const owner = ownerOf(change);
      if (this.#at(owner) === undefined) this.#deadlines.set(owner, undefined);
    }
  }

  /** Forgets the contents of one queue or topic, but not its settings: its kept entries load it again. */
  unload(owner: string): void {
    const topic = topicIn(owner);
    if (topic !== undefined) this.#topics.unload(topic);
    else {
      const queue = this.#queues.get(owner);
      if (queue !== undefined) this.#queues.put(owner, queue.kept);
    }
    this.#deadlines.set(owner, undefined);
  }

  /** Forgets one queue or topic in memory. This is no change: its kept entries load it again. */
  drop(owner: string): void {
    const topic = topicIn(owner);
    if (topic !== undefined) {
      this.#topics.remove(topic);
    } else {
      this.#queues.remove(owner);
      this.#queues.takeName(owner, null);
    }
    this.reschedule(owner);
  }

  #run(command: Command, tx: Transaction): Outcome {
    switch (command.type) {
      // The hot path skips the test for topic commands.
      case 'send':
      case 'receive':
      case 'delete-messages':
        return this.#runOnQueue(command, tx);
      default:
        return isTopicCommand(command)
          ? this.#topics.run(command, tx)
          : this.#runOther(command, tx);
    }
  }

  #runOther(command: AnyQueueCommand, tx: Transaction): Outcome {
    switch (command.type) {
      case 'create-queue':
        return this.#queues.create(command, tx);
      case 'find-queue':
        return this.#queues.find(command);
      case 'list-queues':
        return this.#queues.list(command);
      case 'start-move-task':
        return startMoveTask(command, this.#otherQueues, tx);
      case 'cancel-move-task':
        return cancelMoveTask(command, this.#otherQueues, tx);
      case 'list-move-tasks':
        return listMoveTasks(command, this.#otherQueues);
      case 'tick':
        return this.#tick(command, tx);
      default:
        return this.#runOnQueue(command, tx);
    }
  }

  #runOnQueue(command: QueueCommand, tx: Transaction): Outcome {
    const queue = this.#queues.get(command.queue);
    if (queue === undefined) return refuse('queue-missing');
    queue.advance(tx);
    return this.#runOn(queue, command, tx);
  }

  #runOn(queue: Queue, command: QueueCommand, tx: Transaction): Outcome {
    switch (command.type) {
      case 'send':
        return send(queue, command, tx);
      case 'receive': {
        const deadLetterQueue = this.#deadLetterQueueOf(queue);
        return receive(queue, command, { limits: this.#limits, deadLetterQueue }, tx);
      }
      case 'delete-messages':
        return deleteMessages(queue, command, tx);
      case 'change-visibility':
        return changeVisibility(queue, command, tx);
      case 'delete-queue':
        return this.#queues.delete(queue, tx);
      case 'get-attributes':
        return this.#queues.getAttributes(queue, command);
      case 'set-attributes':
        return this.#queues.setAttributes(queue, command, tx);
      case 'tag-queue':
        return tagQueue(queue, command, tx);
      case 'untag-queue':
        return untagQueue(queue, command, tx);
      case 'list-tags':
        return { ok: true, tags: queue.kept.tags };
      case 'add-permission':
        return addPermission(queue, command, tx);
      case 'remove-permission':
        return removePermission(queue, command, tx);
      case 'purge-queue':
        return purgeQueue(queue, this.#limits, tx);
      case 'list-dead-letter-sources':
        return this.#queues.listSourcesOf(queue, command);
      case 'describe-queue':
        return describeQueue(queue);
      case 'peek-messages':
        return peekMessages(queue, command);
      case 'list-groups':
        return listGroups(queue, command);
      case 'count-sends':
        return countSends(queue, command, tx.now);
      case 'explain':
        return explain(queue, command);
      case 'forget-window':
        return forgetWindow(queue, tx);
    }
  }

  #tick({ owners }: CommandOf<'tick'>, tx: Transaction): Outcome<'tick'> {
    const posts: DuePost[] = [];
    const replays: DueReplay[] = [];
    const due = this.#dueBy(tx.now, owners).map((owner) => this.#at(owner) as Queue | Topic);
    let room = this.#limits.expiredPerTickMax;
    let sharing = due.filter((owner) => owner.hasExpired(tx.now)).length;
    let isUnfinished = false;
    for (const owner of due) {
      tx.working = owner instanceof Topic ? topicOwner(owner.name) : owner.name;
      // Each has an equal share of the room: one with millions of entries to remove holds up no other.
      const removed = owner.advance(tx, Math.ceil(room / Math.max(sharing, 1)));
      room -= removed;
      if (removed > 0) sharing -= 1;
      if (owner.hasExpired(tx.now)) {
        // What else is due here, a task or a replay, must not find what has expired.
        isUnfinished = true;
      } else if (owner instanceof Topic) {
        posts.push(...duePosts(owner, tx));
        replays.push(...dueReplays(owner, tx));
      } else {
        progressMoveTask(owner, this.#otherQueues, tx);
      }
    }
    tx.working = undefined;
    if (owners?.has(catalog) !== false) this.#queues.freeNames(tx);
    return { ok: true, posts, replays, isUnfinished };
  }

  #touchedByTick(now: number, owners?: ReadonlySet<string>): string[] {
    const names = new Set<string>();
    if (owners?.has(catalog) !== false) {
      for (const name of this.#queues.freedBy(now)) names.add(name).add(catalog);
    }
    for (const name of this.#dueBy(now, owners)) {
      names.add(name);
      const queue = this.#at(name) as Queue | Topic;
      if (queue instanceof Topic) {
        const mayEnd = queue.subscriptions.replaying > 0 || queue.isForgetting(now);
        if (mayEnd) names.add(catalog);
        continue;
      }
      // A task that ends is no longer among those that run, which are counted in the catalog.
      if (queue.kept.isMoving === true) names.add(catalog);
      for (const arn of destinationsOf(queue)) {
        const destination = this.#queues.queueOf(arn);
        if (destination !== undefined) names.add(destination.name);
      }
    }
    return [...names];
  }

  #dueBy(now: number, owners?: ReadonlySet<string>): string[] {
    const due = this.#deadlines.dueBy(now);
    return owners === undefined ? due : due.filter((owner) => owners.has(owner));
  }

  /** Keeps counters and the deadlines in step with what the command did to each queue and topic. */
  #finish(tx: Transaction): void {
    const { touched, otherTouched, touchedTopics } = tx;
    if (touched !== undefined) this.#finishQueue(touched, tx);
    for (const queue of otherTouched ?? nobody) this.#finishQueue(queue, tx);
    for (const topic of touchedTopics ?? nobody) this.#finishTopic(topic, tx);
  }

  #finishQueue(queue: TouchedOwner, tx: Transaction): void {
    const isThere = this.#queues.get(queue.name) === queue;
    if (isThere) queue.keepCounter(tx);
    this.#deadlines.set(queue.name, isThere ? queue.nextDueAt() : undefined);
  }

  #finishTopic(topic: TouchedOwner, tx: Transaction): void {
    const isThere = this.#topics.get(topic.name) === topic;
    if (isThere) topic.keepCounter(tx);
    this.#deadlines.set(topicOwner(topic.name), isThere ? topic.nextDueAt() : undefined);
  }

  #at(owner: string): Queue | Topic | undefined {
    const topic = topicIn(owner);
    return topic === undefined ? this.#queues.get(owner) : this.#topics.get(topic);
  }

  #absorbOne(change: Change, now: number): void {
    if ('topic' in change) this.#topics.absorb(change);
    else if (change.kind === 'name') this.#queues.takeName(change.queue, change.value);
    else this.#absorbInQueue(change, now);
  }

  #absorbInQueue(change: QueueChange, now: number): void {
    const queue = this.#queues.get(change.queue);
    if (change.kind === 'queue' && change.value === null) this.#queues.remove(change.queue);
    else if (queue !== undefined) queue.absorb(change, now);
    else if (change.kind === 'queue') this.#queues.put(change.queue, change.value as KeptQueue);
    else throw new Drifted(change.queue, `a ${change.kind} came, but there is no such queue`);
  }

  #named(arn: string | undefined): string[] {
    const queue = this.#queues.queueOf(arn ?? '');
    return queue === undefined ? [] : [queue.name];
  }

  #deadLetterQueueOf(queue: Queue): Queue | undefined {
    const arn = queue.settings.deadLetter?.targetArn;
    return arn === undefined ? undefined : this.#queues.queueOf(arn);
  }

  #runningTasks(): number {
    let count = 0;
    for (const { kept } of this.#queues.all()) if (kept.isMoving === true) count += 1;
    return count;
  }

  #some(test: (queue: Queue) => boolean): boolean {
    for (const queue of this.#queues.all()) if (test(queue)) return true;
    return false;
  }
}
