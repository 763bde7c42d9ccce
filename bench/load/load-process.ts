/**
 * The load as the benchmarks use it: a process that is started once, gets one order after another, and is stopped. Its
 * ids continue from order to order, so all messages of a run differ.
 */

import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { atExit } from '../servers/at-exit.ts';
import { processMicros } from '../servers/processor-time.ts';
import type { LoadCount, LoadOrder } from './order.ts';

export class LoadProcess {
  readonly #child: ChildProcess = fork(fileURLToPath(new URL('load.js', import.meta.url)), [
    'load',
  ]);
  readonly stop: () => void = atExit(() => this.#child.kill());
  /** Rejects if the load process ends; its own error message goes to standard error. */
  readonly #ended: Promise<never>;

  /**
   * `givesWay`: a server at full load, which has several threads, gets the processors as if the load ran elsewhere. `a little`:
   * the load only has a low priority, for a machine whose other programs would leave it nothing else.
   */
  constructor({ givesWay = false }: { readonly givesWay?: boolean | 'a little' } = {}) {
    const { pid } = this.#child;
    if (givesWay !== false && pid !== undefined) {
      setPriority(pid, constants.priority.PRIORITY_LOW);
      if (givesWay === true) wantNothing(pid);
    }
    this.#ended = once(this.#child, 'exit').then(() => {
      throw new Error('the load process ended');
    });
    this.#ended.catch(() => {});
  }

  cpuMicros(): number {
    return processMicros(this.#child.pid);
  }

  async run(order: LoadOrder): Promise<LoadCount> {
    this.#child.send(order);
    const [count] = (await Promise.race([once(this.#child, 'message'), this.#ended])) as [
      LoadCount,
    ];
    return count;
  }
}

/**
 * A load that never sleeps keeps a processor busy, however low its priority. Linux then starts the server's other threads,
 * which write and collect garbage, on the processor of its main thread, and that waits for 12 % of the time. To the class
 * "idle" it gives only what nobody else wants: a processor that runs nothing else counts as free, and the wait is 4 %.
 */
function wantNothing(pid: number): void {
  // Part of util-linux. Without it, or on another system, the low priority has to do.
  spawnSync('chrt', ['--idle', '--all-tasks', '--pid', '0', String(pid)]);
}
