/**
 * The base of the conformance tests: `test` runs a test once on each backend of backends.ts, and hands it `open`, which
 * opens what the test needs on that backend: a queue, a topic, or a backend alone. All of it is closed after the test,
 * which fails if the backend told of a failure that no request had.
 *
 * Tests talk to the backend's port alone, so a test holds for every backend that there will be. Of several nodes, each
 * request meets another than the one before.
 */

import assert from 'node:assert/strict';
import { test as nodeTest } from 'node:test';
import type { Contract } from '@oncemq/toolkit';
import type { ActionBackend } from '../../src/api/actions/action.ts';
import type { Attributes, Command, CommandOf, Outcome } from '../../src/core/commands.ts';
import type { Refusal } from '../../src/core/errors.ts';
import type { Event } from '../../src/core/events.ts';
import type { Limits } from '../../src/core/limits.ts';
import { enforced } from '../../src/server/contract/contracted-backend.ts';
import type {
  Backend,
  Explained,
  PeekedPage,
  PlainCommand,
  PostRequest,
  Received,
} from '../../src/storage/backend.ts';
import { TestApi } from '../api/fixture.ts';
import { accepted, redrivePolicy } from '../core/fixture.ts';
import {
  type BackendOptions,
  type BackendUnderTest,
  backends,
  type OpenedBackend,
} from './backends.ts';
import { TestQueue } from './test-queue.ts';
import { TestTopic } from './test-topic.ts';

export { accepted, arnOf, assertRefused, redrivePolicy } from '../core/fixture.ts';
export { baseUrl, topicArnOf } from '../core/topic/fixture.ts';
export { startedAt } from './backends.ts';
export { atOnce, type Delivered, TestQueue } from './test-queue.ts';
export { TestTopic } from './test-topic.ts';

/** What an endpoint answers; default: that all is well. */
export type Answer = (request: PostRequest) => Awaited<ReturnType<Poster>>;

type Poster = NonNullable<BackendOptions['poster']>;

interface QueueOptions {
  readonly fifo?: boolean;
  /** Default `jobs`, with `.fifo` on a FIFO queue. */
  readonly name?: string;
  readonly attributes?: Attributes;
  readonly limits?: Limits;
}

interface TestOptions {
  /** The test restarts the backend: it is skipped where nothing is kept. */
  readonly restarts?: boolean;
}

/** Runs the test once on each backend. */
export function test(
  title: string,
  run: (open: Opener) => void | Promise<void>,
  options: TestOptions = {},
): void {
  for (const backend of backends) {
    const reason = reasonToSkip(backend, title, options);
    nodeTest(`${title} (${backend.name})`, reason === undefined ? {} : { skip: reason }, () =>
      runOn(backend, run),
    );
  }
}

interface HomeOptions extends Omit<BackendOptions, 'judge'> {
  /** Enforced as a server does it, with one memory of keys for all nodes. */
  readonly contract?: Contract;
}

/** Opens what a test needs, each time on a backend of its own. */
export class Opener {
  readonly #kind: BackendUnderTest;
  readonly #opened: TestBackend[] = [];

  constructor(kind: BackendUnderTest) {
    this.#kind = kind;
  }

