/**
 * An inbox in a folder, for consumers without a database: the keys whose effect has taken place, in a log on disk and in
 * memory. It survives restarts, and any number of handlers in one process can share it.
 *
 * Its limits: one process at a time can use the folder, and the effect and its mark are two steps. If the process dies
 * between them, the message takes effect once more. Where that is not acceptable, make the effect idempotent, or use
 * PostgreSQL, where effect and mark commit together. A mark that cannot be written (a full disk) is retried before the
 * next effect and once more when the inbox is closed; until it is written, nothing else takes effect.
 */

import { RecordLog } from '../log/record-log.ts';
import { type Inbox, keepMsOf, scopedKey } from './inbox.ts';
import { defaultKeysMax, type MemoryInboxOptions } from './memory-inbox.ts';
import { RememberedKeys } from './remembered-keys.ts';

export interface FileInboxOptions extends MemoryInboxOptions {
  /** Default 16 MiB. Expired keys are removed from disk a whole segment at a time. */
  readonly segmentBytesMax?: number;
}

export interface FileInbox extends Inbox {
  /** How many keys are remembered. */
  readonly size: number;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface DoneRecord {
  /** The scoped key. Records of earlier versions have the key alone and no digest. */
  readonly key: string;
  readonly digest?: string;
  /** Infinity is null on disk, since JSON has no infinity. */
  readonly until: number | null;
}

export async function openFileInbox(
  folder: string,
  options: FileInboxOptions = {},
): Promise<FileInbox> {
  const { keysMax = defaultKeysMax, now = Date.now } = options;
  const keepMs = keepMsOf(options);
  const keys = new RememberedKeys(keysMax);
  /** For each segment, when its last key expires. */
  const neededUntil = new Map<number, number>();
  const note = (segment: number, record: DoneRecord): void => {
    const { key, digest, until: written } = record;
    const until = written ?? Number.POSITIVE_INFINITY;
    neededUntil.set(segment, Math.max(neededUntil.get(segment) ?? 0, until));
    if (until > now()) keys.remember({ key, digest, until });
  };
  const log = await RecordLog.open(folder, options, (record, { segment }) => {
    // It may be the folder of an outbox, whose segments would look expired and be removed.
    if (!('key' in (record as object))) throw new Error(`${folder} is not an inbox folder.`);
    note(segment, record as DoneRecord);
  });

  const removeForgotten = async (): Promise<void> => {
    const needed = [...neededUntil].filter(([, until]) => until > now());
    const first = Math.min(...needed.map(([segment]) => segment));
    for (const segment of neededUntil.keys()) if (segment < first) neededUntil.delete(segment);
    await log.removeBefore(first);
  };
  await removeForgotten();

  /** Effects that took place but whose marks could not be written; at most one for each running handler. */
  const unmarked = new Map<string, DoneRecord>();
  const mark = async (done: DoneRecord): Promise<void> => {
    const { segment } = await log.append(done).catch((error: unknown) => {
      unmarked.set(done.key, done);
      throw error;
    });
    unmarked.delete(done.key);
    const isNewSegment = !neededUntil.has(segment);
    note(segment, done);
    if (isNewSegment) await removeForgotten();
  };

  const markAll = async (): Promise<void> => {
    for (const done of unmarked.values()) await mark(done);
  };

  const once: Inbox['once'] = async (event, effect) => {
    const known = keys.known(event, now());
    if (known !== undefined) return known;
    if (!keys.begin(event, now())) return 'busy';
    try {
      await markAll();
      const marked = keys.known(event, now());
      if (marked !== undefined) return marked;
      await effect(undefined);
      await mark({ key: scopedKey(event), digest: event.digest, until: now() + keepMs });
      return 'done';
    } finally {
      keys.end(event);
    }
  };
  const close = async (): Promise<void> => {
    // The last attempt: closing does not wait for the disk to recover.
    await markAll().catch(() => {});
    await log.close();
  };
  return {
    once,
    get size() {
      return keys.size;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
