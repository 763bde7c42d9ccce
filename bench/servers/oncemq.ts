/**
 * OnceMQ as its command starts it, and the few calls around a measurement: creating a queue and calling an action.
 */

import { fileURLToPath } from 'node:url';
import { ServerProcess } from './server-process.ts';

const main = fileURLToPath(
  new URL('../../../packages/broker/dist/src/cli/main.js', import.meta.url),
);

export type Storage = 'memory' | { readonly folder: string } | { readonly postgres: string };

/** Starts it in memory, or durable (fsync, the default) in a folder or over PostgreSQL. */
export function startOnceMq(data: Storage): Promise<ServerProcess> {
  const storage =
    data === 'memory'
      ? ['--memory']
      : 'folder' in data
        ? ['--data', data.folder]
        : ['--postgres', data.postgres];
  // For a closer look: BENCH_SERVER_FLAGS=--cpu-prof npm run bench -- http
  const nodeFlags = process.env['BENCH_SERVER_FLAGS']?.split(' ') ?? [];
  return ServerProcess.start({
    command: process.execPath,
    args: [...nodeFlags, main, 'serve', '--port', '0', ...storage],
    ready: /^oncemq ready http:\/\/[^ ]*:(\d+) /,
  });
}

export interface Answer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Where to call an action: a port, and the Authorization header if the server needs one. */
export interface Target {
  readonly port: number;
  readonly authorization?: string | undefined;
}

export async function callAction(
  { port, authorization }: Target,
  action: string,
  input: object,
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': `AmazonSQS.${action}`,
      ...(authorization === undefined ? {} : { Authorization: authorization }),
    },
    body: JSON.stringify(input),
  });
  const body = await response.text();
  if (response.status !== 200)
    throw new Error(`${action} was answered with ${response.status}: ${body}`);
  const kept = ['content-type', 'x-amzn-requestid', 'content-length'];
  const headers = Object.fromEntries([...response.headers].filter(([name]) => kept.includes(name)));
  return { headers, body };
}

/** Creates a FIFO queue and returns its URL. */
export async function createQueue(
  target: Target,
  name: string,
  attributes: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { body } = await callAction(target, 'CreateQueue', {
    QueueName: name,
    Attributes: { FifoQueue: 'true', ...attributes },
  });
  return (JSON.parse(body) as { QueueUrl: string }).QueueUrl;
}
