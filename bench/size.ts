/**
 * What do many kept messages cost in process memory, disk space and startup time? A FIFO queue is filled over HTTP, and
 * the server is killed and restarted on the data it kept.
 *
 * One million messages of 1 KB by default; ten million of 256 bytes with --large, which takes minutes; or other sizes by
 * flags. With --postgres then the same over PostgreSQL, where a node loads the queue when it is first asked for.
 */

import { parseArgs } from 'node:util';
import { commonFlags, wholeNumber } from './flags.ts';
import { type Expectation, print, printExpectations, saveJson } from './report/results.ts';
import { megabytes, whole } from './report/statistics.ts';
import { DurableServer } from './servers/durable-server.ts';
import type { Storage } from './servers/oncemq.ts';
import { PostgresServer } from './servers/postgres.ts';

interface Scenario {
  readonly messages: number;
  readonly bodyBytes: number;
  readonly groups: number;
  readonly windowSeconds: number;
}

interface Size {
  readonly sent: number;
  readonly fillSeconds: number;
  /** Ids in the window after filling. */
  readonly windowIds: number;
  readonly fileBytes: number;
  /** RssAnon after filling, and after the restart. */
  readonly filledBytes: number;
  readonly startedBytes: number;
  readonly startMs: number;
  /** From the start of the process until something is answered about the queue. */
  readonly loadedMs: number;
  /** The slowest answer to a SendMessage to another queue, while this one was loaded after the start. */
  readonly meanwhileMs: number;
}

interface Expected {
  readonly anonymousBytes: number;
  readonly startMs: number;
}

const queue = 'size.fifo';
const other = 'other.fifo';
const usual: Scenario = {
  messages: 1_000_000,
  bodyBytes: 1_024,
  groups: 1_000,
  windowSeconds: 300,
};
const large: Scenario = { ...usual, messages: 10_000_000, bodyBytes: 256 };
const expectedUsual: Expected = { anonymousBytes: 450e6, startMs: 3_000 };
const expectedLarge: Expected = { anonymousBytes: 1_500e6, startMs: 15_000 };
/** How much longer than the embedded store a node may take until it has loaded the queue. */
const expectedLoadRatio = 1.5;

export async function benchSize(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      ...commonFlags,
      large: { type: 'boolean', default: false },
      messages: { type: 'string' },
      bytes: { type: 'string' },
      groups: { type: 'string' },
      window: { type: 'string' },
      postgres: { type: 'boolean', default: false },
    },
  });
  const base = values.large ? large : usual;
  const messages = values.quick ? base.messages / 10 : base.messages;
  const scenario: Scenario = {
    messages: wholeNumber('--messages', values.messages, { otherwise: messages, max: 1e9 }),
    // Ten messages form a batch, which can have at most 1 MiB.
    bodyBytes: wholeNumber('--bytes', values.bytes, { otherwise: base.bodyBytes, max: 100_000 }),
    groups: wholeNumber('--groups', values.groups, { otherwise: base.groups, max: 1e7 }),
    windowSeconds: wholeNumber('--window', values.window, {
      otherwise: base.windowSeconds,
      max: 1_209_600,
    }),
  };
  print(
    `\n${whole(scenario.messages)} messages of ${scenario.bodyBytes} bytes in ${whole(scenario.groups)} groups, window ${scenario.windowSeconds} s`,
  );
  const size = await measure(scenario, values.dir);
  printSize(size);
  const expectations = judge(size, expectedOf(scenario));
  const overPostgres = values.postgres
    ? await measureOverPostgres(scenario, values.dir)
    : undefined;
  if (overPostgres !== undefined) {
    print('\nover PostgreSQL');
    printSize(overPostgres);
    expectations.push(judgeLoads(overPostgres, size));
  }
  printExpectations(expectations);
  saveJson('size.json', { scenario, expectations, size, overPostgres }, values.json);
}

