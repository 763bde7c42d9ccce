/**
 * What a command does when its output cannot be written: a reader that has seen enough, such as `head`, is not a failure;
 * a full disk is one. Neither is ever a stack trace.
 */

let endsWithReader = false;

/** For every command but `serve`, which goes on. A check goes on, too: its exit code says whether it passed. */
export function watchOutput(): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') {
      process.stderr.write(`oncemq: The output cannot be written: ${message}\n`);
      process.exit(1);
    }
    if (endsWithReader) process.exit();
  });
}

/** From now on, the command is done as soon as nobody reads its output. */
export function endWithReader(): void {
  endsWithReader = true;
}
