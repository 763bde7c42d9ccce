/**
 * Runs a producer in any language: a shell command in an environment, with a time limit and its input from a file. The
 * end of its output is remembered, to be shown if it fails.
 */

import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { endGroup, endGroupWithUs } from './end-group.ts';
import type { Environment } from './environments.ts';

export interface Program {
  readonly command: string;
  readonly environment: Environment;
  /** What it reads from standard input; nothing if absent. */
  readonly inputFile: string | undefined;
  readonly msMax: number;
}

const outputCharsMax = 4_000;

/** Why the program failed, with the end of its output; undefined if it did not. */
export function runProgram({
  command,
  environment: { env, cwd, wrapper },
  inputFile,
  msMax,
}: Program): Promise<string | undefined> {
  return new Promise((resolve) => {
    let said = '';
    const input = inputFile === undefined ? 'ignore' : openSync(inputFile, 'r');
    const [program, args, shell] =
      wrapper.length === 0
        ? [command, [], true]
        : [wrapper[0] as string, [...wrapper.slice(1), 'sh', '-c', command], false];
    const child = spawn(program, args, {
      shell,
      env,
      cwd,
      stdio: [input, 'pipe', 'pipe'],
      // A process group of its own, so that what the shell starts ends with it.
      detached: process.platform !== 'win32',
    });
    if (typeof input === 'number') closeSync(input);
    const letGo = endGroupWithUs(child.pid);
    const timer = setTimeout(() => {
      said += `\nIt did not end within ${msMax / 1000} s (--timeout) and was killed.`;
      endGroup(child.pid);
      // Processes that have left the group may hold these open forever.
      child.stdout?.destroy();
      child.stderr?.destroy();
    }, msMax);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        said = (said + String(chunk)).slice(-outputCharsMax);
      });
    }
    child.on('error', ({ message }) => {
      clearTimeout(timer);
      letGo();
      resolve(message);
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      letGo();
      const ended = signal === null ? `ended with exit code ${code}` : `was killed by ${signal}`;
      resolve(code === 0 ? undefined : `${command} ${ended}.\n${said.trim()}`);
    });
  });
}
