/**
 * One of several processes that race for the same folders in a test: for each folder it is sent, it replies whether it
 * got the lock.
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
