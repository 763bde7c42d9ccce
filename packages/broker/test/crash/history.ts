/**
 * What the clients of a crash run saw, one entry for each request that they sent, and what was done to the server. The
 * checker reads nothing else. Each process appends to a file of its own, with a write for each entry, so that nothing is
 * lost with the server, nor with a client that fails.
 *
 * Times are milliseconds of the machine's monotonic clock, which all processes share: `from` is before the request was
 * written, `to` after its answer was read, and whatever the server did about it, it did in between. A request without
 * an answer is `unanswered`: it was executed or not, and its `to` is when the connection was found dead. The server that
 * had it was dead by then too, so it was not executed later.
 */

import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface Timed {
  readonly from: number;
  readonly to: number;
}

/** `refused` comes with the error's code. */
export type Result = { readonly outcome: 'done' | 'unanswered' } | Refused;

export interface Refused {
  readonly outcome: 'refused';
  readonly code: string;
}

/** A queue of the run; comes before all requests. */
export interface QueueEntry {
  readonly type: 'queue';
  readonly queue: string;
  readonly isFifo: boolean;
  /** How long a deduplication id is remembered; 0 on a standard queue. */
  readonly windowMs: number;
}

/** One message of a send; those of one batch have the same times, and their places in it. */
export type SendEntry = Timed & {
  readonly type: 'send';
  readonly queue: string;
  readonly group?: string;
  /** Identifies the message: a body is one message, however often it is sent (on FIFO queues). */
  readonly body: string;
  readonly place: number;
} & (
    | { readonly outcome: 'done'; readonly messageId: string; readonly sequence?: string }
    | { readonly outcome: 'unanswered' }
    | Refused
  );

/** A publication, which is one change of all queues that subscribe to the topic. */
export type PublishEntry = Timed &
  Result & {
    readonly type: 'publish';
    readonly queues: readonly string[];
    readonly group: string;
    readonly body: string;
  };

export interface ReceivedEntry {
  readonly messageId: string;
  readonly sequence?: string;
  readonly group?: string;
  readonly body: string;
  readonly receipt: string;
  readonly receiveCount: number;
}

export type ReceiveEntry = Timed &
  Result & {
    readonly type: 'receive';
    readonly queue: string;
    readonly attemptId?: string;
    readonly visibilityMs: number;
    /** As answered; empty without an answer. */
    readonly messages: readonly ReceivedEntry[];
  };

export type DeleteEntry = Timed &
  Result & { readonly type: 'delete'; readonly messageId: string; readonly receipt: string };

export type ChangeEntry = Timed &
  Result & {
    readonly type: 'change';
    readonly messageId: string;
    readonly receipt: string;
    readonly visibilityMs: number;
  };

/** The server was killed; `isStarting` if it had not reported that it is ready. */
export interface KillEntry {
  readonly type: 'kill';
  readonly at: number;
  readonly isStarting: boolean;
}

/** Messages in any state that a queue still had when the run was over. */
export interface LeftEntry {
  readonly type: 'left';
  readonly queue: string;
  readonly count: number;
}

export type Entry =
  | QueueEntry
  | SendEntry
  | PublishEntry
  | ReceiveEntry
  | DeleteEntry
  | ChangeEntry
  | KillEntry
  | LeftEntry;

export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export class HistoryWriter {
  readonly #file: number;

  constructor(directory: string, name: string) {
    this.#file = openSync(join(directory, `${name}${suffix}`), 'a');
  }

  add(...entries: readonly Entry[]): void {
    writeSync(this.#file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  }

  close(): void {
    closeSync(this.#file);
  }
}

const suffix = '.history.jsonl';

export function readHistory(directory: string): Entry[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(suffix))
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').trimEnd().split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry);
}
