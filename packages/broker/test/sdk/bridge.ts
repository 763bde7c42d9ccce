/**
 * Drives an AWS SDK of another language through a bridge, a child process that makes the calls it is told to: one line of
 * JSON for each call and each answer, in the format that boto3-bridge.py describes. One process serves all tests of a file
 * and wire form.
 */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { environment, type Program } from './clients-at-hand.ts';
import type { TopicClient } from './topic-life.ts';
import { type ActionName, CallError, type WireClient } from './wire-client.ts';

interface Answer {
  readonly id: number;
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly status?: number; readonly message: string };
}

export class Bridge {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting: Map<number, (answer: Answer) => void> = new Map();
  #actions: readonly string[] = [];
  #complaints = '';
  #asked = 0;

  static async start(program: Program): Promise<Bridge> {
    const bridge = new Bridge(program);
    const { output } = await bridge.#ask({ endpoint: 'http://127.0.0.1' });
    bridge.#actions = output as string[];
    return bridge;
  }

  private constructor({ command, env }: Program) {
    const [file = '', ...args] = command;
    this.#child = spawn(file, args, { env: environment(env) });
    this.#child.stderr.on('data', (chunk) => {
      this.#complaints += String(chunk);
    });
    this.#child.on('exit', () => this.#fail());
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const answer = JSON.parse(line, revive) as Answer;
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
  }

  open(endpoint: string): WireClient {
    return {
      call: (action, input) => this.#call({ endpoint, action, input }) as never,
      has: (action: ActionName) => this.#actions.includes(action),
      // Its connections end with the process; the server closes idle ones earlier.
      close: () => {},
    };
  }

  /** The same SDK, for SNS. */
  openTopics(endpoint: string): TopicClient {
    return {
      call: (action, input) => this.#call({ endpoint, service: 'sns', action, input }) as never,
      close: () => {},
    };
  }

  async close(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.stdin.end();
    await exited;
  }

  async #call(request: object): Promise<unknown> {
    const { output, error } = await this.#ask(request);
    if (error === undefined) return output;
    throw new CallError(error.code, error.status, error.message);
  }

  #ask(request: object): Promise<Answer> {
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.stdin.write(`${JSON.stringify({ id, ...request }, replace)}\n`);
    });
  }

  /** Fails the pending calls with the last output of the process. */
  #fail(): void {
    for (const [id, tell] of this.#waiting) {
      tell({ id, error: { code: 'BridgeEnded', message: this.#complaints } });
    }
    this.#waiting.clear();
  }
}

function replace(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { $bytes: Buffer.from(value).toString('base64') } : value;
}

function revive(_key: string, value: unknown): unknown {
  const isBytes = typeof value === 'object' && value !== null && '$bytes' in value;
  return isBytes ? Buffer.from(String(value.$bytes), 'base64') : value;
}
