/**
 * A server in its own process, in whatever language: starts it, waits until a line of its output names the port, measures
 * it from outside (Linux counts the resources of every process), and ends it.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { atExit } from './at-exit.ts';
import { processMicros } from './processor-time.ts';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Matches the line that says the server is ready; the first group is the port. */
  readonly ready: RegExp;
}

/** What a process has used since its start; zeros where the system does not report it. */
export interface Used {
  /** Processor time of all its threads. */
  readonly cpuMicros: number;
  /** File pages that it dirtied. Newer kernels count whole folios: 64 KB and more for one page of a large file. */
  readonly dirtiedBytes: number;
  /** Bytes passed to write calls, including those to sockets. */
  readonly handedBytes: number;
}

const startMsMax = 120_000;
const stopMsMax = 20_000;
const complaintCharsMax = 1_000;
const settleMsMax = 10_000;
const settleStepMs = 100;
/** A server that uses no more processor time than this per step counts as idle. */
const settledMicros = 10_000;

export class ServerProcess {
  readonly port: number;
  /** From the start of the process to the line that says it is ready. */
  readonly startMs: number;
  readonly #child: ChildProcess;
  readonly #kill: () => void;

  private constructor(child: ChildProcess, kill: () => void, found: { port: number; ms: number }) {
    this.#child = child;
    this.#kill = kill;
    this.port = found.port;
    this.startMs = found.ms;
  }

  /** Throws if the server does not become ready, with the end of its standard error. */
  static async start({ command, args, env, ready }: Program): Promise<ServerProcess> {
    const startedAt = performance.now();
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const kill = atExit(() => child.kill('SIGKILL'));
    const impatience = setTimeout(kill, startMsMax);
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-complaintCharsMax);
    });
    const port = await new Promise<number>((resolve, reject) => {
      createInterface(child.stdout).on('line', (line) => {
        const found = ready.exec(line);
        if (found !== null) resolve(Number(found[1]));
      });
      child.once('error', reject);
      child.once('close', () => reject(new Error(`it ended before it was ready. ${complaint}`)));
    }).finally(() => clearTimeout(impatience));
    return new ServerProcess(child, kill, { port, ms: performance.now() - startedAt });
  }

  /** Ends the server with SIGKILL, without a chance to clean up. */
  async kill(): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    const ended = exitCode === null && signalCode === null && once(this.#child, 'exit');
    this.#kill();
    await ended;
  }

  /** Sends SIGTERM, so that the server can still write, for example, a profile; then SIGKILL if that takes too long. */
  async stop(): Promise<void> {
    const impatience = setTimeout(this.#kill, stopMsMax);
    if (this.#child.kill('SIGTERM')) await once(this.#child, 'exit');
    clearTimeout(impatience);
    await this.kill();
  }

  /** It uses nothing until it is woken: work that it has left to later is not done in another server's time. */
  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  wake(): void {
    this.#child.kill('SIGCONT');
  }

  /** Waits, with a bound, until the server is idle, for example after clearing away a deleted queue. */
  async settle(): Promise<void> {
    let { cpuMicros } = this.used();
    for (let waitedMs = 0; waitedMs < settleMsMax; waitedMs += settleStepMs) {
      await sleep(settleStepMs);
      const before = cpuMicros;
      cpuMicros = this.used().cpuMicros;
      if (cpuMicros - before <= settledMicros) return;
    }
  }

  used(): Used {
    if (process.platform !== 'linux') return { cpuMicros: 0, dirtiedBytes: 0, handedBytes: 0 };
    const io = this.#proc('io');
    return {
      cpuMicros: processMicros(this.#child.pid),
      dirtiedBytes: Number(/^write_bytes: (\d+)/m.exec(io)?.[1]),
      handedBytes: Number(/^wchar: (\d+)/m.exec(io)?.[1]),
    };
  }

  /** RssAnon: memory of the process without mapped files; 0 where the system does not report it. */
  anonymousBytes(): number {
    if (process.platform !== 'linux') return 0;
    return Number(/^RssAnon:\s+(\d+) kB/m.exec(this.#proc('status'))?.[1]) * 1024;
  }

  /** proc_pid_io(5), proc_pid_status(5). */
  #proc(file: string): string {
    return readFileSync(`/proc/${this.#child.pid}/${file}`, 'utf8');
  }
}
