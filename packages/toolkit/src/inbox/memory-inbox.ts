/**
 * An inbox in memory, for tests and for consumers with idempotent effects. Safe with any number of handlers in one
 * process. Its limit: it ends with the process, so a message redelivered after a restart takes effect again.
 */

import { type Inbox, type InboxOptions, keepMsOf, scopedKey } from './inbox.ts';
import { RememberedKeys } from './remembered-keys.ts';

export interface MemoryInboxOptions extends InboxOptions {
  /** Default a million, about 300 MB. */
  readonly keysMax?: number;
}

export const defaultKeysMax = 1_000_000;

export function memoryInbox(options: MemoryInboxOptions = {}): Inbox {
  const { keysMax = defaultKeysMax, now = Date.now } = options;
  const keepMs = keepMsOf(options);
  const keys = new RememberedKeys(keysMax);
  return {
    once: async (event, effect) => {
      const known = keys.known(event, now());
      if (known !== undefined) return known;
      if (!keys.begin(event, now())) return 'busy';
      try {
        await effect(undefined);
        keys.remember({ key: scopedKey(event), digest: event.digest, until: now() + keepMs });
        return 'done';
      } finally {
        keys.end(event);
      }
    },
  };
}
