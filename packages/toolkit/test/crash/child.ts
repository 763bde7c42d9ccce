/**
 * A process of the crash tests. It counts its steps, and at a given count it kills itself with SIGKILL: no handler runs,
 * nothing is flushed, nothing is closed.
 */

import { type CrashOrder, carryOut } from './crash-roles.ts';

export interface MortalOrder extends CrashOrder {
  /** The step at which it dies; if it has fewer steps, it survives. */
  readonly killAt: number;
}

const { killAt, ...order } = JSON.parse(process.argv[2] ?? '') as MortalOrder;
let steps = 0;
await carryOut(order, () => {
  steps += 1;
  if (steps === killAt) process.kill(process.pid, 'SIGKILL');
});
