/**
 * Opens a data directory without root's rights, which no rights of files bind, and prints what came of it. A process of
 * its own, which gives its rights up only once everything is loaded: the code may lie where nobody can read it.
 *
 * As a server does, or as the second word says: `check`, or `backup`.
 */

import { manualClock } from '../../src/server/clock.ts';
import { Environment } from '../../src/storage/local/lmdb/environment.ts';
import { openDataBackend } from '../../src/storage/local/local-backend.ts';

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
