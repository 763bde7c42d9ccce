/**
 * Rounds: one load against one server, with a queue of its own that is gone afterwards, and what it took of the server.
 * Servers that are compared take turns, in another order each time, so that what the machine does beside it meets all of
 * them.
 */

import { callAction, createQueue, type Target } from '../servers/oncemq.ts';
import type { ServerProcess } from '../servers/server-process.ts';
import { LoadProcess } from './load-process.ts';
import type { LoadCount, Workload } from './order.ts';

/** One round of one server. */
export interface Measured extends LoadCount {
  /** Processor time of the server, all its threads, and bytes that it wrote to the disk at most: for each message. */
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
      port,
      authorization,
      queueUrl,
      workload,
      connections,
      pace: { kind: 'full', warmUpMs, measureMs },
    });
    const after = server.used();
    await callAction(target, 'DeleteQueue', { QueueUrl: queueUrl });
    // What the server does after that would be taken from the next one's time.
    await server.settle();
    const dirtiedBytes = after.dirtiedBytes - before.dirtiedBytes;
    const handedBytes = after.handedBytes - before.handedBytes;
    return {
      ...count,
      cpuMicros: (after.cpuMicros - before.cpuMicros) / count.messagesInAll,
      // Each counts too much, of something else.
      writtenBytes: Math.min(dirtiedBytes, handedBytes) / count.messagesInAll,
    };
  }

  stop(): void {
    this.#load.stop();
  }
}

/** The list from another start each time. */
export function turned<T>(list: readonly T[], by: number): T[] {
  const start = by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}
