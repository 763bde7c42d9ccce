/**
 * Read-only queries about a queue or topic: pages of messages, and what deduplication did. Each joins the engine's state with
 * texts that only the store has.
 */

import { type KeptWindowEntry, topicOwner } from '../../core/changes.ts';
import type { CommandOf, Outcome } from '../../core/commands.ts';
import type { Refusal } from '../../core/errors.ts';
import type { Explained, Peeked, PeekedPage } from '../backend.ts';
import { andThen, type NowOrLater, visitEach } from '../now-or-later.ts';
import type { SuppressedSends } from '../observers/suppressed-sends.ts';
import type { StoreReader } from '../store.ts';
import type { ContentReader } from './content-reader.ts';

/** A page of peeked messages ends with the message whose body reaches this total. */
const peekedCharsMax = 4 * 1024 * 1024;

type Peek = CommandOf<'peek-messages'>;
type Explain = CommandOf<'explain' | 'explain-topic'>;

export interface QueriesOptions {
  readonly apply: <C extends Peek | Explain>(
    command: C,
    now: number,
  ) => NowOrLater<Outcome<C['type']>>;
  readonly contents: ContentReader;
  readonly store: StoreReader;
  readonly suppressed: SuppressedSends;
}

export class Queries {
  readonly #options: QueriesOptions;

  constructor(options: QueriesOptions) {
    this.#options = options;
  }

  peek(command: Peek, now: number): NowOrLater<PeekedPage | Refusal> {
    const { apply, contents } = this.#options;
    // One more than is shown, to see whether another page follows.
    return andThen(apply({ ...command, limit: command.limit + 1 }, now), (outcome) => {
      if (!outcome.ok) return outcome;
      const messages: Peeked[] = [];
      let chars = 0;
      const add = (message: (typeof outcome.messages)[number]): NowOrLater<boolean> =>
        andThen(contents.of(command.queue, message.sequence), (content) => {
          messages.push({ ...message, content });
          chars += content.body.length;
          return chars < peekedCharsMax;
        });
      return andThen(visitEach(outcome.messages.slice(0, command.limit), add), (): PeekedPage => {
        const isLast = messages.length === outcome.messages.length;
        return { ok: true, messages, next: isLast ? undefined : messages.at(-1)?.sequence };
      });
    });
  }

  explain(
    command: Explain,
    now: number,
  ): NowOrLater<{ ok: true; entries: readonly Explained[] } | Refusal> {
    const { apply, store, suppressed } = this.#options;
    return andThen(apply(command, now), (outcome) => {
      if (!outcome.ok) return outcome;
      const owner = command.type === 'explain-topic' ? topicOwner(command.topic) : command.queue;
      const sequences = outcome.entries.map(({ sequence }) => sequence);
      return andThen(store.windowEntries(owner, sequences), (kept) => ({
        ok: true as const,
        entries: outcome.entries.map((entry, index) => ({
          ...(kept[index] as KeptWindowEntry),
          ...entry,
          suppressed: suppressed.of(owner, entry.sequence),
        })),
      }));
    });
  }
}
