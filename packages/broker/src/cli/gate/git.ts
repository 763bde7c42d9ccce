/**
 * What the gate asks git: which files a range changes, and which files exist. Paths are relative to the root of the
 * repository and never pass through a shell.
 */

import { spawnSync } from 'node:child_process';
import { UsageError } from '../usage.ts';

const outputBytesMax = 256 * 1024 * 1024;

export function repositoryRoot(): string {
  return git(['rev-parse', '--show-toplevel'], '.').trimEnd();
}

/** Files that differ from the merge base, including uncommitted changes and deleted files. */
export function changedFiles(root: string, base: string): string[] {
  // A revision never starts with a dash; git would take it for an option.
  if (base.startsWith('-')) throw new UsageError(`--base must be a revision, not ${base}.`);
  const hint =
    'Is the base fetched? A shallow clone lacks history: set fetch-depth or GIT_DEPTH to 0.';
  const start = git(['merge-base', base, 'HEAD'], root, hint).trim();
  return listed(git(['diff', '--name-only', '-z', '--no-renames', start], root));
}

export function allFiles(root: string): string[] {
  return listed(git(['ls-files', '-z'], root));
}

/** Files that are not ignored and have never been added. */
export function untrackedFiles(root: string): string[] {
  return listed(git(['ls-files', '-z', '--others', '--exclude-standard'], root));
}

function listed(text: string): string[] {
  return text.split('\0').filter((name) => name !== '');
}

function git(args: readonly string[], cwd: string, hint = ''): string {
  const { status, stdout, stderr, error } = spawnSync('git', args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: outputBytesMax,
  });
  if (status === 0) return stdout;
  const reason = error?.message ?? (stderr.trim() || `exit code ${status}`);
  throw new UsageError(`git ${args[0]} failed: ${reason}. ${hint}`.trimEnd());
}
