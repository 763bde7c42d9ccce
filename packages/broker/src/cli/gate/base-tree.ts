/**
 * The files of the base, written to a temporary folder when something is to be compared with it, so that what producers
 * sent before can be seen by running them. Installed dependencies are those of the branch: their folders are linked.
 */

import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { dependencyFolders, writeTree } from './git.ts';

export class BaseTree {
  readonly #root: string;
  readonly #commit: string;
  #folder: string | undefined;

  constructor(root: string, commit: string) {
    this.#root = root;
    this.#commit = commit;
  }

  /** The folder with the files. */
  get folder(): string {
    if (this.#folder !== undefined) return this.#folder;
    const folder = mkdtempSync(join(tmpdir(), 'oncemq-base-'));
    this.#folder = folder;
    writeTree(this.#root, this.#commit, folder);
    for (const name of dependencyFolders(this.#root)) {
      // A package that the base does not have needs no dependencies there.
      if (!existsSync(dirname(join(folder, name)))) continue;
      symlinkSync(join(this.#root, name), join(folder, name), 'junction');
    }
    return folder;
  }

  /** Removes the folder; links in it are removed, not followed. */
  close(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}
