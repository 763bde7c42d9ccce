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

/** The commit at which this branch left the base. */
export function mergeBase(root: string, base: string): string {
  // A revision never starts with a dash; git would take it for an option.
  if (base.startsWith('-')) throw new UsageError(`--base must be a revision, not ${base}.`);
  const hint =
    'Is the base fetched? A shallow clone lacks history: set fetch-depth or GIT_DEPTH to 0.';
  return git(['merge-base', base, 'HEAD'], root, hint).trim();
}

/** Files that differ from the commit, including uncommitted changes and deleted files. */
export function changedFiles(root: string, start: string): string[] {
  return filesIn(git(['diff', '--name-only', '-z', '--no-renames', start], root));
}

export function allFiles(root: string): string[] {
  return filesIn(git(['ls-files', '-z'], root));
}

/** Files that are not ignored and have never been added. */
export function untrackedFiles(root: string): string[] {
  return filesIn(git(['ls-files', '-z', '--others', '--exclude-standard'], root));
}

/** Names of folders that hold what a package manager installed. */
const dependencies = /(?:^|\/)(?:node_modules|vendor|\.venv|venv)\/?$/;

/** Ignored folders with dependencies, without a slash at the end. */
export function dependencyFolders(root: string): string[] {
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory'];
  return filesIn(git(args, root))
    .filter((name) => dependencies.test(name))
    .map((name) => name.replace(/\/$/, ''));
}

/** Writes the files of a commit to a folder, without a trace in the repository. */
export function writeTree(root: string, commit: string, folder: string): void {
  const env = { GIT_INDEX_FILE: `${folder}/.git-index` };
  git(['read-tree', commit], root, '', env);
  git(['checkout-index', '--all', '--quiet', `--prefix=${folder}/`], root, '', env);
}

function filesIn(text: string): string[] {
  return text.split('\0').filter((name) => name !== '');
}

function git(
  args: readonly string[],
  cwd: string,
  hint = '',
  env: Readonly<Record<string, string>> = {},
): string {
  const { status, stdout, stderr, error } = spawnSync('git', args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: outputBytesMax,
  });
  if (status === 0) return stdout;
  const reason = error?.message ?? (stderr.trim() || `exit code ${status}`);
  throw new UsageError(`git ${args[0]} failed: ${reason}. ${hint}`.trimEnd());
}
