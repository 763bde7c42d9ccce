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
      const detail = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
      write('error', text, detail);
    },
    info: (text) => write('info', text),
  };
}
