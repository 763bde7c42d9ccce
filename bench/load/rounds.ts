/**
 * Rounds: one load against one server, with its own queue that is deleted afterwards, and the resources the server used.
 * Servers that are compared take turns, each round starting with another one, so that other activity on the machine
 * affects all of them.
 */

import { callAction, createQueue, type Target } from '../servers/oncemq.ts';
import type { ServerProcess } from '../servers/server-process.ts';
import { LoadProcess } from './load-process.ts';
import type { LoadCount, Workload } from './order.ts';

/** One round of one server. */
export interface Measured extends LoadCount {
  /** Per message: processor time of all threads of the server, and an upper bound of the bytes it wrote to disk. */
  readonly cpuMicros: number;
  readonly writtenBytes: number;
}

export interface Round {
  readonly workload: Workload;
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export class Rounds {
  readonly #load: LoadProcess = new LoadProcess({ givesWay: true });
  #queues = 0;

  async run(
    target: Target & { readonly server: ServerProcess },
    { workload, connections, warmUpMs, measureMs }: Round,
  ): Promise<Measured> {
    const { server, port, authorization } = target;
    this.#queues += 1;
    const queueUrl = await createQueue(target, `bench-${this.#queues}.fifo`);
    const before = server.used();
    const count = await this.#load.run({
      targets: [{ port, queueUrl }],
      authorization,
      workload,
      connections,
      pace: { kind: 'full', warmUpMs, measureMs },
    });
    const after = server.used();
    await callAction(target, 'DeleteQueue', { QueueUrl: queueUrl });
    // Work that the server still does after that would slow down the next one.
    await server.settle();
    const dirtiedBytes = after.dirtiedBytes - before.dirtiedBytes;
    const handedBytes = after.handedBytes - before.handedBytes;
    return {
      ...count,
      cpuMicros: (after.cpuMicros - before.cpuMicros) / count.messagesInAll,
      // Each overcounts, for different reasons (see `Used`), so the smaller one is closer.
      writtenBytes: Math.min(dirtiedBytes, handedBytes) / count.messagesInAll,
    };
  }

  stop(): void {
    this.#load.stop();
  }
}

/** The list, rotated to start with another item. */
export function turned<T>(list: readonly T[], by: number): T[] {
  const start = by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}
