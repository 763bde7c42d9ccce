/**
 * A file system that fills up quickly: a small tmpfs, where one can be mounted.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

export class SmallDisk {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Of a size as `mount` takes it; undefined where none can be mounted. */
  static mount(size: string): SmallDisk | undefined {
    const path = mkdtempSync(join(tmpdir(), 'oncemq-test-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path], {
        stdio: 'ignore',
      });
      return new SmallDisk(path);
    } catch {
      rmSync(path, { recursive: true });
      return undefined;
    }
  }

  remove(): void {
    execFileSync('umount', [this.path]);
    rmSync(this.path, { recursive: true });
  }
}

/** Runs the test on a disk of its own, of 4 MB if not told; skipped by name where none can be mounted. */
export function testOnSmallDisk(
  title: string,
  run: (disk: SmallDisk) => Promise<void>,
  size = '4m',
): void {
  test(title, async (t) => {
    const disk = SmallDisk.mount(size);
    if (disk === undefined) return t.skip('no tmpfs can be mounted here');
    try {
      await run(disk);
    } finally {
      disk.remove();
    }
  });
}
