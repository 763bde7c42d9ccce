// Shows what the journal of a stopped server's data directory holds: a line for each commit, and one for each of its records.
//
//   node .build/scripts/journal.js oncemq-data
//
// It only reads. What comes after the last whole commit of a file is not shown: it is of an earlier use of the file, or torn.
// `oncemq check` judges it. An empty list is normal after a clean stop, which leaves everything in the database.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { framesIn, keyAt, recordsIn, valueAt } from '#broker/storage/lmdb/journal/frame.js';
import { readJournal } from '#broker/storage/lmdb/journal/journal.js';

const [directory = 'oncemq-data'] = process.argv.slice(2);
if (!existsSync(join(directory, 'data.mdb'))) {
  console.error(`${directory} is not a data directory: it has no data.mdb.`);
  process.exitCode = 1;
} else {
  for (const bytes of readJournal(directory)) show(bytes);
}

function show(bytes: Buffer): void {
  for (const frame of framesIn(bytes)) {
    console.log(`commit ${frame.number} after ${frame.after}, ${frame.end - frame.start} bytes`);
    for (const record of recordsIn(bytes, frame)) {
      const value = valueAt(bytes, record);
      const key = printable(keyAt(bytes, record));
      console.log(
        `  ${value === null ? 'remove' : 'put   '} ${key} ${value?.length ?? ''}`.trimEnd(),
      );
    }
  }
}

/** Keys are text and numbers in bytes; what is not text is shown in hexadecimal digits. */
function printable(key: Buffer): string {
  return key.toString('latin1').replace(/[^!-~]/g, (char) => {
    return `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
