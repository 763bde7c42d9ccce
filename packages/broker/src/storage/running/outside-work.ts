/**
 * What a tick asks for and core cannot do itself: reading archived publications for replays, and calling HTTP endpoints.
 * Replays are fed at once; calls are made by the server's poster, and each is reported when it has ended.
 */

import { setMaxListeners } from 'node:events';
import type { Command } from '../../core/commands.ts';
import type { DuePost, DueReplay, PostResult } from '../../core/topic/commands.ts';
import type { Signer } from '../../core/topic/envelope.ts';
import { postRequest } from '../../core/topic/http-delivery.ts';
import type { TopicReader } from '../store.ts';

export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Calls an endpoint once. Never rejects, and ends soon after the signal aborts. */
export type Poster = (request: PostRequest, signal: AbortSignal) => Promise<PostResult>;

export interface TopicWorkOptions {
  readonly poster: Poster | undefined;
  readonly signer: Signer | undefined;
  readonly entries: () => TopicReader;
  /** Resolves once everything so far is kept; undefined if it is. No endpoint is called about what is not. */
  readonly kept: () => Promise<void> | undefined;
  readonly now: () => number;
  /** Applies a command as part of the tick that is being handled; or not, and a later tick asks for it again. */
  readonly step: (command: Command) => void;
  /** Applies a command that comes on its own. */
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
  readonly #options: TopicWorkOptions;
  readonly #closing: AbortController = new AbortController();
  readonly #underWay: Set<Promise<void>> = new Set();
  /** The turn of the latest call to be written: each has its own, since an envelope may take long to write and sign. */
  #turn: Promise<void> = Promise.resolve();

  constructor(options: TopicWorkOptions) {
    this.#options = options;
    // Every call in flight listens, and core bounds how many there are: not the leak that Node would warn about.
    setMaxListeners(0, this.#closing.signal);
  }

  follow(tick: {
    readonly posts: readonly DuePost[];
    readonly replays: readonly DueReplay[];
  }): void {
    for (const due of tick.replays) this.#replay(due);
    for (const due of tick.posts) {
      // A call that throws is made again when its lease ends.
      const call = this.#call(due)
        .catch((error: unknown) => this.#options.onFailure(error))
        .finally(() => this.#underWay.delete(call));
      this.#underWay.add(call);
    }
  }

  /** Resolves once every call that is in flight now has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.settled();
  }

  #replay({ topic, subscription, sequences }: DueReplay): void {
    const { entries, step, onFailure } = this.#options;
    try {
      const publications = sequences.map((sequence) => {
        const publication = entries().archived(topic, sequence);
        if (publication === undefined) throw new Error(`${topic} has no archived ${sequence}`);
        return publication;
      });
      step({ type: 'replay', topic, subscription, publications });
    } catch (error) {
      onFailure(error, topic);
    }
  }

  async #call(due: DuePost): Promise<void> {
    const { poster, signer, entries, kept, now, report } = this.#options;
    const { topic, subscription, id, attempt, url } = due;
    const post = entries().post(topic, id);
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
