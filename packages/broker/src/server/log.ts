/**
 * The log: errors, recoveries and a clock that is ahead, written to standard error for people or for programs. Successes
 * are not logged; events report what happens to messages.
 */

export interface Log {
  error(text: string, cause: unknown): void;
  info(text: string): void;
}

export function createLog(form: 'pretty' | 'json' | 'silent'): Log {
  const write = (level: 'error' | 'info', text: string, detail?: string): void => {
    if (form === 'silent') return;
    const line =
      form === 'json'
        ? JSON.stringify({ time: new Date().toISOString(), level, text, detail })
        : `oncemq: ${text}${detail === undefined ? '' : `: ${detail}`}`;
    process.stderr.write(`${line}\n`);
  };
  return {
    error: (text, cause) => {
      write('error', text, detailOf(cause));
    },
    info: (text) => write('info', text),
  };
}

/** With what caused it: that is where the mistake is. */
function detailOf(problem: unknown): string {
  if (!(problem instanceof Error)) return String(problem);
  const own = problem.stack ?? problem.message;
  return problem.cause === undefined ? own : `${own}\ncaused by ${detailOf(problem.cause)}`;
}
