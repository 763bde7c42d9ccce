/**
 * `oncemq topic …`: shows the topics of a running server, over HTTP. Tables for people; `--json` prints the server's own
 * answer for programs.
 */

import { type RemoteCall, type RemoteCommands, runRemoteCommand } from './remote-command.ts';
import { table } from './table.ts';
import { UsageError } from './usage.ts';
import { type ExplainAnswer, queryOf, tellWindow } from './window-text.ts';

export const topicUsage = `Usage: oncemq topic COMMAND [--url URL] [--json]

  list                             list all topics with their counts
  show NAME                        show its subscriptions: publications delivered, filtered out and failed since
                                   startup, and waiting; and the latest failed deliveries
  explain NAME [ID] [--group ID] [--limit N]
                                   show the entry of an id in the deduplication window, or the newest entries

  --url URL    the server [http://127.0.0.1:9324, or ONCEMQ_URL]
  --json       print the server's answer as JSON
`;

const topicCommands: RemoteCommands = {
  usage: topicUsage,
  commands: {
    list: { words: 0, flags: [], run: list },
    show: { words: 1, flags: [], run: show },
    explain: { words: 2, flags: ['group', 'limit'], run: explain },
  },
};

export function topicCommand(args: readonly string[]): Promise<void> {
  return runRemoteCommand(args, topicCommands);
}

interface TopicCounts {
  name: string;
  subscriptions: number;
  dedupEntries: number;
  archived: number;
  failedDeliveries: number;
}

async function list({ remote, print }: RemoteCall): Promise<void> {
  const answer = await remote.inspect<{ topics: TopicCounts[] }>('topics', 'topics');
  print(answer, () => {
    if (answer.topics.length === 0) return 'There are no topics.';
    return table(
      ['topic', 'subscriptions', 'window', 'archived', 'failed'],
      answer.topics.map((topic) => [
        topic.name,
        String(topic.subscriptions),
        String(topic.dedupEntries),
        String(topic.archived),
        String(topic.failedDeliveries),
      ]),
    );
  });
}

interface ShowAnswer {
  subscriptions: {
    endpoint: string;
    confirmed: boolean;
    attributes: Record<string, string>;
    replay: { status: string; left: number } | null;
    delivered: number;
    filteredOut: number;
    failed: number;
    waitingCount: number;
  }[];
  failedDeliveries: {
    count: number;
    latest: { at: number; endpoint: string; reason: string; deadLetterQueue: string | null }[];
  };
}

async function show({ remote, words, print }: RemoteCall): Promise<void> {
  const answer = await remote.inspect<ShowAnswer>(`topics/${nameOf(words)}`, 'subscriptions');
  print(answer, () => {
    const { subscriptions, failedDeliveries } = answer;
    const shown =
      subscriptions.length === 0
        ? 'There are no subscriptions.'
        : table(
            [
              'endpoint',
              'state',
              'raw',
              'delivered',
              'filtered out',
              'failed',
              'waiting',
              'filter policy',
            ],
            subscriptions.map(({ attributes, replay, ...subscription }) => [
              subscription.endpoint,
              subscription.confirmed ? (replay?.status ?? 'confirmed') : 'pending',
              attributes['RawMessageDelivery'] ?? '',
              String(subscription.delivered),
              String(subscription.filteredOut),
              String(subscription.failed),
              String(subscription.waitingCount),
              attributes['FilterPolicy'] ?? '',
            ]),
          );
    const failures = failedDeliveries.latest.map(({ at, endpoint, reason, deadLetterQueue }) => {
      const where = deadLetterQueue === null ? 'lost' : `now in ${deadLetterQueue}`;
      return `failed ${new Date(at).toISOString()} ${endpoint}: ${reason} (${where})`;
    });
    return [shown, ...failures].join('\n');
  });
}

async function explain({ remote, words, flags, print }: RemoteCall): Promise<void> {
  const id = words[1];
  const query = queryOf(id === undefined ? flags : { ...flags, id });
  const answer = await remote.inspect<ExplainAnswer>(
    `topics/${nameOf(words)}/dedup${query}`,
    id === undefined ? 'entries' : 'entry',
  );
  print(answer, () => tellWindow(answer, 'message'));
}

function nameOf(words: readonly string[]): string {
  const name = words[0];
  if (name === undefined)
    throw new UsageError(`The name of the topic is missing.\n\n${topicUsage}`);
  return encodeURIComponent(name);
}
