/**
 * `oncemq serve --memory` in a separate process, so that the test can watch its memory and notice its end. It is started
 * as users start it, except that a memory probe is loaded too.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Sign } from './connection.ts';
import { fuzzKey, signed } from './signing-client.ts';

export interface MemoryUse {
  /** In use after a garbage collection: objects, and buffers outside the heap. */
  readonly heapBytes: number;
  /** The resident memory of the process, used or not. */
  readonly rssBytes: number;
  /** The most that it has been. */
  readonly peakBytes: number;
}

/** Every body is read: by a schema that leads into it, and as an envelope. Violations are only reported. */
const observed = {
  queues: [
    { queue: '*.fifo' },
    {
      queue: '*',
      schema: {
        $defs: {
          any: {
            items: { $ref: '#/$defs/any' },
            uniqueItems: true,
            additionalProperties: { $ref: '#/$defs/any' },
          },
        },
        $ref: '#/$defs/any',
      },
    },
  ],
  topics: [{ topic: '*', contract: 'keyed' }],
};

export class ServerProcess {
  readonly port: number;
  readonly sign: Sign;
  /** Whether it checks signatures and the policies of queues, and judges messages by a contract. */
  readonly isGuarded: boolean;
  readonly #child: ChildProcess;
  readonly #log: string[];

  private constructor(child: ChildProcess, port: number, isGuarded: boolean, log: string[]) {
    this.#child = child;
    this.port = port;
    this.isGuarded = isGuarded;
    this.sign = isGuarded ? signed : (request) => request;
    this.#log = log;
  }

  static async start({
    isGuarded = false,
  }: {
    readonly isGuarded?: boolean;
  } = {}): Promise<ServerProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'oncemq-fuzz-'));
    const contract = join(folder, 'contract.json');
    writeFileSync(contract, JSON.stringify(observed));
    const guard = isGuarded
      ? ['--auth', 'sigv4', '--enforce-policies', '--contract', contract]
      : [];
    const child = fork(
      fileURLToPath(new URL('../../src/cli/main.js', import.meta.url)),
      ['serve', '--port', '0', '--memory', '--clock', 'virtual', '--log', 'json', ...guard],
      {
        env: {
          ...process.env,
          ...(isGuarded && {
            ONCEMQ_ACCESS_KEY_ID: fuzzKey.accessKeyId,
            ONCEMQ_SECRET_ACCESS_KEY: fuzzKey.secretAccessKey,
          }),
        },
        execArgv: ['--expose-gc', '--import', new URL('memory-probe.js', import.meta.url).href],
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    );
    const log: string[] = [];
    child.stderr?.setEncoding('utf8').on('data', (text: string) => log.push(text));
    const ready = await new Promise<string>((resolve, reject) => {
      child.stdout?.setEncoding('utf8').once('data', resolve);
      child.once('exit', (code) => reject(new Error(`no start, code ${code}: ${log.join('')}`)));
    });
    rmSync(folder, { recursive: true });
    const port = Number(/^oncemq ready http:\/\/127\.0\.0\.1:(\d+) /.exec(ready)?.[1]);
    return new ServerProcess(child, port, isGuarded, log);
  }

  get isUp(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** What it has written to standard error: nothing, unless a request failed inside the server. */
  get log(): string {
    return this.#log.join('');
  }

  async memoryUse(): Promise<MemoryUse> {
    this.#child.send('memory');
    const [use] = (await once(this.#child, 'message')) as [MemoryUse];
    return use;
  }

  /** Stops it; returns the exit code, or the signal that ended it. */
  async stop(): Promise<number | string | null> {
    if (!this.isUp) return this.#child.exitCode ?? this.#child.signalCode;
    const ended = once(this.#child, 'exit') as Promise<[number | null, string | null]>;
    this.#child.kill('SIGTERM');
    const forced = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    const [code, signal] = await ended;
    clearTimeout(forced);
    return code ?? signal;
  }
}
