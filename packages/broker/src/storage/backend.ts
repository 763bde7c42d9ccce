/**
 * The port between the api and whatever keeps queues and topics: the only file of storage that the api sees. Every verb
 * promises the same: an answer comes only once the changes behind it are kept, to the degree that the backend keeps
 * things at all (memory: not beyond the process).
 *
 * Refusals are values. A rejected promise means that the backend itself failed, and that nothing was changed: with
 * Unavailable, it cannot keep anything for a while, and says why.
 */

import type { KeptWindowEntry, MessageContent } from '../core/changes.ts';
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

/** A suppressed send without what it was to say, which may be large. */
export type SuppressedSend =
  | Omit<DuplicateEvent, 'content'>
  | Omit<DuplicatePublicationEvent, 'message'>;

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

  peek(
    command: CommandOf<'peek-messages'>,
  ): Promise<{ readonly ok: true; readonly messages: readonly Peeked[] } | Refusal>;

  explain(
    command: CommandOf<'explain' | 'explain-topic'>,
  ): Promise<{ readonly ok: true; readonly entries: readonly Explained[] } | Refusal>;

  /** What the messages with these sequences say; undefined for one that is no longer in the queue. */
  contents(
    queue: string,
    sequences: readonly number[],
  ): Promise<readonly (MessageContent | undefined)[]>;

  failedDeliveries(topic: string): Promise<FailedDeliveries>;

  /** The backend's time, in epoch milliseconds. */
  now(): number;

  /** Moves time forward and does what falls due on the way, in order; answers the new time. Not on a real clock. */
  advance(milliseconds: number): Promise<number>;

  /** Back to empty: every queue and topic, and all they hold. */
  reset(): Promise<void>;

  /** Calls the listener with every event from now on; returns how to stop. */
  listen(listener: (event: Event) => void): () => void;

  /** Ends all waits with no messages, and lets nobody wait from now on. */
  endWaits(): void;

  /** Keeps what is under way, and gives everything back. */
  close(): Promise<void>;
}
