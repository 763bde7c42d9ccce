/**
 * Does the durable server stay fast when it holds a lot? Measures the rate of SendMessage on 64 connections with nothing
 * waiting, and with 5,000,000 messages waiting and 3,000,000 ids in the window.
 *
 * Two servers, each with its own data, take turns round by round; ratios are within a round. The full one is filled by
 * sending: the 2,000,000 messages without an id in the window are sent first, and then the window is forgotten.
 */

import { parseArgs } from 'node:util';
import { commonFlags } from './flags.ts';
import { print, printExpectations, saveJson } from './report/results.ts';
import { median, spreadOf, spreadText, whole } from './report/statistics.ts';
import { DurableServer } from './servers/durable-server.ts';

const connections = 64;
const waiting = 5_000_000;
const windowIds = 3_000_000;
const queue = 'full.fifo';
/** Long enough that no id leaves the window during the run. */
const attributes = { DeduplicationIntervalSeconds: '86400' };
const expectedRatio = 0.7;

export async function benchFlat(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...flags], options: commonFlags });
  const part = values.quick ? 0.1 : 1;
  const rounds = values.quick ? 3 : 5;
  const pace = {
    kind: 'full',
    warmUpMs: values.quick ? 250 : 500,
    measureMs: values.quick ? 500 : 1_500,
  } as const;
  const full = await DurableServer.start(values.dir);
  await full.createQueue(queue, attributes);
  await full.fill({ queue, messages: (waiting - windowIds) * part });
  await full.forgetWindow(queue);
  await full.fill({ queue, messages: windowIds * part });
  const { visible, dedupEntries } = await full.counts(queue);
  const empty = await DurableServer.start(values.dir);

  const rate = async (server: DurableServer, name: string): Promise<number> => {
    const order = { queue: name, workload: 'send', connections, pace } as const;
    const { requests, seconds } = await server.run(order);
    return requests / seconds;
  };
  const found: { empty: number; full: number }[] = [];
  // The first round is a warm-up and is not counted: code is compiled and heaps grow.
  for (let round = -1; round < rounds; round += 1) {
    const name = `empty-${round + 1}.fifo`;
    await empty.createQueue(name, attributes);
    const each = { empty: await rate(empty, name), full: await rate(full, queue) };
    await empty.deleteQueue(name);
    if (round >= 0) found.push(each);
  }
  await empty.end();
  await full.end();

  print('\nSendMessage/s: median (lowest–highest)');
  print(`nothing waiting   ${spreadText(spreadOf(found.map((each) => each.empty)))}`);
  print(
    `full              ${spreadText(spreadOf(found.map((each) => each.full)))}   at first ${whole(visible)} messages, ${whole(dedupEntries)} ids`,
  );
  const ratio = median(found.map((each) => each.full / each.empty));
  const expectations = [
    {
      text: `full at ${ratio.toFixed(2)} of the rate with nothing, expected ${expectedRatio}`,
      isMet: ratio >= expectedRatio,
    },
  ];
  printExpectations(expectations);
  saveJson('flat.json', { visible, dedupEntries, expectations, rounds: found }, values.json);
}
