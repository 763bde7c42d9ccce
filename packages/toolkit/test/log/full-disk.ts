/**
 * A process that a test runs with a limit on file size: it appends a record that fits, one that does not, and one that
 * fits again, and prints the result of each.
 */

import { RecordLog } from '../../src/log/record-log.ts';

const log = await RecordLog.open(process.argv[2] ?? '', {}, () => {});
for (const length of [100, 100_000, 100]) {
  const text = 'x'.repeat(length);
  console.log(
    await log.append({ text }).then(
      () => 'kept',
      ({ code }) => code,
    ),
  );
}
await log.close();
