/**
 * The servers that the HTTP benchmark compares, each in a process of its own and all on node:http: OnceMQ as its
 * command starts it, the floor with OnceMQ's recorded answers, and fauxqs.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Answer } from './http-floor.ts';
import { batchInput, receiveInput, sendInput } from './http-load.ts';

export type SystemName = 'floor' | 'oncemq' | 'fauxqs';

export interface System {
  readonly name: SystemName;
  readonly port: number;
  readonly process: ChildProcess;
}

/** OnceMQ first, since the floor answers with its bytes. */
export async function startSystems(): Promise<readonly System[]> {
  const oncemq = await startOnceMq();
  const floor = start('http-floor.js', 'floor');
  floor.send(await recordAnswers(oncemq.port));
  const fauxqs = start('http-fauxqs.js', 'fauxqs');
  return [
    { name: 'floor', port: await portOf(floor), process: floor },
    oncemq,
    { name: 'fauxqs', port: await portOf(fauxqs), process: fauxqs },
  ];
}

async function startOnceMq(): Promise<System> {
  const cli = fileURLToPath(new URL('../../packages/broker/dist/src/cli/main.js', import.meta.url));
  const child = fork(cli, ['serve', '--port', '0', '--memory'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    // For a closer look: BENCH_SERVER_FLAGS=--cpu-prof npm run bench -- http
    execArgv: process.env['BENCH_SERVER_FLAGS']?.split(' ') ?? [],
  });
  child.stdout?.setEncoding('utf8');
  const [line] = (await once(child.stdout as NonNullable<typeof child.stdout>, 'data')) as [string];
  return { name: 'oncemq', port: Number(/:(\d+) /.exec(line)?.[1]), process: child };
}

function start(file: string, word: string): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), [word]);
}

async function portOf(child: ChildProcess): Promise<number> {
  const [port] = (await once(child, 'message')) as [number];
  return port;
}

/** One answer to each action that the benchmark calls. */
async function recordAnswers(port: number): Promise<Record<string, Answer>> {
  const answers: Record<string, Answer> = {};
  const ask = async (action: string, input: object): Promise<string> => {
    const answer = await callAction(port, action, input);
    answers[action] = answer;
    return answer.body;
  };
  const name = 'recorded.fifo';
  const created = await ask('CreateQueue', { QueueName: name, Attributes: { FifoQueue: 'true' } });
  const { QueueUrl } = JSON.parse(created) as { QueueUrl: string };
  await ask('SendMessage', sendInput(QueueUrl));
  const received = JSON.parse(await ask('ReceiveMessage', receiveInput(QueueUrl))) as {
    Messages: { ReceiptHandle: string }[];
  };
  const ReceiptHandle = received.Messages[0]?.ReceiptHandle;
  await ask('DeleteMessage', { QueueUrl, ReceiptHandle });
  // Ten duplicates of the one above: the answer has the form and the length of any other.
  await ask('SendMessageBatch', batchInput(QueueUrl));
  await ask('DeleteQueue', { QueueUrl });
  return answers;
}

export async function callAction(port: number, action: string, input: object): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': `AmazonSQS.${action}`,
    },
    body: JSON.stringify(input),
  });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${action} gave ${response.status}: ${body}`);
  const kept = ['content-type', 'x-amzn-requestid', 'content-length'];
  const headers = Object.fromEntries([...response.headers].filter(([name]) => kept.includes(name)));
  return { headers, body };
}
