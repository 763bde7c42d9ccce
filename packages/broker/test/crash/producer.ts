/**
 * The producer of a crash run, a process of its own: a lane for each group of each queue, all at once. It ends when it is
 * told to finish and has nothing left to retry.
 */

import { Chance } from '../support/chance.ts';
import { CrashClient } from './client.ts';
import { HistoryWriter } from './history.ts';
import { Lane } from './lane.ts';
import { taskOfProcess, whenTold } from './task.ts';
import { queues } from './workload.ts';

const { name, ports, pauseMsMax, directory, seed, round } = taskOfProcess();
const client = new CrashClient(ports);
const history = new HistoryWriter(directory, name);
const finishing = whenTold('finish');
const lanes = queues
  .flatMap((queue) => queue.groups.map((group) => ({ queue, group })))
  .map(({ queue, group }, number) => {
    const chance = new Chance(seed, number);
    return new Lane({ queue, group, client, history, chance, round, name: `${number}` });
  });
await Promise.all(lanes.map((lane) => lane.run(finishing, pauseMsMax)));
client.close();
history.close();
process.disconnect();
