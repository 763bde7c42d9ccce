/**
 * Processor time as Linux counts it, in microseconds: of one process, and of everything that runs on the machine. Zeros
 * where the system does not report it.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';

const tickMicros = 10_000;

/** Of all threads; in nanosecond resolution where the kernel has it, otherwise in steps of 10 ms. */
export function processMicros(pid: number | undefined): number {
  if (!existsSync(`/proc/${pid}/stat`)) return 0;
  if (existsSync(`/proc/${pid}/schedstat`)) {
    return readdirSync(`/proc/${pid}/task`)
      .map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'))
      .reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1000, 0);
  }
  const [user = 0, system = 0] = statOf(pid).slice(11, 13);
  return (user + system) * tickMicros;
}

/** Of its children that have ended, in steps of 10 ms. */
export function endedChildrenMicros(pid: number): number {
  if (!existsSync(`/proc/${pid}/stat`)) return 0;
  const [user = 0, system = 0] = statOf(pid).slice(13, 15);
  return (user + system) * tickMicros;
}

/** What all programs have used, and the machine's host for others, since it started; and what there was to be used. */
export function machineMicros(): { readonly used: number; readonly all: number } {
  if (process.platform !== 'linux') return { used: 0, all: 0 };
  const line = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? '';
  // Time of guests is part of the first two.
  const ticks = line.split(' ').slice(0, 8).map(Number);
  const all = ticks.reduce((sum, each) => sum + each, 0);
  const [idle = 0, waiting = 0] = ticks.slice(3, 5);
  return { used: (all - idle - waiting) * tickMicros, all: all * tickMicros };
}

/** The numbers after the process's name; proc_pid_stat(5). */
function statOf(pid: number | undefined): number[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text
    .slice(text.lastIndexOf(') ') + 2)
    .split(' ')
    .map(Number);
}
