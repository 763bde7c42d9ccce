/**
 * A lane of a producer that publishes to one group of the topic, one publication after the other. What gets no answer is
 * published again under the same id until it is answered, or sometimes left in doubt; now and then an older one is
 * published once more.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../support/chance.ts';
import { type CrashClient, outcomeOf } from './client.ts';
import type { HistoryWriter } from './history.ts';
import { bodyOf, subscribers, topic } from './workload.ts';

/** Publications of some seconds, all within the window. */
const recentMax = 20;

export interface TopicLaneOptions {
  readonly group: string;
  readonly client: CrashClient;
  readonly history: HistoryWriter;
  readonly chance: Chance;
  readonly round: number;
}

export class TopicLane {
  readonly #options: TopicLaneOptions;
  #made = 0;

  constructor(options: TopicLaneOptions) {
    this.#options = options;
  }

  async run(finishing: AbortSignal, pauseMsMax: number): Promise<void> {
    const { chance } = this.#options;
    while (!finishing.aborted) {
      const isOld = this.#made > 0 && chance.isOneIn(6);
      if (!isOld) this.#made += 1;
      await this.#publish(
        isOld ? this.#made - chance.below(Math.min(this.#made, recentMax)) : this.#made,
      );
      await pause(chance.below(pauseMsMax));
    }
  }

  async #publish(number: number): Promise<void> {
    const { group, client, history, chance, round } = this.#options;
    const body = `${round}-${group}-${number}`;
    for (;;) {
      const reply = await client.callTopic('Publish', {
        TopicArn: topic.arn,
        Message: bodyOf(body),
        MessageGroupId: group,
        MessageDeduplicationId: body,
      });
      const { from, to } = reply;
      const queues = subscribers.map(({ name }) => name);
      history.add({ type: 'publish', from, to, queues, group, body, ...outcomeOf(reply) });
      if (reply.outcome !== 'unanswered' || chance.isOneIn(8)) return;
    }
  }
}
