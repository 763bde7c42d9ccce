/**
 * The load, in its own process: N connections with at most one request in flight on each. A message tells it what to do
 * (order.ts), and it replies with its counts; any failure ends the process, and with it the benchmark.
 *
 * It never sleeps: on a machine with two cores, waking a sleeping process costs the server more than its own work. With a
 * load that slept between responses, servers that do more work between two of them looked much slower than they are
 * (17,000 requests per second for OnceMQ and fauxqs, but 28,000 and 26,000 with a load that stays awake; 51,000 for the
 * floor either way). Being awake, it also writes a request that is due at a fixed time within one turn of the event loop.
 */

import { Connection, type ConnectionUser } from './connection.ts';
import { conversationOf, type Tally } from './conversation.ts';
import type { LoadCount, LoadOrder, LoadTarget } from './order.ts';
import { Schedule } from './schedule.ts';

/** If no message is sent or deleted for this long, the server hangs or has lost one. */
const stallMsMax = 30_000;

class Load implements ConnectionUser {
  readonly #order: LoadOrder;
  readonly #tally: Tally = { requests: 0, messages: 0, empty: 0 };
  /** Only for requests that are due at fixed times. */
  readonly #schedule: Schedule | undefined;
  readonly #connections: readonly Connection[];
  /** Connected, with no request in flight. */
  readonly #free: Connection[] = [];
  readonly #failed: Promise<never>;
  #fail: (error: Error) => void = () => {};
  #onAllFree: () => void = () => {};
  #isOver = false;
  #isClosed = false;
  #turns = 0;
  #idleTurns = 0;
  #requestsBefore = 0;
  #messagesBefore = 0;
  #progressAt = performance.now();

  constructor(order: LoadOrder) {
    this.#order = order;
    this.#schedule = order.pace.kind === 'rate' ? new Schedule(order.pace) : undefined;
    this.#failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.#connections = Array.from({ length: order.connections }, (_, index) => {
      const target = order.targets[index % order.targets.length] as LoadTarget;
      return new Connection(target.port, conversationOf(order, target, this.#tally), this);
    });
  }

  async run(): Promise<LoadCount> {
    const { pace } = this.#order;
    this.#turn();
    if (pace.kind !== 'count') await this.#until(timePassed(pace.warmUpMs));
    const before = this.#snapshot();
    await this.#until(pace.kind === 'count' ? this.#allFree() : timePassed(pace.measureMs));
    const after = this.#snapshot();
    this.#isOver = true;
    await this.#until(this.#allFree());
    this.#isClosed = true;
    for (const connection of this.#connections) connection.close();
    return {
      seconds: (after.now - before.now) / 1000,
      requests: after.requests - before.requests,
      messages: after.messages - before.messages,
      empty: after.empty - before.empty,
      messagesInAll: this.#tally.messages,
      free: (after.idleTurns - before.idleTurns) / (after.turns - before.turns),
      latency: this.#schedule?.latency(),
    };
  }

  onAnswer(connection: Connection): void {
    this.#tally.requests += 1;
    this.#schedule?.answered(connection.dueAt);
  }

  onFree(connection: Connection): void {
    if (this.#mayAsk(connection)) connection.write();
    else this.#free.push(connection);
  }

  onFailure(error: Error): void {
    this.#fail(error);
  }

  #mayAsk(connection: Connection): boolean {
    const { pace } = this.#order;
    if (this.#schedule !== undefined) {
      const dueAt = this.#schedule.takeDue();
      if (dueAt !== undefined) connection.dueAt = dueAt;
      return dueAt !== undefined;
    }
    if (pace.kind === 'count') return this.#tally.messages < pace.messages;
    return !this.#isOver || connection.isAmid;
  }

  /** Keeps the event loop turning, so that it polls for responses and never blocks on them. */
  #turn(): void {
    setImmediate(() => {
      if (this.#isClosed) return;
      const { requests, messages } = this.#tally;
      this.#turns += 1;
      if (requests === this.#requestsBefore) this.#idleTurns += 1;
      this.#requestsBefore = requests;
      this.#checkProgress(messages);
      if (this.#schedule !== undefined) this.#askWhatIsDue();
      if (this.#free.length === this.#connections.length) this.#onAllFree();
      this.#turn();
    });
  }

  #askWhatIsDue(): void {
    for (let next = this.#free.at(-1); next && this.#mayAsk(next); next = this.#free.at(-1)) {
      this.#free.pop();
      next.write();
    }
  }

  #checkProgress(messages: number): void {
    const now = performance.now();
    if (messages > this.#messagesBefore) this.#progressAt = now;
    else if (now - this.#progressAt > stallMsMax) {
      this.#fail(new Error(`no message was processed for ${stallMsMax} ms`));
    }
    this.#messagesBefore = messages;
  }

  #allFree(): Promise<void> {
    return new Promise((resolve) => {
      this.#onAllFree = resolve;
    });
  }

  #until(event: Promise<void>): Promise<void> {
    return Promise.race([event, this.#failed]);
  }

  #snapshot() {
    const now = performance.now();
    return { ...this.#tally, now, turns: this.#turns, idleTurns: this.#idleTurns };
  }
}

function timePassed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// Only when run as its own process, not when imported.
if (process.send !== undefined && process.argv[2] === 'load') {
  process.on('message', (order) => {
    void new Load(order as LoadOrder).run().then((count) => process.send?.(count));
  });
}
