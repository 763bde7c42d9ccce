/**
 * The port between the api and whatever keeps queues and topics: the only file of storage that the api sees. Every verb
 * promises the same: an answer comes only once the changes behind it are kept, to the degree that the backend keeps
 * things at all (memory: not beyond the process).
 *
 * Refusals are values. A rejected promise means that the backend itself failed and nothing was changed; Unavailable means
 * that it cannot keep anything for now, and says why.
 */

import type { KeptWindowEntry, MessageAttribute, MessageContent } from '../core/changes.ts';
import type {
  Command,
  CommandOf,
  ExplainedEntry,
  Outcome,
  PeekedMessage,
  QueueDescription,
  ReceivedMessage,
} from '../core/commands.ts';
import type { Refusal } from '../core/errors.ts';
import type {
  DeliveryFailedEvent,
  DuplicateEvent,
  DuplicatePublicationEvent,
  Event,
} from '../core/events.ts';
import type { PostResult } from '../core/topic/commands.ts';

/** The backend cannot keep changes at the moment. Nothing was changed; the message says why. */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable';
}

/** Commands whose outcome is the whole answer; the others have verbs of their own, or are storage's own. */
export type PlainCommand = Exclude<
  Command,
  {
    readonly type:
      | 'receive'
      | 'peek-messages'
      | 'explain'
      | 'explain-topic'
      | 'report-post'
      | 'replay'
      | 'tick';
  }
>;

export type Delivered = ReceivedMessage & { readonly content: MessageContent };
export type Received = { readonly ok: true; readonly messages: readonly Delivered[] } | Refusal;
export type Peeked = PeekedMessage & { readonly content: MessageContent };

export interface PeekedPage {
  readonly ok: true;
  readonly messages: readonly Peeked[];
  /** The sequence after which the next page begins; undefined if this is the last. */
  readonly next: number | undefined;
}

/** A suppressed send without its content, which may be large. */
export type SuppressedSend =
  | Omit<DuplicateEvent, 'content'>
  | Omit<DuplicatePublicationEvent, 'message'>;

/** How much of a body is remembered once its message is gone. */
export const rememberedBodyCharsMax: number = 16 * 1024;

/** A message's content, as it is remembered once the message itself is gone: long bodies are cut. */
export interface RememberedContent {
  readonly body: string;
  /** The length of the whole body, in characters. */
  readonly bodyLength: number;
  readonly attributes: readonly MessageAttribute[];
}

/** A send that a queue suppressed; only the latest have their content and that of their originals. */
export interface RememberedSend extends Omit<DuplicateEvent, 'content'> {
  /** Numbers the suppressed sends of this queue in order, and so identifies this one. */
  readonly number: number;
  readonly content: RememberedContent | undefined;
  readonly originalContent: RememberedContent | undefined;
}

/** A window entry with its texts and the duplicates it has suppressed, oldest first; only the latest are remembered. */
export type Explained = ExplainedEntry &
  KeptWindowEntry & {
    readonly suppressed: readonly SuppressedSend[];
  };

/** Deliveries of a topic that were given up since the start; only the latest are remembered, oldest first. */
export interface FailedDeliveries {
  readonly count: number;
  readonly latest: readonly DeliveryFailedEvent[];
}

/** What became of publications for a subscription since the start. */
export interface DeliveryCounts {
  /** Accepted by its queue or endpoint, including what the queue's own window suppressed. */
  readonly delivered: number;
  /** Rejected by its filter policy. */
  readonly filteredOut: number;
  /** Given up; a dead-letter queue may have it. */
  readonly failed: number;
}

/** What the backend itself uses at the moment, beyond what its queues and topics tell. */
export interface Usage {
  /** Receives that found nothing and are waiting. */
  readonly waitingReceives: number;
  /** Size on disk; undefined if nothing is kept there. */
  readonly storeBytes: number | undefined;
}

/** What was committed, and is not in the store any more. */
export interface Losses {
  /** Queues and topics that lost something, each time anew. */
  readonly count: number;
  /** The latest of it, in words. */
  readonly latest: string | undefined;
}

/** One of the servers that share a store. */
export interface ClusterNode {
  readonly id: string;
  /** For people: its machine and port. */
  readonly name: string | null;
  /** In epoch milliseconds of the database's clock, as `seenAt`. */
  readonly startedAt: number;
  readonly seenAt: number;
  /** Whether it was seen just now; if not, it may be gone. */
  readonly isRunning: boolean;
  /** Of the program. */
  readonly version: string;
  /** The latest format that it reads. */
  readonly format: number;
  readonly address: string | null;
}

/** The journal that servers share, looked at every few seconds. */
export interface JournalState {
  /** As the database's statistics estimate them. */
  readonly rows: number;
  /** On disk, including room that is used again. */
  readonly bytes: number;
  /** Rows that are not records yet, and the age of the oldest of them. */
  readonly pendingRows: number;
  readonly lagMs: number;
}

