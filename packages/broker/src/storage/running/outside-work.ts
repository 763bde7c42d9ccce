/**
 * Work that a tick requests because core cannot do it: reading archived publications for replays, and HTTP deliveries.
 * Replays are fed at once. The server's poster makes the HTTP calls, and the result of each is reported with a command.
 */

import { setMaxListeners } from 'node:events';
import type { Command } from '../../core/commands.ts';
import type { DuePost, DueReplay, PostResult } from '../../core/topic/commands.ts';
import type { Signer } from '../../core/topic/envelope.ts';
import { postRequest } from '../../core/topic/http-delivery.ts';
import type { Poster } from '../backend.ts';
import { allOf, andThen, type NowOrLater, visitEach } from '../now-or-later.ts';
import type { StoreReader } from '../store.ts';

export interface OutsideWorkOptions {
  readonly poster: Poster | undefined;
  readonly signer: Signer | undefined;
  readonly store: StoreReader;
  /** Resolves once everything so far is kept; undefined if it is. No endpoint is called about what is not. */
  readonly kept: () => Promise<void> | undefined;
  readonly now: () => number;
  /** Applies a command as part of the current tick. It may refuse; a later tick then asks again. */
  readonly step: (command: Command) => NowOrLater<void>;
  /** Applies a command outside of a tick. */
  readonly report: (command: Command) => Promise<void>;
  /** With a topic: its work failed, and must not be due again at once. */
  readonly onFailure: (error: unknown, topic?: string) => void;
}

const nobody: PostResult = {
  ok: false,
  reason: 'this server does not call HTTP endpoints',
  isFinal: true,
};

export class OutsideWork {
  readonly #options: OutsideWorkOptions;
  readonly #closing: AbortController = new AbortController();
  readonly #underWay: Set<Promise<void>> = new Set();
  /** The turn of the latest call to be written: each has its own, since an envelope may take long to write and sign. */
  #turn: Promise<void> = Promise.resolve();

  constructor(options: OutsideWorkOptions) {
    this.#options = options;
    // Every call in flight listens, and core bounds how many there are: not the leak that Node would warn about.
    setMaxListeners(0, this.#closing.signal);
  }

  follow(tick: {
    readonly posts: readonly DuePost[];
    readonly replays: readonly DueReplay[];
  }): NowOrLater<void> {
    const replayed = visitEach(tick.replays, (due) => andThen(this.#replay(due), () => true));
    return andThen(replayed, () => {
      for (const due of tick.posts) this.#start(due);
    });
  }

  /** Resolves once every call that is in flight now has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.settled();
  }

  #start(due: DuePost): void {
    // A call that throws is made again when its lease ends.
    const call = this.#call(due)
      .catch((error: unknown) => this.#options.onFailure(error))
      .finally(() => this.#underWay.delete(call));
    this.#underWay.add(call);
  }

  #replay({ topic, subscription, sequences }: DueReplay): NowOrLater<void> {
    const { store, step, onFailure } = this.#options;
    const failed = (error: unknown): void => onFailure(error, topic);
    try {
      const found = allOf(sequences.map((sequence) => store.archived(topic, sequence)));
      const replayed = andThen(found, (archived) => {
        const publications = archived.map((publication, index) => {
          if (publication !== undefined) return publication;
          throw new Error(`${topic} has no archived ${sequences[index]}`);
        });
        return step({ type: 'replay', topic, subscription, publications });
      });
      return replayed instanceof Promise ? replayed.catch(failed) : undefined;
    } catch (error) {
      return failed(error);
    }
  }

  async #call(due: DuePost): Promise<void> {
    const { poster, signer, store, kept, now, report } = this.#options;
    const { topic, subscription, id, attempt, url } = due;
    const post = await store.post(topic, id);
    if (post === undefined) return;
    const isKept = await Promise.resolve(kept()).then(
      () => true,
      () => false,
    );
    const { signal } = this.#closing;
    this.#turn = this.#turn.then(() => new Promise((resolve) => setImmediate(resolve)));
    await this.#turn;
    if (!isKept || signal.aborted) return;
    const { headers, body } = postRequest(due, post, now(), signer);
    const result = poster === undefined ? nobody : await poster({ url, headers, body }, signal);
    // A call that was cut off by our own shutdown is made again after the next start.
    if (signal.aborted) return;
    const { publication } = post;
    await report({ type: 'report-post', topic, subscription, id, attempt, result, publication });
  }
}
