/**
 * `oncemq serve` as a process that is killed and started again, on the same port and with the same flags. It reports
 * every unexpected end, with the server's last output.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const startMsMax = 60_000;
const stopMsMax = 20_000;
const logLinesMax = 50;

export class KilledServer {
  readonly #flags: readonly string[];
  readonly #onFailure: (error: Error) => void;
  /** Gets each line of its log. */
  readonly #onLog: (line: string) => void;
  #child: ChildProcess | undefined;
  /** Its last output, for an unexpected end. */
  readonly #log: string[] = [];
  #startMs = 1_000;
  #isClosed = false;

  constructor(
    flags: readonly string[],
    onFailure: (error: Error) => void,
    onLog: (line: string) => void = () => {},
  ) {
    this.#flags = flags;
    this.#onFailure = onFailure;
    this.#onLog = onLog;
  }

  /** How long its last complete start took. */
  get startMs(): number {
    return this.#startMs;
  }

  /** Starts it; the promise resolves when the server reports that it is ready, and never if it is killed before. */
  start(): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the run is over'));
    const began = performance.now();
    const child = spawn(process.execPath, [main, 'serve', '--log', 'json', ...this.#flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // What the test runner is told, which the server would take for a setting of its own.
      env: { ...process.env, ONCEMQ_NO_INSTALL: undefined },
    });
    this.#child = child;
    createInterface(child.stderr).on('line', (line) => {
      this.#log.push(line);
      this.#onLog(line);
      if (this.#log.length > logLinesMax) this.#log.shift();
    });
    const fail = (what: string): void =>
      this.#onFailure(new Error(`the server ${what}\n${this.#log.join('\n')}`));
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return;
      this.#child = undefined;
      fail(`ended by itself: ${code ?? signal}`);
    });
    const impatience = setTimeout(() => fail(`did not start in ${startMsMax} ms`), startMsMax);
    child.once('exit', () => clearTimeout(impatience));
    return new Promise((resolve) => {
      createInterface(child.stdout).once('line', () => {
        clearTimeout(impatience);
        this.#startMs = performance.now() - began;
        resolve();
      });
    });
  }

  /** SIGKILL: the server gets no chance to do anything. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** It stops in the middle of whatever it does, until it is thawed and goes on as if nothing had happened. */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Kills it for good, so that a run that failed elsewhere does not start it again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.kill();
  }

  /** SIGTERM, which must end it with 0. */
  async stop(): Promise<void> {
    const code = await this.#end('SIGTERM');
    if (code !== 0) throw new Error(`the server stopped with ${code}\n${this.#log.join('\n')}`);
  }

  async #end(signal: NodeJS.Signals): Promise<number | string | null> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return null;
    const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
    child.kill(signal);
    const forced = setTimeout(() => child.kill('SIGKILL'), stopMsMax);
    const [code, took] = await ended;
    clearTimeout(forced);
    return code ?? took;
  }
}