function printSize(size: Size): void {
  print(
    `filled     ${whole(size.sent / size.fillSeconds)} messages/s, ${whole(size.windowIds)} ids in the window`,
  );
  print(
    `memory     ${megabytes(size.filledBytes)} (RssAnon; ${whole(size.filledBytes / size.sent)} bytes a message)`,
  );
  print(
    `file       ${megabytes(size.fileBytes)}, ${whole(size.fileBytes / size.sent)} bytes a message`,
  );
  print(
    `start      ${(size.startMs / 1000).toFixed(2)} s after SIGKILL, then ${megabytes(size.startedBytes)}`,
  );
  print(
    `loaded     ${(size.loadedMs / 1000).toFixed(2)} s after the start; meanwhile another queue answered within ${whole(size.meanwhileMs)} ms`,
  );
}

/** The database goes on while the node is killed. */
async function measureOverPostgres(scenario: Scenario, dir: string | undefined): Promise<Size> {
  const database = await PostgresServer.start(dir);
  const postgres = await database.createDatabase('size');
  const size = await measure(scenario, dir, {
    storage: { postgres },
    fileBytes: () => database.databaseBytes('size'),
  });
  await database.stop();
  return size;
}

interface Database {
  readonly storage: Storage;
  fileBytes(): Promise<number>;
}

async function measure(
  scenario: Scenario,
  dir: string | undefined,
  database?: Database,
): Promise<Size> {
  const { messages, bodyBytes, groups, windowSeconds } = scenario;
  const server = await DurableServer.start(dir, database?.storage);
  await server.createQueue(other);
  await server.createQueue(queue, { DeduplicationIntervalSeconds: String(windowSeconds) });
  const { messagesInAll: sent, seconds } = await server.fill({
    queue,
    messages,
    bodyBytes,
    groups,
  });
  const { dedupEntries: windowIds } = await server.counts(queue);
  const filledBytes = server.anonymousBytes();
  const fileBytes = (await database?.fileBytes()) ?? server.fileBytes();
  await server.killAndStart();
  const { startMs } = server;
  const readyAt = performance.now();
  const meanwhileMs = await server.untilLoaded(queue, other);
  const loadedMs = startMs + performance.now() - readyAt;
  const startedBytes = server.anonymousBytes();
  const { visible } = await server.counts(queue);
  if (visible !== sent)
    throw new Error(`${sent} messages were sent, but ${visible} are in the queue`);
  await server.end();
  return {
    sent,
    fillSeconds: seconds,
    windowIds,
    fileBytes,
    filledBytes,
    startedBytes,
    startMs,
    loadedMs,
    meanwhileMs,
  };
}

/** Only the two sizes that promises were made for have expectations. */
function expectedOf({ messages, bodyBytes, groups }: Scenario): Expected | undefined {
  const isOf = (one: Scenario): boolean =>
    messages === one.messages && bodyBytes === one.bodyBytes && groups === one.groups;
  if (isOf(usual)) return expectedUsual;
  return isOf(large) ? expectedLarge : undefined;
}

function judge(size: Size, expected: Expected | undefined): Expectation[] {
  if (expected === undefined) return [];
  const most = Math.max(size.filledBytes, size.startedBytes);
  return [
    {
      text: `at most ${megabytes(most)} of memory, expected below ${megabytes(expected.anonymousBytes)}`,
      isMet: most < expected.anonymousBytes,
    },
    {
      text: `a start in ${(size.startMs / 1000).toFixed(2)} s, expected within ${expected.startMs / 1000}`,
      isMet: size.startMs <= expected.startMs,
    },
  ];
}

function judgeLoads(overPostgres: Size, embedded: Size): Expectation {
  const ratio = overPostgres.loadedMs / embedded.loadedMs;
  return {
    text: `loaded from PostgreSQL in ${ratio.toFixed(2)} times the embedded store's time, expected at most ${expectedLoadRatio}`,
    isMet: ratio <= expectedLoadRatio,
  };
}
