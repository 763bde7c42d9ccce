/**
 * The durable server with its own load and data, for the benchmarks of stored data: started on an empty folder, filled,
 * inspected, killed and restarted on the data it kept, and removed with its data at the end.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { LoadProcess } from '../load/load-process.ts';
import type { LoadCount, LoadOrder } from '../load/order.ts';
import { DataFolder } from './data-folder.ts';
import { callAction, createQueue, type Storage, startOnceMq } from './oncemq.ts';
import type { ServerProcess } from './server-process.ts';

export interface FillOptions {
  readonly queue: string;
  readonly messages: number;
  readonly bodyBytes?: number;
  readonly groups?: number;
}

export interface QueueCounts {
  readonly visible: number;
  readonly dedupEntries: number;
}

/** Enough to keep the server busy with batches. */
const fillConnections = 16;
const loadMsMax = 600_000;
const betweenSendsMs = 20;

export class DurableServer {
  readonly #data: DataFolder;
  readonly #storage: Storage;
  readonly #load: LoadProcess = new LoadProcess();
  #server: ServerProcess;

  private constructor(data: DataFolder, storage: Storage, server: ServerProcess) {
    this.#data = data;
    this.#storage = storage;
    this.#server = server;
  }

  /** Starts in a new folder below `parent`; default: the results folder. With a database, that has the data. */
  static async start(parent?: string | undefined, database?: Storage): Promise<DurableServer> {
    const data = new DataFolder(parent);
    const storage = database ?? { folder: data.path };
    return new DurableServer(data, storage, await startOnceMq(storage));
  }

  /** How long the last start took. */
  get startMs(): number {
    return this.#server.startMs;
  }

  fileBytes(): number {
    return this.#data.fileBytes();
  }

  anonymousBytes(): number {
    return this.#server.anonymousBytes();
  }

  createQueue(queue: string, attributes: Readonly<Record<string, string>> = {}): Promise<string> {
    return createQueue(this.#server, queue, attributes);
  }

  /** Also waits until the server has cleared the queue away. */
  async deleteQueue(queue: string): Promise<void> {
    await callAction(this.#server, 'DeleteQueue', { QueueUrl: this.#urlOf(queue) });
    await this.#server.settle();
  }

  run({
    queue,
    ...order
  }: Omit<LoadOrder, 'targets'> & { readonly queue: string }): Promise<LoadCount> {
    const { port } = this.#server;
    return this.#load.run({ ...order, targets: [{ port, queueUrl: this.#urlOf(queue) }] });
  }

  /** Sends at least this many messages; the returned count says how many. */
  fill({ messages, ...order }: FillOptions): Promise<LoadCount> {
    const pace = { kind: 'count', messages } as const;
    return this.run({ ...order, workload: 'batch', connections: fillConnections, pace });
  }

  /** Receives and deletes this many messages. */
  drain(queue: string, messages: number): Promise<LoadCount> {
    const pace = { kind: 'count', messages } as const;
    return this.run({ queue, workload: 'drain', connections: fillConnections, pace });
  }

  async counts(queue: string): Promise<QueueCounts> {
    return (await (await this.#inspect(queue, 'GET')).json()) as QueueCounts;
  }

  /**
   * Waits until a queue is loaded, if the server does that only once somebody asks for it. Meanwhile sends to another queue;
   * returns how long the slowest of these answers took.
   */
  async untilLoaded(queue: string, other: string): Promise<number> {
    let isLoaded = false;
    const loaded = this.#untilCounted(queue).finally(() => {
      isLoaded = true;
    });
    let longestMs = 0;
    for (let sent = 0; !isLoaded; sent += 1) {
      const sentAt = performance.now();
      await callAction(this.#server, 'SendMessage', {
        QueueUrl: this.#urlOf(other),
        MessageBody: 'x',
        MessageGroupId: 'group',
        MessageDeduplicationId: `meanwhile-${sent}`,
      });
      longestMs = Math.max(longestMs, performance.now() - sentAt);
      await sleep(betweenSendsMs);
    }
    await loaded;
    return longestMs;
  }

  /** Asks again when it is told that the queue is not there yet. */
  async #untilCounted(queue: string): Promise<void> {
    const giveUpAt = performance.now() + loadMsMax;
    for (;;) {
      const response = await fetch(this.#inspectUrl(queue));
      if (response.ok) return;
      if (response.status !== 503 || performance.now() > giveUpAt) {
        throw new Error(`${queue} was not loaded: ${await response.text()}`);
      }
    }
  }

  async forgetWindow(queue: string): Promise<void> {
    await this.#inspect(`${queue}/dedup`, 'DELETE');
  }

  /** Kills the server with SIGKILL and starts a new process on the same data. */
  async killAndStart(): Promise<void> {
    await this.#server.kill();
    this.#server = await startOnceMq(this.#storage);
  }

  async end(): Promise<void> {
    await this.#server.stop();
    this.#load.stop();
    this.#data.remove();
  }

  #urlOf(queue: string): string {
    return `http://127.0.0.1:${this.#server.port}/000000000000/${queue}`;
  }

  #inspectUrl(path: string): string {
    return `http://127.0.0.1:${this.#server.port}/_oncemq/queues/${path}`;
  }

  async #inspect(path: string, method: string): Promise<Response> {
    const url = this.#inspectUrl(path);
    const response = await fetch(url, { method });
    if (!response.ok) throw new Error(`${method} ${url} was answered with ${response.status}`);
    return response;
  }
}
