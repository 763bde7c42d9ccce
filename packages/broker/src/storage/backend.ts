/**
 * The port between the api and whatever keeps queues and topics: the only file of storage that the api sees. Every verb
 * promises the same: an answer comes only once the changes behind it are kept, to the degree that the backend keeps
 * things at all (memory: not beyond the process).
 *
 * Refusals are values. A rejected promise means that the backend itself failed, and that nothing was changed: with
 * Unavailable, it cannot keep anything for a while, and says why.
 */

import type { KeptWindowEntry, MessageAttribute, MessageContent } from '../core/changes.ts';
import type {
  Command,
  CommandOf,
  ExplainedEntry,
  Outcome,
  PeekedMessage,
  ReceivedMessage,
} from '../core/commands.ts';
import type { Refusal } from '../core/errors.ts';
import type {
  DeliveryFailedEvent,
  DuplicateEvent,
  DuplicatePublicationEvent,
  Event,
} from '../core/events.ts';

/** The backend cannot keep changes at the moment. Nothing was changed; the message says why. */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable';
}

/** Commands whose outcome is all there is to say; the others have verbs of their own. */
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
export type Peeked = PeekedMessage & { readonly content: MessageContent };

export interface PeekedPage {
  readonly ok: true;
  readonly messages: readonly Peeked[];
  /** Behind which sequence the next page begins; undefined if this is the last. */
  readonly next: number | undefined;
}

/** A suppressed send without what it was to say, which may be large. */
export type SuppressedSend =
  | Omit<DuplicateEvent, 'content'>
  | Omit<DuplicatePublicationEvent, 'message'>;

/** Of a body, once its message is gone. */
export const rememberedBodyCharsMax: number = 16 * 1024;

/** What a message says, as far as it is remembered once the message itself is gone: long bodies are cut. */
export interface RememberedContent {
  readonly body: string;
  /** The characters of the whole body. */
  readonly bodyLength: number;
  readonly attributes: readonly MessageAttribute[];
}

/** A send that a queue suppressed; only the latest have what they and their originals say. */
export interface RememberedSend extends Omit<DuplicateEvent, 'content'> {
  /** Counts the sends that this queue suppressed since the start, and so names this one. */
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
  /** Taken by its queue or endpoint; also what the queue's own window suppressed. */
  readonly delivered: number;
  /** Not wanted, by its filter policy. */
  readonly filteredOut: number;
  /** Given up; a dead-letter queue may have it. */
  readonly failed: number;
}

/** What the backend itself takes at the moment, beside what its queues and topics say. */
export interface Usage {
  /** Receives that found nothing and wait. */
  readonly waitingReceives: number;
  /** On the disk; undefined if nothing is kept there. */
  readonly storeBytes: number | undefined;
}

export interface Backend {
  /** What a person calls it: memory, lmdb. */
  readonly kind: string;
  readonly realm: { readonly region: string; readonly account: string };

  /** Why nothing can be changed at the moment; undefined when all is well. */
  unavailable(): string | undefined;

  /** One command, applied after all that came before it. */
  run<C extends PlainCommand>(command: C): Promise<Outcome<C['type']>>;

  /**
   * Messages, waiting for them as long as the command or the queue says. First come, first served. When the client's
   * signal aborts, the wait ends with no messages; messages already found are delivered and come back at their timeout.
   * The signal is asked for only if the receive has to wait.
   */
  receive(
    command: CommandOf<'receive'>,
    client: { readonly signal: AbortSignal },
  ): Promise<{ readonly ok: true; readonly messages: readonly Delivered[] } | Refusal>;

  /** Fewer than asked for where their bodies are large. */
  peek(command: CommandOf<'peek-messages'>): Promise<PeekedPage | Refusal>;

  explain(
    command: CommandOf<'explain' | 'explain-topic'>,
  ): Promise<{ readonly ok: true; readonly entries: readonly Explained[] } | Refusal>;

  /** When this process began, by its clock. */
  readonly startedAt: number;

  /** The latest sends that the queue suppressed, oldest first. None of them is kept beyond the process. */
  suppressed(queue: string): Promise<readonly RememberedSend[]>;

  /** What the messages with these sequences say; undefined for one that is no longer in the queue. */
  contents(
    queue: string,
    sequences: readonly number[],
  ): Promise<readonly (MessageContent | undefined)[]>;

  failedDeliveries(topic: string): Promise<FailedDeliveries>;

  /** By the last part of a subscription's ARN; absent where nothing was published yet. */
  deliveryCounts(topic: string): Promise<ReadonlyMap<string, DeliveryCounts>>;

  usage(): Usage;

  /** The backend's time, in epoch milliseconds. */
  now(): number;

  /** Moves time forward and does what falls due on the way, in order; answers the new time. Not on a real clock. */
  advance(milliseconds: number): Promise<number>;

  /** Back to empty: every queue and topic, and all they hold. */
  reset(): Promise<void>;

  /**
   * Calls the listener with every event from now on; returns how to stop. A reset is no event: `onReset` is called behind
   * all events of before it, so that whoever remembers something of queues or topics can forget it.
   */
  listen(listener: (event: Event) => void, onReset?: () => void): () => void;

  /** Ends all waits with no messages, and lets nobody wait from now on. */
  endWaits(): void;

  /** Keeps what is under way, and gives everything back. */
  close(): Promise<void>;
}
