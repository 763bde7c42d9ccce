/**
 * Opens a data directory without root's rights, which no rights of files bind, and prints what came of it. A process of
 * its own, which gives its rights up only once everything is loaded: the code may lie where nobody can read it.
 */

import { manualClock } from '../../src/server/clock.ts';
import { openDataBackend } from '../../src/storage/local/local-backend.ts';

const nobody = 65_534;

if (process.getuid?.() === 0) process.setuid?.(nobody);
const directory = process.argv[2] as string;
const opened = openDataBackend({ clock: manualClock() }, { directory });
process.stdout.write(
  await opened.then(
    () => 'it opened',
    (error: Error) => error.message,
  ),
);
