/**
 * The provenance ledger: an append-only record of what happened to every message, kept beside the queues and for longer.
 * It reads the event stream, so it records only what is kept, and nothing waits for it: a record is created with its event
 * and written a moment later. A kill can lose the last moments; the next run then records that the ledger was not closed.
 *
 * Record ids count up within a run, including lost records, so that gaps are visible.
 */

import { randomBytes } from 'node:crypto';
import { isoTime } from '../../core/iso-time.ts';
import type { Backend } from '../../storage/backend.ts';
import { makeDirectory } from '../../storage/make-directory.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Log } from '../log.ts';
import { fieldsOf } from './fields-of-event.ts';
import { LineWriter } from './line-writer.ts';
import { type LedgerFields, lineOf } from './record.ts';
import { RememberedMessages } from './remembered-messages.ts';
import { mendSegments, Segments, startOfRun } from './segments.ts';

export interface LedgerOptions {
  readonly directory: string;
  /** For all segments together. */
  readonly bytesMax: number;
  readonly version: string;
}

export interface Ledger {
  /** Records the backend's events from now on. The ledger is opened before the backend, so that it misses none. */
  follow(backend: Backend): void;
  /** For people who look: how many records were lost, and why none can be written at the moment, if so. */
  state(): { readonly lost: number; readonly failure: string | null };
  /** Writes what is buffered. Call it after the backend's last event. */
  close(): Promise<void>;
}

export async function openLedger(
  { directory, bytesMax, version }: LedgerOptions,
  log: Log,
): Promise<Ledger> {
  const { isClean, start } = await prepared(directory);
  const run = `${start}-${randomBytes(2).toString('hex')}`;
  let now = Date.now;
  let count = 0;
  const line = (at: number, fields: LedgerFields): string => {
    count += 1;
    return lineOf(`${run}-${count}`, isoTime(at), fields);
  };
  const writer = new LineWriter({
    segments: new Segments({ directory, bytesMax, run }),
    gapLine: (lost) => line(now(), { event: 'gap', lost }),
    onFailure: (error) =>
      log.error('the ledger cannot be written; records are held in memory', error),
    onRecovery: () => log.info('the ledger can be written again'),
  });
  const messages = new RememberedMessages();
  // Written with the first record, so that a run in which nothing happens leaves no file.
  let opening: string | undefined;
  let stopListening = (): void => {};
  const write = (at: number, fields: LedgerFields): void => {
    if (opening !== undefined) writer.append(opening);
    opening = undefined;
    messages.note(fields);
    writer.append(line(at, fields));
  };
  return {
    follow: (backend) => {
      now = () => backend.now();
      opening = line(now(), { event: 'opened', version, clean: isClean });
      stopListening = backend.listen((event) => {
        const fields = fieldsOf(event, (messageId) => messages.about(messageId));
        if (fields !== undefined) write(event.at, fields);
      });
    },
    state: () => ({ lost: writer.lost, failure: textOf(writer.failure) }),
    close: async () => {
      stopListening();
      if (opening === undefined) write(now(), { event: 'closed' });
      await writer.close();
      if (writer.lost > 0) log.error('records missing from the ledger', writer.lost);
    },
  };
}

/** Creates the directory if needed; returns whether the previous run closed the ledger, and the START of this one. */
async function prepared(directory: string): Promise<{ isClean: boolean; start: string }> {
  try {
    makeDirectory(directory);
    const last = await mendSegments(directory);
    const isClean = last === undefined || last.includes('"event":"closed"');
    return { isClean, start: await startOfRun(directory, Date.now()) };
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new ConfigError(`The ledger ${directory} cannot be used: ${reason}.`, { cause });
  }
}

function textOf(failure: unknown): string | null {
  if (failure === undefined) return null;
  return failure instanceof Error ? failure.message : String(failure);
}
