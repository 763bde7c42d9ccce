/**
 * An inbox in memory, for tests and for consumers with idempotent effects. Safe with any number of handlers in one
 * process. Its limit: it ends with the process, so a message redelivered after a restart takes effect again.
 */

import { type Inbox, type InboxOptions, keepMsOf } from './inbox.ts';
import { RememberedKeys } from './remembered-keys.ts';

export interface MemoryInboxOptions extends InboxOptions {
  /** Default a million, about 100 MB. */
  readonly keysMax?: number;
}

export const defaultKeysMax = 1_000_000;

export function memoryInbox(options: MemoryInboxOptions = {}): Inbox {
  const { keysMax = defaultKeysMax, now = Date.now } = options;
  const keepMs = keepMsOf(options);
  const keys = new RememberedKeys(keysMax);
  return {
    once: async (key, effect) => {
      if (keys.has(key, now())) return 'duplicate';
      if (!keys.begin(key, now())) return 'busy';
      try {
        await effect(undefined);
        keys.remember(key, now() + keepMs);
        return 'done';
      } finally {
        keys.end(key);
      }
    },
  };
}
