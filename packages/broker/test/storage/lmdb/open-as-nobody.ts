/**
 * Opens a data directory without root's rights, which file permissions do not restrict, and prints the result. A process
 * of its own, which drops its rights only once everything is loaded: the code may be where nobody else can read it.
 *
 * Opens it as a server does, or as the second argument says: `check` or `backup`.
 */

import { manualClock } from '../../../src/server/clock.ts';
import { Environment } from '../../../src/storage/lmdb/file/environment.ts';
import { openDataBackend } from '../../../src/storage/lmdb/open.ts';

const nobody = 65_534;

if (process.getuid?.() === 0) process.setuid?.(nobody);
const [directory, reader] = process.argv.slice(2) as [string, string | undefined];
const opened =
  reader === undefined
    ? openDataBackend({ clock: manualClock() }, { directory })
    : Environment.open({ directory, isReadOnly: true, isAlone: reader === 'check' });
process.stdout.write(
  await (opened as Promise<unknown>).then(
    () => 'it opened',
    (error: Error) => error.message,
  ),
);
