/**
 * A new folder for a durable server's data, in the results folder or where --dir says, removed afterwards. Its location
 * decides what is measured: the disk, or memory if it is on a tmpfs.
 */

import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { resultFolder } from '../report/results.ts';
import { atExit } from './at-exit.ts';

export class DataFolder {
  readonly path: string;
  readonly remove: () => void;

  constructor(parent: string = resultFolder) {
    mkdirSync(parent, { recursive: true });
    this.path = mkdtempSync(join(parent, 'data-'));
    this.remove = atExit(() => rmSync(this.path, { recursive: true, force: true }));
  }

  fileBytes(): number {
    return statSync(join(this.path, 'data.mdb')).size;
  }
}
