/**
 * Is disk space reused? A queue is filled and emptied repeatedly, with a window so short that its entries expire on the
 * way, and the size of the file is recorded after each cycle.
 *
 * The first half of the time is for reaching a steady state. In the rest, the last quarter must not need much more space
 * than the third, as a file that grows without bound would.
 */

import { parseArgs } from 'node:util';
import { commonFlags, wholeNumber } from './flags.ts';
import { print, printExpectations, saveJson } from './report/results.ts';
import { megabytes, whole } from './report/statistics.ts';
import { DurableServer } from './servers/durable-server.ts';

interface Cycle {
  /** Since the start. */
  readonly seconds: number;
  readonly fileBytes: number;
  readonly windowIds: number;
}

const queue = 'reuse.fifo';
const windowSeconds = 5;
const linesMax = 20;
/** The largest size in the last quarter, relative to the third; free pages come and go in steps. */
const growthMax = 1.1;

export async function benchReuse(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      ...commonFlags,
      minutes: { type: 'string' },
      messages: { type: 'string' },
      bytes: { type: 'string' },
    },
  });
  const minutes = wholeNumber('--minutes', values.minutes, { otherwise: 1, max: 24 * 60 });
  const messages = wholeNumber('--messages', values.messages, { otherwise: 20_000, max: 1e7 });
  const bodyBytes = wholeNumber('--bytes', values.bytes, { otherwise: 1_024, max: 100_000 });
  const seconds = values.quick ? 20 : minutes * 60;
  print(
    `\ncycles of ${whole(messages)} messages of ${bodyBytes} bytes, window ${windowSeconds} s, for ${seconds} s`,
  );
  const cycles = await measure({ messages, bodyBytes, seconds, dir: values.dir });

  print('  cycle       s        file   ids in the window');
  const step = Math.ceil(cycles.length / linesMax);
  for (const [index, cycle] of cycles.entries()) {
    if (index % step === 0 || index === cycles.length - 1) print(lineOf(index + 1, cycle));
  }
  const largest = (from: number, to: number): number =>
    Math.max(
      ...cycles
        .filter((cycle) => cycle.seconds > seconds * from && cycle.seconds <= seconds * to)
        .map(({ fileBytes }) => fileBytes),
    );
  const [earlier, later] = [largest(0.5, 0.75), largest(0.75, Number.POSITIVE_INFINITY)];
  const steady = Math.max(earlier, later);
  print(
    `\nsteady state: at most ${megabytes(steady)}, ${whole(steady / messages)} bytes for each of the ${whole(messages)} messages that wait at most`,
  );
  const growth = later / earlier;
  const expectations = [
    {
      text: `the file's largest size in the last quarter is ${growth.toFixed(2)} of that in the third, expected at most ${growthMax}`,
      isMet: Number.isFinite(growth) ? growth <= growthMax : undefined,
    },
  ];
  printExpectations(expectations);
  saveJson('reuse.json', { messages, bodyBytes, windowSeconds, expectations, cycles }, values.json);
}

async function measure(plan: {
  readonly messages: number;
  readonly bodyBytes: number;
  readonly seconds: number;
  readonly dir: string | undefined;
}): Promise<Cycle[]> {
  const { messages, bodyBytes, seconds, dir } = plan;
  const server = await DurableServer.start(dir);
  await server.createQueue(queue, { DeduplicationIntervalSeconds: String(windowSeconds) });
  const cycles: Cycle[] = [];
  const startedAt = performance.now();
  const passed = (): number => (performance.now() - startedAt) / 1000;
  while (passed() < seconds) {
    const { messagesInAll } = await server.fill({ queue, messages, bodyBytes });
    await server.drain(queue, messagesInAll);
    const { dedupEntries: windowIds } = await server.counts(queue);
    cycles.push({ seconds: passed(), fileBytes: server.fileBytes(), windowIds });
  }
  await server.end();
  return cycles;
}

function lineOf(number: number, { seconds, fileBytes, windowIds }: Cycle): string {
  return [
    String(number).padStart(7),
    seconds.toFixed(0).padStart(8),
    megabytes(fileBytes).padStart(12),
    whole(windowIds).padStart(20),
  ].join('');
}
