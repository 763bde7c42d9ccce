/**
 * Receives: the first attempt, and the retries of those that wait (long-polls.ts). The in-flight state is durable before any
 * client sees a message. If the client has disconnected, nothing is lost: its messages become visible again at their timeout.
 */

import type { CommandOf } from '../../core/commands.ts';
import type { Received } from '../backend.ts';
import { andThen, type NowOrLater } from '../now-or-later.ts';
import type { Availability } from './availability.ts';
import type { ContentReader } from './content-reader.ts';
import { LongPolls, type ReceiveAttempt } from './long-polls.ts';
import type { Schedule } from './schedule.ts';
import type { Writer } from './writer.ts';

export interface ReceivesOptions {
  readonly writer: Writer;
  readonly availability: Availability;
  readonly contents: ContentReader;
  readonly now: () => number;
  /** Whether something expired is still where the command looks. */
  readonly isBehind: (command: CommandOf<'receive'>) => boolean;
  readonly whenAccepted: <T>(
    command: CommandOf<'receive'>,
    go: (now: number) => Promise<T>,
  ) => Promise<T>;
  readonly schedule: () => Pick<Schedule, 'serve' | 'set'>;
}

interface FirstAttempt extends ReceiveAttempt {
  readonly waitMs: number;
}

const none: Received = { ok: true, messages: [] };

export class Receives {
  readonly polls: LongPolls;
  readonly #options: ReceivesOptions;

  constructor(options: ReceivesOptions) {
    const { writer } = options;
    this.#options = options;
    this.polls = new LongPolls({
      retry: (command) => this.#retry(command),
      answer: (received, prepare) => writer.answer(received, prepare),
    });
  }

  receive<A>(
    command: CommandOf<'receive'>,
    client: { readonly signal: AbortSignal },
    prepare: (outcome: Received) => A,
  ): Promise<A> {
    const { writer, availability, now, schedule, whenAccepted } = this.#options;
    const askedAt = now();
    let hasWaited = false;
    const received = whenAccepted(command, (at): Promise<A> => {
      // The client may have gone while it waited for its turn.
      if (hasWaited && client.signal.aborted) return writer.answer(none, prepare);
      return andThen(this.#first(command, at), ({ received, noneUntil, waitMs }) => {
        const mayWait = received === undefined && waitMs > 0;
        if (!mayWait || availability.isClosed || client.signal.aborted) {
          return writer.answer(received ?? none, prepare);
        }
        const times = { deadline: askedAt + waitMs, noneUntil };
        const waited = this.polls.wait(command, times, { signal: client.signal, prepare });
        schedule().set();
        writer.awaited?.(command.queue, times.deadline);
        return waited;
      });
    });
    hasWaited = true;
    return received;
  }

  /** Waiting receivers are served after the contents are read: one of them could move these very messages. */
  #first(command: CommandOf<'receive'>, now: number): NowOrLater<FirstAttempt> {
    const serve = (): void => this.#options.schedule().serve();
    let attempt: NowOrLater<FirstAttempt> | undefined;
    try {
      attempt = this.#attempt(command, now);
      return attempt instanceof Promise ? attempt.finally(serve) : attempt;
    } finally {
      if (!(attempt instanceof Promise)) serve();
    }
  }

  #retry(command: CommandOf<'receive'>): NowOrLater<ReceiveAttempt> {
    const now = this.#options.now();
    return this.#options.isBehind(command) ? { noneUntil: now } : this.#attempt(command, now);
  }

  #attempt(command: CommandOf<'receive'>, now: number): NowOrLater<FirstAttempt> {
    const { writer, contents } = this.#options;
    return andThen(writer.step(command, now), ({ outcome }) => {
      if (!outcome.ok) return { received: outcome, waitMs: 0 };
      const { messages, noneUntil, waitMs } = outcome;
      if (messages.length === 0) return { noneUntil, waitMs };
      const delivered = contents.delivered(command.queue, messages);
      return andThen(delivered, (received) => ({ received, waitMs }));
    });
  }
}
