/**
 * What the gate asks git: which files a range changes, and which there are. Paths are from the root of the repository,
 * and never leave it as words of a shell.
 */

import { spawnSync } from 'node:child_process';
import { UsageError } from '../usage.ts';

const outputBytesMax = 256 * 1024 * 1024;

export function repositoryRoot(): string {
  return git(['rev-parse', '--show-toplevel'], '.').trimEnd();
}

/** Files that differ from where the branch left the base, those not yet committed and those deleted too. */
export function changedFiles(root: string, base: string): string[] {
  // A revision never begins with a dash; without the check it would be an option.
  if (base.startsWith('-')) throw new UsageError(`--base takes a revision, not ${base}.`);
  const hint = 'Is it fetched? A shallow clone has no history: use fetch-depth 0, or GIT_DEPTH 0.';
  const start = git(['merge-base', base, 'HEAD'], root, hint).trim();
  return listed(git(['diff', '--name-only', '-z', '--no-renames', start], root));
}

export function allFiles(root: string): string[] {
  return listed(git(['ls-files', '-z'], root));
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
  const reason = error?.message ?? (stderr.trim() || `it ended with ${status}`);
  throw new UsageError(`git ${args[0]} failed: ${reason}. ${hint}`.trimEnd());
}
