/**
 * The systems that the HTTP benchmark compares, each in its own process: the floor with OnceMQ's recorded responses,
 * OnceMQ as its command starts it, durable and in memory, and its peers.
 */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { batchInput, receiveInput, sendInput } from '../load/requests.ts';
import type { DataFolder } from './data-folder.ts';
import { type Answer, callAction, startOnceMq, type Target } from './oncemq.ts';
import { peers, startPeer } from './peers.ts';
import { ServerProcess } from './server-process.ts';

export type SystemName = 'floor' | 'oncemq' | 'oncemq-memory' | 'fauxqs' | 'elasticmq' | 'moto';

export interface System {
  readonly label: string;
  /** Rounds in which it takes part; default: all. Fewer for systems that are far behind and only cost time. */
  readonly roundsMax?: number;
  /** Too slow for short rounds: its rounds are longer, and it has no warm-up round. */
  readonly isSlow?: boolean;
  /** moto picks the service by the credential scope of the signature, which it does not check. */
  readonly authorization?: string;
  start(data: DataFolder): Promise<ServerProcess>;
}

export interface RunningSystem extends Target {
  readonly name: SystemName;
  readonly roundsMax: number;
  readonly isSlow: boolean;
  readonly server: ServerProcess;
}

export const systems: Readonly<Record<SystemName, System>> = {
  floor: { label: 'floor: bare node:http, same bytes', start: startFloor },
  oncemq: {
    label: 'OnceMQ, on disk with fsync',
    start: ({ path }) => startOnceMq({ folder: path }),
  },
  'oncemq-memory': { label: 'OnceMQ, in memory', start: () => startOnceMq('memory') },
  fauxqs: {
    label: `fauxqs ${fauxqsVersion()}, in memory`,
    start: () => startOwnFile('fauxqs.js', []),
  },
  elasticmq: {
    label: `ElasticMQ ${peers.elasticmq.version}, in memory`,
    roundsMax: 3,
    start: () => startPeer(peers.elasticmq),
  },
  moto: {
    label: `moto ${peers.moto.version}, in memory`,
    roundsMax: 1,
    isSlow: true,
    authorization:
      'AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0',
    start: () => startPeer(peers.moto),
  },
};

export const systemNames: readonly SystemName[] = Object.keys(systems) as SystemName[];

export interface Started {
  readonly running: readonly RunningSystem[];
  /** The systems that do not run here, and why. */
  readonly absent: readonly { readonly name: SystemName; readonly reason: string }[];
}

/** Peers may be absent; the floor and OnceMQ must start. */
export async function startSystems(
  names: readonly SystemName[],
  data: DataFolder,
): Promise<Started> {
  const running: RunningSystem[] = [];
  const absent: { name: SystemName; reason: string }[] = [];
  for (const name of names) {
    const { start, roundsMax = Number.POSITIVE_INFINITY, isSlow = false } = systems[name];
    const { authorization } = systems[name];
    try {
      const server = await start(data);
      running.push({ name, roundsMax, isSlow, authorization, server, port: server.port });
    } catch (error) {
      if (!Object.hasOwn(peers, name)) throw error;
      absent.push({ name, reason: (error as Error).message });
    }
  }
  return { running, absent };
}

async function startFloor(): Promise<ServerProcess> {
  const recorded = await startOnceMq('memory');
  const answers = await recordAnswers(recorded);
  await recorded.kill();
  return await startOwnFile('floor.js', [JSON.stringify(answers)]);
}

function startOwnFile(file: string, args: readonly string[]): Promise<ServerProcess> {
  return ServerProcess.start({
    command: process.execPath,
    args: [fileURLToPath(new URL(file, import.meta.url)), ...args],
    ready: /^ready (\d+)/,
  });
}

/** Records one response to each action that the benchmark calls. */
async function recordAnswers(target: Target): Promise<Record<string, Answer>> {
  const answers: Record<string, Answer> = {};
  const ask = async (action: string, input: object): Promise<string> => {
    const answer = await callAction(target, action, input);
    answers[action] = answer;
    return answer.body;
  };
  const input = { QueueName: 'recorded.fifo', Attributes: { FifoQueue: 'true' } };
  const { QueueUrl } = JSON.parse(await ask('CreateQueue', input)) as { QueueUrl: string };
  await ask('SendMessage', sendInput(QueueUrl));
  const received = JSON.parse(await ask('ReceiveMessage', receiveInput(QueueUrl, 1))) as {
    Messages: { ReceiptHandle: string }[];
  };
  const ReceiptHandle = received.Messages[0]?.ReceiptHandle;
  await ask('DeleteMessage', { QueueUrl, ReceiptHandle });
  // Ten duplicates of the message above; the response has the same form and length as any other.
  await ask('SendMessageBatch', batchInput(QueueUrl));
  await ask('DeleteQueue', { QueueUrl });
  return answers;
}

function fauxqsVersion(): string {
  const file = new URL('../../../node_modules/fauxqs/package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
