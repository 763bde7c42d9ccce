/**
 * What becomes of a command whose output nobody takes: whoever reads along may have seen enough, as `head` has, and that
 * is no failure; a disk that is full is one. Not for checks, whose end says whether they passed.
 */

export function endWithReader(): void {
  process.stdout.once('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit();
    process.stderr.write(`oncemq: The output cannot be written: ${message}\n`);
    process.exit(1);
  });
}
