/**
 * `oncemq serve` in a separate process, for tests in which it is killed, refuses to start or runs out of space. Requests
 * are AWS JSON over plain HTTP, so that tests see the raw answers.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

/** How long a server that stopped answering may take to end, so that its own words can be quoted. */
const endMsMax = 1_000;

/** A test that fails leaves its server behind, and the test's process would wait for it for ever. */
const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill('SIGKILL');
});

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says; each test knows what it asks for.
  readonly body: any;
}

export interface ProcessOptions {
  /** A command before `node`, such as a shell that sets limits. */
  readonly prefix?: readonly string[];
  /** Variables in addition to those of the test's own process. */
  readonly env?: Readonly<Record<string, string>>;
}

export class ServerProcess {
  readonly child: ChildProcess;
  readonly url: string;
  readonly readyLine: string;
  /** What it has written to standard error so far. */
  readonly said: () => string;

  private constructor(child: ChildProcess, readyLine: string, said: () => string) {
    this.child = child;
    this.readyLine = readyLine;
    this.said = said;
    this.url = /http:\S+/.exec(readyLine)?.[0] ?? '';
  }

  /** Resolves when it is ready; rejects with its output if it ends before that. */
  static async start(
    args: readonly string[],
    options: ProcessOptions = {},
  ): Promise<ServerProcess> {
    const [command = process.execPath, ...before] = options.prefix ?? [];
    const words = options.prefix === undefined ? [] : [...before, process.execPath];
    const child = spawn(command, [...words, cli, 'serve', '--port', '0', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...options.env },
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const ready = once(lines, 'line').then(([line]) => line as string);
    const ended = once(child, 'close').then(() => undefined);
    const line = await Promise.race([ready, ended]);
    if (line === undefined) throw new Error(said);
    return new ServerProcess(child, line, () => said);
  }

  /** Its output when it refuses to start; fails if it starts. */
  static async refusal(args: readonly string[], options: ProcessOptions = {}): Promise<string> {
    const started = await ServerProcess.start(args, options).catch((error: Error) => error.message);
    if (typeof started === 'string') return started;
    await started.kill();
    throw new Error(`it started: ${started.readyLine}`);
  }

  async call(action: string, input: object): Promise<Answer> {
    return this.#fetch('/', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-amz-json-1.0',
        'X-Amz-Target': `AmazonSQS.${action}`,
      },
      body: JSON.stringify(input),
    });
  }

  /** Resolves once what it has written to standard error matches; rejects with that if the server ends before. */
  async says(pattern: RegExp): Promise<void> {
    const ended = once(this.child, 'close').then(() => true);
    while (!pattern.test(this.said())) {
      const more = once(this.child.stderr as NodeJS.ReadableStream, 'data').then(() => false);
      if (await Promise.race([more, ended])) throw new Error(this.said());
    }
  }

  inspect(path: string): Promise<Answer> {
    return this.#fetch(`/_oncemq/${path}`, {});
  }

  queueUrl(name: string): string {
    return `${this.url}/000000000000/${name}`;
  }

  /** How it ended: its exit code, or the signal. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | NodeJS.Signals | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const closed = once(this.child, 'close');
      this.child.kill(signal);
      await closed;
    }
    return this.child.exitCode ?? this.child.signalCode;
  }

  async #fetch(path: string, init: RequestInit): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, init).catch(async (cause: Error) => {
      // If the server has died, its own output says more.
      const isRunning = this.child.exitCode === null && this.child.signalCode === null;
      const signal = AbortSignal.timeout(endMsMax);
      if (isRunning) await once(this.child, 'close', { signal }).catch(() => {});
      const end = this.child.exitCode ?? this.child.signalCode;
      if (end === null) throw cause;
      throw new Error(`the server ended with ${end}: ${this.said()}`, { cause });
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  }
}
