/**
 * A primary and its standbys (scripts/postgres-pair.ts, scripts/patroni.ts), seen from a test: where they are, and the words
 * that make one take over from the other.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const folder = new URL('../../../../../.build/scripts/', import.meta.url);

/** Who makes one of them take over: the test, or a manager of its own. */
export type Manager = 'none' | 'patroni';

const scripts: Readonly<Record<Manager, string>> = {
  none: 'postgres-pair.js',
  patroni: 'patroni.js',
};

export class DatabasePair {
  readonly ports: readonly number[];
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, ports: number[]) {
    this.#child = child;
    this.#lines = lines;
    this.ports = ports;
  }

  static async start(manager: Manager = 'none'): Promise<DatabasePair> {
    const file = fileURLToPath(new URL(scripts[manager], folder));
    const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { value = 'it ended' } = await lines.next();
    const urls = /^postgres ready (.*)$/.exec(value)?.[1]?.split(' ');
    if (urls === undefined) throw new Error(`the databases did not start: ${value}`);
    const ports = urls.map((url) => Number(new URL(url).port));
    return new DatabasePair(child, lines, ports);
  }

  /** Kills the primary; resolves when it is dead. */
  killPrimary(): Promise<void> {
    return this.#say('fail over', 'killed');
  }

  /** Resolves when a standby has taken over after that. */
  promoted(): Promise<void> {
    return this.#hear('promoted');
  }

  /** Resolves when there is a standby again after that. */
  followed(): Promise<void> {
    return this.#hear('followed');
  }

  /** From now on commits are lost with the primary. */
  fallBehind(): Promise<void> {
    return this.#say('fall behind', 'behind');
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.stdin?.end();
    await once(this.#child, 'exit');
  }

  async #say(word: string, answer: string): Promise<void> {
    this.#child.stdin?.write(`${word}\n`);
    await this.#hear(answer);
  }

  async #hear(answer: string): Promise<void> {
    const { value = 'it ended' } = await this.#lines.next();
    if (value !== answer) throw new Error(`the databases said "${value}" instead of "${answer}"`);
  }
}
