/**
 * `oncemq queue …`: shows, purges and redrives queues of a running server, over HTTP. Tables for people; `--json` prints
 * the server's own answer for programs.
 */

import type { Remote } from './remote.ts';
import { type RemoteCall, type RemoteCommands, runRemoteCommand } from './remote-command.ts';
import { table } from './table.ts';
import { UsageError } from './usage.ts';
import { type ExplainAnswer, queryOf, tellWindow } from './window-text.ts';

export const queueUsage = `Usage: oncemq queue COMMAND [--url URL] [--json]

  list                             list all queues with their counts
  peek NAME [--group ID] [--limit N]
                                   show messages in order, without receiving them
  explain NAME [ID] [--group ID] [--limit N]
                                   show the entry of an id in the deduplication window, or the newest entries
  violations NAME [--limit N]      show messages that broke the queue's contract, and collisions
  purge NAME                       remove all messages and empty the deduplication window
  redrive NAME [--to NAME] [--rate N]
                                   move dead letters back to their source queues, or to another queue

  --url URL    the server [http://127.0.0.1:9324, or ONCEMQ_URL]
  --json       print the server's answer as JSON
`;

const queueCommands: RemoteCommands = {
  usage: queueUsage,
  commands: {
    list: { words: 0, flags: [], run: list },
    peek: { words: 1, flags: ['group', 'limit'], run: peek },
    explain: { words: 2, flags: ['group', 'limit'], run: explain },
    violations: { words: 1, flags: ['limit'], run: violations },
    purge: { words: 1, flags: [], run: purge },
    redrive: { words: 1, flags: ['to', 'rate'], run: redrive },
  },
};

export function queueCommand(args: readonly string[]): Promise<void> {
  return runRemoteCommand(args, queueCommands);
}

interface QueueCounts {
  name: string;
  visible: number;
  inFlight: number;
  delayed: number;
  groups: number;
  dedupEntries: number;
  oldestAgeSeconds: number | null;
}

async function list({ remote, print }: RemoteCall): Promise<void> {
  const answer = await remote.inspect<{ queues: QueueCounts[] }>('queues', 'queues');
  print(answer, () => {
    if (answer.queues.length === 0) return 'There are no queues.';
    return table(
      ['queue', 'visible', 'in flight', 'delayed', 'groups', 'window', 'oldest'],
      answer.queues.map((queue) => [
        queue.name,
        String(queue.visible),
        String(queue.inFlight),
        String(queue.delayed),
        String(queue.groups),
        String(queue.dedupEntries),
        queue.oldestAgeSeconds === null ? '' : `${queue.oldestAgeSeconds} s`,
      ]),
    );
  });
}

interface PeekAnswer {
  messages: {
    messageId: string;
    state: string;
    groupId: string | null;
    receiveCount: number;
    sentAt: number;
    body: string;
  }[];
}

async function peek({ remote, words, flags, print }: RemoteCall): Promise<void> {
  const name = nameOf(words);
  const answer = await remote.inspect<PeekAnswer>(
    `queues/${name}/messages${queryOf(flags)}`,
    'messages',
  );
  print(answer, () => {
    if (answer.messages.length === 0) return 'There are no messages.';
    return table(
      ['sent', 'state', 'group', 'receives', 'message id', 'body'],
      answer.messages.map((message) => [
        new Date(message.sentAt).toISOString(),
        message.state,
        message.groupId ?? '',
        String(message.receiveCount),
        message.messageId,
        oneLine(message.body, 60),
      ]),
    );
  });
}

async function explain({ remote, words, flags, print }: RemoteCall): Promise<void> {
  const name = nameOf(words);
  const id = words[1];
  const query = queryOf(id === undefined ? flags : { ...flags, id });
  const answer = await remote.inspect<ExplainAnswer>(
    `queues/${name}/dedup${query}`,
    id === undefined ? 'entries' : 'entry',
  );
  print(answer, () => tellWindow(answer, 'body'));
}

interface ToldViolation {
  type: 'contract-violation' | 'collision';
  at: number;
  groupId: string | null;
  mode?: string;
  rule?: string;
  reason?: string;
  originalMessageId?: string;
  differed?: string[];
}

async function violations({ remote, words, flags, print }: RemoteCall): Promise<void> {
  const path = `queues/${nameOf(words)}/violations${queryOf(flags)}`;
  const answer = await remote.inspect<{ violations: ToldViolation[] }>(path, 'violations');
  print(answer, () => {
    if (answer.violations.length === 0) return 'There are no contract violations.';
    return table(
      ['time', 'mode', 'rule', 'group', 'reason'],
      answer.violations.map((told) => [
        new Date(told.at).toISOString(),
        told.mode ?? '',
        told.rule ?? told.type,
        told.groupId ?? '',
        told.reason ??
          `same body as ${told.originalMessageId}, different ${told.differed?.join(' and ')}`,
      ]),
    );
  });
}

async function purge({ remote, words, print }: RemoteCall): Promise<void> {
  const name = nameOf(words);
  await remote.sqs('PurgeQueue', { QueueUrl: name });
  print({ purged: name }, () => `${name} is empty.`);
}

async function redrive({ remote, words, flags, print }: RemoteCall): Promise<void> {
  const { to, rate } = flags;
  if (rate !== undefined && !/^\d+$/.test(rate)) {
    throw new UsageError(`--rate must be a number of messages per second, not ${rate}.`);
  }
  const source = await arnOf(remote, nameOf(words));
  const answer = await remote.sqs('StartMessageMoveTask', {
    SourceArn: source,
    ...(to === undefined ? {} : { DestinationArn: await arnOf(remote, to) }),
    ...(rate === undefined ? {} : { MaxNumberOfMessagesPerSecond: Number(rate) }),
  });
  const tasks = await remote.sqs('ListMessageMoveTasks', { SourceArn: source });
  print({ ...answer, ...tasks }, () => {
    const [task] = tasks['Results'] as Record<string, unknown>[];
    const count = String(task?.['ApproximateNumberOfMessagesToMove']);
    return `Redrive of ${words[0]} started: ${count} messages to move, ${String(task?.['Status'])}.`;
  });
}

async function arnOf(remote: Remote, name: string): Promise<string> {
  const answer = await remote.sqs('GetQueueAttributes', {
    QueueUrl: name,
    AttributeNames: ['QueueArn'],
  });
  return (answer['Attributes'] as Record<string, string>)['QueueArn'] as string;
}

function nameOf(words: readonly string[]): string {
  const name = words[0];
  if (name === undefined)
    throw new UsageError(`The name of the queue is missing.\n\n${queueUsage}`);
  return encodeURIComponent(name);
}

function oneLine(text: string, lengthMax: number): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= lengthMax ? line : `${line.slice(0, lengthMax - 1)}…`;
}
