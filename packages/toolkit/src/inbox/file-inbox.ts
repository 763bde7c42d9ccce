/**
 * An inbox in a folder, for consumers without a database: the keys whose effect has taken place, in a log on disk and in
 * memory. It survives restarts, and any number of handlers in one process can share it.
 *
 * Its limits: one process at a time has the folder; and the effect and its mark are two steps. A process that dies
 * between them has had the effect and does not know it, so the message takes effect once more. Where that must not be,
 * the effect must be harmless twice, or in PostgreSQL together with its mark.
 */

import { RecordLog } from '../log/record-log.ts';
import { defaultKeepMs, type Inbox } from './inbox.ts';
import { defaultKeysMax, type MemoryInboxOptions } from './memory-inbox.ts';
import { RememberedKeys } from './remembered-keys.ts';

export interface FileInboxOptions extends MemoryInboxOptions {
  /** Default 16 MiB; what is wholly forgotten is removed a segment at a time. */
  readonly segmentBytesMax?: number;
}

export interface FileInbox extends Inbox {
  /** How many keys are remembered. */
  readonly size: number;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface DoneRecord {
  readonly key: string;
  readonly until: number;
}

export async function openFileInbox(
  folder: string,
  options: FileInboxOptions = {},
): Promise<FileInbox> {
  const { keepMs = defaultKeepMs, keysMax = defaultKeysMax, now = Date.now } = options;
  const keys = new RememberedKeys(keysMax);
  /** For each segment, until when something in it is remembered. */
  const neededUntil = new Map<number, number>();
  const note = (segment: number, { key, until }: DoneRecord): void => {
    neededUntil.set(segment, Math.max(neededUntil.get(segment) ?? 0, until));
    if (until > now()) keys.remember(key, until);
  };
  const log = await RecordLog.open(folder, options, (record, { segment }) =>
    note(segment, record as DoneRecord),
  );

  const removeForgotten = async (): Promise<void> => {
    const needed = [...neededUntil].filter(([, until]) => until > now());
    const first = Math.min(...needed.map(([segment]) => segment));
    for (const segment of neededUntil.keys()) if (segment < first) neededUntil.delete(segment);
    await log.removeBefore(first);
  };
  await removeForgotten();

  const once: Inbox['once'] = async (key, effect) => {
    if (keys.has(key, now())) return 'duplicate';
    if (!keys.begin(key, now())) return 'busy';
    try {
      await effect(undefined);
      const done = { key, until: now() + keepMs };
      const { segment } = await log.append(done);
      const isNewSegment = !neededUntil.has(segment);
      note(segment, done);
      if (isNewSegment) await removeForgotten();
      return 'done';
    } finally {
      keys.end(key);
    }
  };
  const close = (): Promise<void> => log.close();
  return {
    once,
    get size() {
      return keys.size;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
