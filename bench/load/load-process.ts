/**
 * The load as the benchmarks use it: a process that is started once, gets one order after another, and is stopped. Its
 * ids continue from order to order, so all messages of a run differ.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { atExit } from '../servers/at-exit.ts';
import type { LoadCount, LoadOrder } from './order.ts';

export class LoadProcess {
  readonly #child: ChildProcess = fork(fileURLToPath(new URL('load.js', import.meta.url)), [
    'load',
  ]);
  readonly stop: () => void = atExit(() => this.#child.kill());
  /** Rejects if the load process ends; its own error message goes to standard error. */
  readonly #ended: Promise<never>;

  /**
   * `givesWay` lowers the priority of the load below the threads of a server at full load. A durable server has a second
   * thread that writes, and on two cores a load that never sleeps would take half of that thread's time.
   */
  constructor({ givesWay = false }: { readonly givesWay?: boolean } = {}) {
    const { pid } = this.#child;
    if (givesWay && pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
    this.#ended = once(this.#child, 'exit').then(() => {
      throw new Error('the load process ended');
    });
    this.#ended.catch(() => {});
  }

  async run(order: LoadOrder): Promise<LoadCount> {
    this.#child.send(order);
    const [count] = (await Promise.race([once(this.#child, 'message'), this.#ended])) as [
      LoadCount,
    ];
    return count;
  }
}
