/**
 * A file system that fills up quickly, where one can be mounted: a small tmpfs, or ext4 in a file, whose blocks are counted
 * as on a real disk.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

export type FileSystem = 'tmpfs' | 'ext4';

export const fileSystems: readonly FileSystem[] = ['tmpfs', 'ext4'];

const megabyte = 1024 * 1024;

export class SmallDisk {
  readonly path: string;
  readonly #directory: string;

  private constructor(path: string, directory: string) {
    this.path = path;
    this.#directory = directory;
  }

  /** Undefined where none can be mounted. */
  static mount(megabytes: number, fileSystem: FileSystem = 'tmpfs'): SmallDisk | undefined {
    const size = Math.floor(megabytes * megabyte);
    const directory = mkdtempSync(join(tmpdir(), 'oncemq-test-'));
    const path = join(directory, 'disk');
    const run = (command: string, ...args: string[]): unknown =>
      execFileSync(command, args, { stdio: 'ignore' });
    try {
      run('mkdir', path);
      if (fileSystem === 'tmpfs') {
        run('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path);
      } else {
        const image = join(directory, 'image');
        writeFileSync(image, '');
        truncateSync(image, size);
        // Without blocks that only root may use: tests are often root.
        run('mkfs.ext4', '-q', '-F', '-m', '0', image);
        run('mount', '-o', 'loop', image, path);
      }
      return new SmallDisk(path, directory);
    } catch {
      rmSync(directory, { recursive: true });
      return undefined;
    }
  }

  /** Takes all the room that is left, for a file of this name. */
  fill(name: string): string {
    const file = join(this.path, name);
    for (const bytes of [megabyte, 4096, 1]) {
      try {
        for (;;) writeFileSync(file, Buffer.alloc(bytes), { flag: 'a' });
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
      }
    }
    return file;
  }

  remove(): void {
    execFileSync('umount', [this.path]);
    rmSync(this.#directory, { recursive: true });
  }
}

/** Runs the test on a disk of its own, of 4 MB on tmpfs if not told; skipped by name where none can be mounted. */
export function testOnSmallDisk(
  title: string,
  run: (disk: SmallDisk) => Promise<void>,
  { megabytes = 4, fileSystem = 'tmpfs' }: { megabytes?: number; fileSystem?: FileSystem } = {},
): void {
  test(`${title} (${fileSystem})`, { timeout: 120_000 }, async (t) => {
    const disk = SmallDisk.mount(megabytes, fileSystem);
    if (disk === undefined) return t.skip(`no ${fileSystem} can be mounted here`);
    try {
      await run(disk);
    } finally {
      disk.remove();
    }
  });
}
