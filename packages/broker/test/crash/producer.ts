/**
 * The producer of a crash run, a process of its own: a lane for each group of each queue and of the topic, all at once. It ends when it is
 * told to finish and has nothing left to retry.
 */

import { Chance } from '../support/chance.ts';
import { CrashClient } from './client.ts';
import { HistoryWriter } from './history.ts';
import { Lane } from './lane.ts';
import { taskOfProcess, whenTold } from './task.ts';
import { TopicLane } from './topic-lane.ts';
import { queues, topic } from './workload.ts';

const { name, ports, lateMs, pauseMsMax, directory, seed, round } = taskOfProcess();
const client = new CrashClient(ports, lateMs);
const history = new HistoryWriter(directory, name);
const finishing = whenTold('finish');
const lanes = queues
  .flatMap((queue) => queue.groups.map((group) => ({ queue, group })))
  .map(({ queue, group }, number) => {
    const chance = new Chance(seed, number);
    return new Lane({ queue, group, client, history, chance, round, name: `${number}` });
  });
const topicLanes = topic.groups.map((group, number) => {
  const chance = new Chance(seed, lanes.length + number);
  return new TopicLane({ group, client, history, chance, round });
});
await Promise.all([...lanes, ...topicLanes].map((lane) => lane.run(finishing, pauseMsMax)));
client.close();
history.close();
process.disconnect();
