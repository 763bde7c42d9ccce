/**
 * A lane of a producer: sends to one group, one request after the other, so that the order of the group is known. Each
 * step sends new messages, or recent ones again, or both in one batch. What gets no answer is sent again under the same
 * id until it is answered, or sometimes left in doubt, to be sent again later or never. On a standard queue nothing is
 * sent twice: it has no ids.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../support/chance.ts';
import { type CrashClient, type Reply, resultOf } from './client.ts';
import type { HistoryWriter, SendEntry } from './history.ts';
import { bodyOf, type CrashQueue, urlOf } from './workload.ts';

/** A lane's sends of some seconds: most were answered by a server that was killed since, all are within the window. */
const recentMax = 300;
const batchMax = 10;

export interface LaneOptions {
  readonly queue: CrashQueue;
  readonly group: string | undefined;
  readonly client: CrashClient;
  readonly history: HistoryWriter;
  readonly chance: Chance;
  readonly round: number;
  /** Unique among the lanes of a round. */
  readonly name: string;
}

interface Outgoing {
  readonly name: string;
  readonly id: string | undefined;
}

export class Lane {
  readonly #queue: CrashQueue;
  readonly #group: string | undefined;
  readonly #client: CrashClient;
  readonly #history: HistoryWriter;
  readonly #chance: Chance;
  readonly #round: number;
  readonly #name: string;
  readonly #recent: Outgoing[] = [];
  #made = 0;

  constructor({ queue, group, client, history, chance, round, name }: LaneOptions) {
    this.#queue = queue;
    this.#group = group;
    this.#client = client;
    this.#history = history;
    this.#chance = chance;
    this.#round = round;
    this.#name = name;
  }

  async run(finishing: AbortSignal, pauseMsMax: number): Promise<void> {
    while (!finishing.aborted) {
      await this.#send(this.#choose());
      await pause(this.#chance.below(pauseMsMax));
    }
  }

  /** Sends a new message and nothing else, to a queue with ids, until it is answered. */
  sendOne(): Promise<void> {
    return this.#send([this.#make()], true);
  }

  #choose(): Outgoing[] {
    const count = this.#chance.isOneIn(2) ? 1 : 1 + this.#chance.below(batchMax);
    const repeats = this.#chance.isOneIn(3);
    return Array.from({ length: count }, () => {
      const isRepeat = repeats && this.#recent.length > 0 && this.#chance.isOneIn(2);
      return isRepeat ? this.#chance.pick(this.#recent) : this.#make();
    });
  }

  #make(): Outgoing {
    this.#made += 1;
    const { ids } = this.#queue;
    const name = `${this.#round}-${this.#name}-${this.#made}`;
    // Where ids are scoped to their group, all lanes use the same ones.
    const isScoped = this.#queue.attributes['DeduplicationScope'] === 'messageGroup';
    const id = isScoped ? `${this.#round}-${this.#made}` : name;
    const made = { name, id: ids === 'given' ? id : undefined };
    if (ids !== 'none') this.#recent.push(made);
    if (this.#recent.length > recentMax) this.#recent.shift();
    return made;
  }

  async #send(messages: readonly Outgoing[], isStubborn = false): Promise<void> {
    const isSingle = messages.length === 1 && this.#chance.isOneIn(2);
    for (;;) {
      const reply = isSingle
        ? await this.#client.call('SendMessage', {
            ...this.#destination,
            ...this.#input(messages[0]),
          })
        : await this.#client.call('SendMessageBatch', {
            ...this.#destination,
            Entries: messages.map((each, place) => ({ Id: `${place}`, ...this.#input(each) })),
          });
      this.#history.add(...messages.map((each, place) => this.#entry(each, place, reply)));
      if (reply.outcome !== 'unanswered') return;
      if (isStubborn) continue;
      if (this.#queue.ids === 'none' || this.#chance.isOneIn(8)) return;
    }
  }

  get #destination(): object {
    return { QueueUrl: urlOf(this.#queue.name) };
  }

  #input(message: Outgoing | undefined): object {
    const { name, id } = message as Outgoing;
    return {
      MessageBody: bodyOf(name),
      ...(this.#group === undefined ? {} : { MessageGroupId: this.#group }),
      ...(id === undefined ? {} : { MessageDeduplicationId: id }),
    };
  }

  #entry({ name }: Outgoing, place: number, reply: Reply): SendEntry {
    const { from, to } = reply;
    const group = this.#group === undefined ? {} : { group: this.#group };
    const queue = this.#queue.name;
    const sent = { type: 'send' as const, from, to, queue, ...group, body: name, place };
    const result = resultOf(reply, `${place}`);
    if (result.outcome !== 'done') return { ...sent, ...result };
    const { MessageId: messageId = 'none', SequenceNumber: sequence } = result.output;
    return { ...sent, outcome: 'done', messageId, ...(sequence === undefined ? {} : { sequence }) };
  }
}
