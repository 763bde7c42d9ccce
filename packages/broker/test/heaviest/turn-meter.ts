/**
 * Loaded into the server's process (`--import`): measures the processor time of the main thread between two turns of the
 * event loop, which is how long a small request may have to wait behind a large one. Processor time, because on a busy
 * machine real time says more about the machine. It spins only while it is asked to measure.
 */

import { openSync, readSync } from 'node:fs';

/** Milliseconds of processor time that this thread has had. Elsewhere than on Linux: the whole process, which is no less. */
function threadTime(): () => number {
  let file: number;
  try {
    file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  } catch {
    return () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
  }
  const bytes = Buffer.alloc(80);
  return () => {
    const length = readSync(file, bytes, 0, bytes.length, 0);
    return Number.parseInt(bytes.toString('latin1', 0, length), 10) / 1e6;
  };
}

const now = threadTime();
let isMeasuring = false;
let longest = 0;
let last = 0;

function turn(): void {
  if (!isMeasuring) return;
  const at = now();
  longest = Math.max(longest, at - last);
  last = at;
  setImmediate(turn);
}

process.on('message', (asked) => {
  isMeasuring = asked === 'measure';
  if (isMeasuring) {
    longest = 0;
    last = now();
    setImmediate(turn);
  } else {
    longest = Math.max(longest, now() - last);
  }
  process.send?.(longest);
});
// Nor must the channel keep a server alive that was told to stop.
process.channel?.unref();