/** A store that servers share, as this one saw it last. */
export interface Cluster {
  /** The id of this one. */
  readonly node: string;
  /** Those seen within the last minute, the longest running first. */
  readonly nodes: readonly ClusterNode[];
  /** Undefined before the first look. */
  readonly journal: JournalState | undefined;
  /** Since this process began: changes of others that it has taken in, and locks that it left to them. */
  readonly absorbedChanges: number;
  readonly skippedLocks: number;
  /** Queues and topics whose contents it has in memory. */
  readonly loadedOwners: number;
}

/** A commit that succeeded. */
export interface Commit {
  readonly records: number;
  /** Of the values; keys and the store's own overhead come on top. */
  readonly bytes: number;
  /** In real time, from handing it over until it is as durable as configured. */
  readonly ms: number;
  /** Before it: until everything was locked, and read that others had written. Only where others write too. */
  readonly lockMs?: number;
}

export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Calls an endpoint once. Never rejects, and ends soon after the signal aborts. */
export type Poster = (request: PostRequest, signal: AbortSignal) => Promise<PostResult>;

/** What clients ask for. */
export interface Commands {
  /**
   * Applies one command, after all that came before it. `prepare` turns the outcome into the answer; default: the outcome
   * itself. It is called once, usually while the commit is in progress. The promise resolves only after the changes are
   * durable.
   */
  run<C extends PlainCommand, A = Outcome<C['type']>>(
    command: C,
    prepare?: (outcome: Outcome<C['type']>) => A,
  ): Promise<A>;

  /**
   * Receives messages, waiting for them as long as the command or the queue says. First come, first served. When the
   * client's signal aborts, the wait ends with no messages; messages already found count as delivered and become visible
   * again at their timeout. So do messages that cannot be read; if no others were found, the promise rejects. `signal` is
   * read only if the receive has to wait. `prepare` as with `run`.
   */
  receive<A = Received>(
    command: CommandOf<'receive'>,
    client: { readonly signal: AbortSignal },
    prepare?: (outcome: Received) => A,
  ): Promise<A>;
}

/** What people ask to understand what happened. Nothing here changes anything. */
export interface Inspection {
  /** Returns fewer messages than asked for if their bodies are large. */
  peek(command: CommandOf<'peek-messages'>): Promise<PeekedPage | Refusal>;

  explain(
    command: CommandOf<'explain' | 'explain-topic'>,
  ): Promise<{ readonly ok: true; readonly entries: readonly Explained[] } | Refusal>;

  /** The latest sends that the queue suppressed, oldest first. They are remembered for the life of the process. */
  suppressed(queue: string): Promise<readonly RememberedSend[]>;

  /** The contents of the messages with these sequences; undefined for one that is no longer in the queue. */
  contents(
    queue: string,
    sequences: readonly number[],
  ): Promise<readonly (MessageContent | undefined)[]>;

  /**
   * What these queues hold, as far as the store says it without looking into them, which is cheaper for many. About all
   * others, `describe-queue` has to be asked.
   */
  held(queues: readonly string[]): Promise<ReadonlyMap<string, QueueDescription>>;

  failedDeliveries(topic: string): Promise<FailedDeliveries>;

  /** By the last part of a subscription's ARN; absent if nothing was published to it yet. */
  deliveryCounts(topic: string): Promise<ReadonlyMap<string, DeliveryCounts>>;

  usage(): Usage;

  /** Who shares the store; undefined if nobody can. */
  cluster(): Cluster | undefined;

  /**
   * Calls the listener with every event from now on; returns how to stop. A reset is no event: `onReset` is called after
   * all events from before it, so that whoever remembers something about queues or topics can forget it.
   */
  listen(listener: (event: Event) => void, onReset?: () => void): () => void;
}

export interface TimeControl {
  /** When this process began, by its clock. */
  readonly startedAt: number;

  /** The backend's time, in epoch milliseconds. */
  now(): number;

  /** Moves time forward and does what falls due on the way, in order; returns the new time. Not on a real clock. */
  advance(milliseconds: number): Promise<number>;
}

export interface Lifecycle {
  /** Its name, as shown to users: memory, lmdb. */
  readonly kind: string;
  readonly realm: { readonly region: string; readonly account: string };

  /** Why nothing can be added at the moment; undefined if something can. */
  unavailable(): string | undefined;

  /** Since this process began; what it does not remember, it cannot miss. */
  losses(): Losses;

  /** Removes every queue and topic, and all they hold. */
  reset(): Promise<void>;

  /** Ends all waits without messages, and permits no new ones. */
  endWaits(): void;

  /** Keeps what is pending, and releases everything. */
  close(): Promise<void>;
}

export interface Backend extends Commands, Inspection, TimeControl, Lifecycle {}
