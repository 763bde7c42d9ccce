/**
 * Python's boto3: the life that all clients share, with an old one that speaks Query (Debian's, say) and a new one that
 * speaks JSON. A test drives it through boto3-bridge.py, a child process that calls boto3 as it is told.
 *
 * Which boto3 is at hand is found out when the tests run; one that is missing is skipped by name.
 */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { clientsAtHand, describeClient, environment, type Program } from './clients-at-hand.ts';
import { everydayLife } from './everyday-life.ts';
import { type ActionName, CallError, type WireClient } from './wire-client.ts';

/** The script is not compiled: it is where it is written, and this file is below dist. */
const script = fileURLToPath(new URL('../../../test/sdk/boto3-bridge.py', import.meta.url));

const atHand = clientsAtHand('boto3');

for (const wire of ['query', 'json'] as const) {
  describeClient(atHand, wire, (program) => {
    let bridge: Bridge;
    before(async () => {
      bridge = await Bridge.start(program);
    });
    after(() => bridge.close());
    everydayLife({ wire, open: (endpoint) => bridge.open(endpoint) });
  });
}

interface Answer {
  readonly id: number;
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly status?: number; readonly message: string };
}

class Bridge {
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
    this.#child = spawn(file, [...args, script], { env: environment(env) });
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
      call: async (action, input) => {
        const { output, error } = await this.#ask({ endpoint, action, input });
        if (error === undefined) return output as never;
        throw new CallError(error.code, error.status, error.message);
      },
      has: (action: ActionName) => this.#actions.includes(action),
      // The connections of boto3 end with the process; the server closes idle ones before.
      close: () => {},
    };
  }

  async close(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.stdin.end();
    await exited;
  }

  #ask(request: object): Promise<Answer> {
    this.#asked += 1;
    const id = this.#asked;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.stdin.write(`${JSON.stringify({ id, ...request }, replace)}\n`);
    });
  }

  /** Whoever still waits is told what Python said last. */
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
