/**
 * `oncemq topic …`: looks at the topics of a running server, over HTTP. Tables for people, `--json` for programs, which then
 * get the server's own answer.
 */

import { Remote } from './remote.ts';
import { table } from './table.ts';
import { readArguments, UsageError } from './usage.ts';
import { type ExplainAnswer, queryOf, tellWindow } from './window-text.ts';

export const topicUsage = `Usage: oncemq topic COMMAND [--url URL] [--json]

  list                             every topic with its counts
  show NAME                        its subscriptions, what waits for them, and deliveries that were given up
  explain NAME [ID] [--group ID] [--limit N]
                                   what the deduplication window holds for an id, or its newest entries

  --url URL    the server [http://127.0.0.1:9324, or ONCEMQ_URL]
  --json       the server's answer as JSON
`;

const known = ['url', 'json', 'group', 'limit'];

type Flags = Readonly<Record<string, string>>;
type Print = (value: unknown, text: () => string) => void;
type TopicCommand = (
  remote: Remote,
  words: readonly string[],
  flags: Flags,
  print: Print,
) => Promise<void>;

const commands: Readonly<Record<string, TopicCommand>> = { list, show, explain };

/** How many words may follow a command. */
const wordsOf: Readonly<Record<string, number>> = { list: 0, show: 1, explain: 2 };

export async function topicCommand(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, ['json']);
  const [name = '', ...rest] = words;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new UsageError(topicUsage);
  const extra = rest[wordsOf[name] ?? 0];
  if (extra !== undefined) {
    throw new UsageError(`${name} does not know what to do with ${extra}.\n\n${topicUsage}`);
  }
  const unknown = Object.keys(flags).find((flag) => !known.includes(flag));
  if (unknown !== undefined) {
    throw new UsageError(`There is no flag --${unknown}.\n\n${topicUsage}`);
  }
  const remote = new Remote(flags['url'] ?? process.env['ONCEMQ_URL'] ?? 'http://127.0.0.1:9324');
  await command(remote, rest, flags, (value, text) => {
    const output = flags['json'] === 'true' ? JSON.stringify(value, undefined, 2) : text();
    process.stdout.write(`${output}\n`);
  });
}

interface TopicCounts {
  name: string;
  subscriptions: number;
  dedupEntries: number;
  archived: number;
  failedDeliveries: number;
}

async function list(remote: Remote, _words: unknown, _flags: Flags, print: Print): Promise<void> {
  const answer = await remote.inspect<{ topics: TopicCounts[] }>('topics');
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
    waiting: unknown[];
  }[];
  failedDeliveries: {
    count: number;
    latest: { at: number; endpoint: string; reason: string; deadLetterQueue: string | null }[];
  };
}

async function show(
  remote: Remote,
  words: readonly string[],
  _flags: Flags,
  print: Print,
): Promise<void> {
  const answer = await remote.inspect<ShowAnswer>(`topics/${nameOf(words)}`);
  print(answer, () => {
    const { subscriptions, failedDeliveries } = answer;
    const shown =
      subscriptions.length === 0
        ? 'There are no subscriptions.'
        : table(
            ['endpoint', 'state', 'raw', 'waiting', 'filter policy'],
            subscriptions.map(({ endpoint, confirmed, attributes, replay, waiting }) => [
              endpoint,
              confirmed ? (replay?.status ?? 'confirmed') : 'pending',
              attributes['RawMessageDelivery'] ?? '',
              String(waiting.length),
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

async function explain(
  remote: Remote,
  words: readonly string[],
  flags: Flags,
  print: Print,
): Promise<void> {
  const id = words[1];
  const query = queryOf(id === undefined ? flags : { ...flags, id });
  const answer = await remote.inspect<ExplainAnswer>(`topics/${nameOf(words)}/dedup${query}`);
  print(answer, () => tellWindow(answer, 'message'));
}

function nameOf(words: readonly string[]): string {
  const name = words[0];
  if (name === undefined) throw new UsageError(`Which topic?\n\n${topicUsage}`);
  return encodeURIComponent(name);
}
