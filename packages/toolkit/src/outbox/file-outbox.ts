/**
 * An outbox in a folder, for producers without a database: a segmented log on disk. `append` resolves when the message
 * is on disk; a process that dies any time later can send it after its restart.
 *
 * One process at a time can use the folder. Memory holds only the position of each unsent message, not its body.
 */

import { RecordLog } from '../log/record-log.ts';
import type { ProducerMessage } from '../producer/send.ts';
import {
  eventTimeOf,
  type KeptMessage,
  type Outbox,
  type TimeRange,
  timeToKeep,
} from './outbox.ts';
import { type Unsent, UnsentMessages } from './unsent-messages.ts';

export interface FileOutboxOptions {
  /** Default 16 MiB. */
  readonly segmentBytesMax?: number;
  /** Epoch milliseconds; default: the system clock. */
  readonly now?: () => number;
}

export interface FileOutbox extends Outbox {
  /** Resolves to the message's id once it is on disk. */
  append(message: ProducerMessage): Promise<number>;
  /** How many messages are kept and not yet marked as sent. */
  readonly unsent: number;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface MessageRecord {
  readonly id: number;
  readonly at: number;
  readonly message: ProducerMessage;
}

type LogRecord = MessageRecord | { readonly sent: readonly number[] };

export async function openFileOutbox(
  folder: string,
  options: FileOutboxOptions = {},
): Promise<FileOutbox> {
  const unsent = new UnsentMessages();
  const log = await RecordLog.open(folder, options, (value, place) => {
    const record = value as LogRecord;
    if ('sent' in record) for (const id of record.sent) unsent.remove(id);
    else if (!('message' in record)) throw new Error(`${folder} is not an outbox folder.`);
    else unsent.add({ id: record.id, groupId: record.message.groupId, place, at: record.at });
  });
  return new FolderOutbox(log, unsent, options.now ?? Date.now);
}

class FolderOutbox implements FileOutbox {
  readonly #log: RecordLog;
  readonly #unsent: UnsentMessages;
  readonly #now: () => number;
  #isTaken = false;

  constructor(log: RecordLog, unsent: UnsentMessages, now: () => number) {
    this.#log = log;
    this.#unsent = unsent;
    this.#now = now;
  }

  get unsent(): number {
    return this.#unsent.size;
  }

  async append(message: ProducerMessage): Promise<number> {
    timeToKeep(message);
    const { body, groupId, attributes } = message;
    const id = this.#unsent.newId();
    const at = this.#now();
    const place = await this.#log.append({ id, at, message: { body, groupId, attributes } });
    this.#unsent.add({ id, groupId, place, at });
    return id;
  }

  async take(
    limit: number,
    leaveOut: ReadonlySet<string>,
    work: (kept: readonly KeptMessage[]) => Promise<readonly number[]>,
  ): Promise<number> {
    if (this.#isTaken) return 0;
    this.#isTaken = true;
    try {
      const kept: KeptMessage[] = [];
      for (const unsent of this.#unsent.heads(limit, leaveOut)) kept.push(await this.#read(unsent));
      if (kept.length === 0) return 0;
      const sent = await work(kept);
      if (sent.length > 0) await this.#log.append({ sent });
      for (const id of sent) this.#unsent.remove(id);
      return kept.length;
    } finally {
      this.#isTaken = false;
    }
  }

  async *between({ from, to }: TimeRange): AsyncIterable<KeptMessage> {
    for await (const value of this.#log.records()) {
      const record = value as LogRecord;
      if ('sent' in record) continue;
      const time = eventTimeOf(record.message);
      if (time >= from && time < to) yield keptOf(record);
    }
  }

  async prune(before: number): Promise<void> {
    const first = this.#unsent.firstSegmentNeeded(before);
    await this.#log.removeBefore(first);
    this.#unsent.forgetSegmentsBefore(first);
  }

  async close(): Promise<void> {
    await this.#log.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #read({ place }: Unsent): Promise<KeptMessage> {
    return keptOf((await this.#log.read(place)) as MessageRecord);
  }
}

function keptOf({ id, at, message }: MessageRecord): KeptMessage {
  return { id, message, appendedAt: at };
}