  async home(options: HomeOptions = {}): Promise<TestBackend> {
    const home = await TestBackend.open(this.#kind, options);
    this.#opened.push(home);
    return home;
  }

  async queue(options: QueueOptions = {}): Promise<TestQueue> {
    const { fifo = false, attributes = {}, limits } = options;
    const home = await this.home(limits === undefined ? {} : { limits });
    return home.createQueue(options.name ?? (fifo ? 'jobs.fifo' : 'jobs'), attributes);
  }

  /** A queue and its dead-letter queue, `jobs` and `dead`. */
  async queueWithDeadLetters(
    options: QueueOptions & { receiveCountMax?: number } = {},
  ): Promise<{ queue: TestQueue; dead: TestQueue }> {
    const { fifo = false, receiveCountMax = 1, attributes = {}, limits } = options;
    const suffix = fifo ? '.fifo' : '';
    const home = await this.home(limits === undefined ? {} : { limits });
    const dead = await home.createQueue(`dead${suffix}`);
    const queue = await home.createQueue(`jobs${suffix}`, {
      RedrivePolicy: redrivePolicy(dead.arn, receiveCountMax),
      ...attributes,
    });
    return { queue, dead };
  }

  /** `prices`, with `.fifo` on a FIFO topic. */
  async topic(
    options: { fifo?: boolean; attributes?: Attributes; limits?: Limits } = {},
  ): Promise<TestTopic> {
    const { fifo = false, attributes = {}, limits } = options;
    const home = await this.home(limits === undefined ? {} : { limits });
    return home.createTopic(fifo ? 'prices.fifo' : 'prices', attributes);
  }

  /** The api over it, for requests in either wire form. */
  async api(options: HomeOptions = {}): Promise<TestApi> {
    const { port, actions } = await this.home(options);
    return new TestApi({ backend: port, actions });
  }

  async close(): Promise<void> {
    for (const home of this.#opened.reverse()) await home.close();
  }
}

/** A backend in a test. Its verbs expect to succeed; `run` and what begins with `try` return the outcome as it is. */
export class TestBackend {
  /** What was posted to endpoints. */
  readonly posted: PostRequest[] = [];
  /** What endpoints answer. */
  answer: Answer = () => ({ ok: true });
  readonly #events: Event[] = [];
  readonly #failures: unknown[] = [];
  #opened: OpenedBackend | undefined;
  #requests = 0;

  static async open(
    kind: BackendUnderTest,
    { contract, ...options }: HomeOptions,
  ): Promise<TestBackend> {
    const home = new TestBackend();
    const rules = contract && enforced(contract);
    const onFailure = (error: unknown): void => {
      home.#failures.push(error);
    };
    const failing = { onError: onFailure, onFailure, onUnreadable: onFailure };
    const { judge } = rules ?? {};
    home.#opened = await kind.open({ poster: home.#poster, ...failing, ...options, judge });
    home.#listen();
    if (rules !== undefined) home.actions = rules.enforceOn(home.port);
    return home;
  }

  /** Its port. Every call goes to another node than the one before. */
  readonly port: Backend = new Proxy({} as Backend, {
    get: (_, name) => {
      const node = this.#nextNode();
      const member = node[name as keyof Backend];
      return typeof member === 'function' ? member.bind(node) : member;
    },
  });

  /** The verbs that actions use, with the contract if there is one. */
  actions: ActionBackend = this.port;

  get now(): number {
    return this.port.now();
  }

  run<C extends PlainCommand>(command: C): Promise<Outcome<C['type']>>;
  run(command: CommandOf<'receive'>): Promise<Received>;
  run(command: CommandOf<'peek-messages'>): Promise<PeekedPage | Refusal>;
  run(
    command: CommandOf<'explain' | 'explain-topic'>,
  ): Promise<{ ok: true; entries: readonly Explained[] } | Refusal>;
  run(command: Command): Promise<unknown> {
    const { port, actions } = this;
    if (command.type === 'receive') return actions.receive(command, patient);
    if (command.type === 'peek-messages') return port.peek(command);
    if (command.type === 'explain' || command.type === 'explain-topic') {
      return port.explain(command);
    }
    return actions.run(command as PlainCommand);
  }

  /** Turns the clock and does everything that falls due on the way. */
  async advance(seconds: number): Promise<void> {
    await this.#opened?.advance(Math.round(seconds * 1000));
  }

  /** Closes the backend and opens it again with what it keeps; the events so far stay. */
  async restart(): Promise<void> {
    await this.#opened?.restart();
    this.#listen();
  }

  async createQueue(name: string, attributes: Attributes = {}): Promise<TestQueue> {
    const fifo = name.endsWith('.fifo') ? { FifoQueue: 'true' } : {};
    accepted(
      await this.run({
        type: 'create-queue',
        queue: name,
        attributes: { ...fifo, ...attributes },
      }),
    );
    return new TestQueue(this, name);
  }

  async createTopic(name: string, attributes: Attributes = {}): Promise<TestTopic> {
    const { topicArn } = accepted(await this.tryCreateTopic(name, attributes));
    return new TestTopic(this, topicArn);
  }

  tryCreateTopic(
    name: string | undefined,
    attributes: Attributes = {},
  ): Promise<Outcome<'create-topic'>> {
    const fifo = name?.endsWith('.fifo') === true ? { FifoTopic: 'true' } : {};
    return this.run({ type: 'create-topic', name, attributes: { ...fifo, ...attributes } });
  }

  /** Resolves when so many receivers wait. */
  async parked(count: number): Promise<void> {
    const waiting = (): number =>
      this.#nodes.reduce((sum, node) => sum + node.usage().waitingReceives, 0);
    while (waiting() < count) await nextTurn();
  }

  /** Resolves when every node has done what it was about to do: commands are applied in order. */
  async settle(): Promise<void> {
    // What the first of them changed may wake a receiver, whose retry the second comes after.
    for (const _ of [1, 2]) {
      await nextTurn();
      await Promise.all(this.#nodes.map((node) => node.run({ type: 'list-queues' })));
    }
  }

  /** All events so far. */
  async events(): Promise<readonly Event[]> {
    // Events are told in the same turn of the event loop as the answer that they belong to.
    await nextTurn();
    return [...this.#events];
  }

  /** The events of this type so far. */
  async told<T extends Event['type']>(type: T): Promise<Extract<Event, { type: T }>[]> {
    const events = await this.events();
    return events.filter((event) => event.type === type) as Extract<Event, { type: T }>[];
  }

  async close(): Promise<void> {
    await this.#opened?.close();
    assert.deepEqual(this.#failures, [], 'nothing fails but what a client asked for');
  }

  readonly #poster: Poster = async (request) => {
    this.posted.push(request);
    return this.answer(request);
  };

  get #nodes(): readonly Backend[] {
    assert.ok(this.#opened, 'the backend is open');
    return this.#opened.nodes;
  }

  #nextNode(): Backend {
    this.#requests += 1;
    return this.#nodes[this.#requests % this.#nodes.length] as Backend;
  }

  #listen(): void {
    for (const node of this.#nodes) {
      node.listen((event) => {
        this.#events.push(event);
      });
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A client that does not go away. */
const patient: { readonly signal: AbortSignal } = { signal: new AbortController().signal };

async function runOn(
  kind: BackendUnderTest,
  run: (open: Opener) => void | Promise<void>,
): Promise<void> {
  const open = new Opener(kind);
  try {
    await run(open);
  } catch (error) {
    // What the test found comes before what closing finds.
    await open.close().catch(() => {});
    throw error;
  }
  await open.close();
}

function reasonToSkip(
  backend: BackendUnderTest,
  title: string,
  { restarts = false }: TestOptions,
): string | undefined {
  if (restarts && backend.forgets !== undefined) return backend.forgets;
  return Object.hasOwn(backend.gaps, title) ? backend.gaps[title] : undefined;
}
