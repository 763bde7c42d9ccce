// Runs an external command, such as pip, for the scripts that fetch what npm does not have: with a
// timeout, and without ever throwing. Its output is discarded except for the last line of standard
// error, which tells a person why it did not work.

import { spawn } from 'node:child_process';

export interface Run {
  readonly ok: boolean;
  /** The last line it wrote to standard error, or why it could not be started. */
  readonly complaint: string;
}

const complaintCharsMax = 200;

export function run(
  [file = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  msMax: number,
  /** The folder it runs in; default: this process's. */
  cwd?: string,
): Promise<Run> {
  return new Promise((resolve) => {
    let said = '';
    const child = spawn(file, args, {
      env: { ...process.env, ...env },
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
      // Not the option `timeout`: if the program does not exist, its timer would keep this process alive.
      signal: AbortSignal.timeout(msMax),
      killSignal: 'SIGKILL',
    });
    child.stderr.on('data', (chunk) => {
      said = (said + String(chunk)).slice(-10 * complaintCharsMax);
    });
    child.on('error', ({ name, message }) => {
      const complaint = name === 'AbortError' ? `took longer than ${msMax / 1000} s` : message;
      resolve({ ok: false, complaint });
    });
    child.on('close', (code) => {
      const last = said.trim().split('\n').at(-1)?.slice(0, complaintCharsMax);
      resolve({ ok: code === 0, complaint: last || `exit code ${code}` });
    });
  });
}
