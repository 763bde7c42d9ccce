/**
 * The log: errors and nothing else, to standard error, for people or for programs. Successes are not logged; what
 * happened to messages is told by events.
 */

export interface Log {
  error(text: string, cause: unknown): void;
}

export function createLog(form: 'pretty' | 'json' | 'silent'): Log {
  return {
    error: (text, cause) => {
      if (form === 'silent') return;
      const detail = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
      const line =
        form === 'json'
          ? JSON.stringify({ time: new Date().toISOString(), level: 'error', text, detail })
          : `oncemq: ${text}: ${detail}`;
      process.stderr.write(`${line}\n`);
    },
  };
}
