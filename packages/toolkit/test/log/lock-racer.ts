/**
 * One of several processes that a test lets run for the same folders: for each folder that it is told, it answers whether
 * it has it.
 */

import { lockFolder } from '../../src/log/folder-lock.ts';

process.on('message', (folder: string) => {
  try {
    lockFolder(folder);
    process.send?.(true);
  } catch {
    process.send?.(false);
  }
});
process.send?.('ready');
