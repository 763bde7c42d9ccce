/**
 * What a command does when its output cannot be written: a reader that has seen enough, such as `head`, is not a failure;
 * a full disk is one. Not for checks, whose exit code says whether they passed.
 */

export function endWithReader(): void {
  process.stdout.once('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit();
    process.stderr.write(`oncemq: The output cannot be written: ${message}\n`);
    process.exit(1);
  });
}
