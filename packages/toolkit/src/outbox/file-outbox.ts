/**
 * An outbox in a folder, for producers without a database: a segmented log on disk. `append` resolves when the message
 * is on disk; a process that dies any time later can send it after its restart.
 *
 * One process at a time can use the folder. Memory holds the position of each unsent message and two digests of each kept
 * one (about 300 bytes), not their bodies.
 */

import { RecordLog } from '../log/record-log.ts';
import type { ProducerMessage } from '../producer/send.ts';
import { KeptKeys } from './kept-keys.ts';
import {
  type Backlog,
  countedMax,
  eventTimeOf,
  type KeptMessage,
  type Outbox,
  type ParkedMessage,
  type TimeRange,
  timeToKeep,
  type Verdict,
} from './outbox.ts';
import { type Parked, type Unsent, UnsentMessages } from './unsent-messages.ts';

export interface FileOutboxOptions {
  /** Default 16 MiB. */
  readonly segmentBytesMax?: number;
  /** Epoch milliseconds; default: the system clock. */
  readonly now?: () => number;
}

export interface FileOutbox extends Outbox {
  /**
   * Resolves to the message's id once it is on disk; for a message that is there already, to the id it has. Throws a
   * ContractError if the key was used for another body.
   */
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

/** A message that is skipped is recorded as sent. */
type MarkRecord =
  | { readonly sent: readonly number[] }
  | { readonly parked: number; readonly reason: string; readonly at: number }
  | { readonly retried: number };

type LogRecord = MessageRecord | MarkRecord;

export async function openFileOutbox(
  folder: string,
  options: FileOutboxOptions = {},
): Promise<FileOutbox> {
  const unsent = new UnsentMessages();
  const keys = new KeptKeys();
  const log = await RecordLog.open(folder, options, (value, position) => {
    const record = value as LogRecord;
    if (isMark(record)) apply(record, unsent);
    else if (!('message' in record)) throw new Error(`${folder} is not an outbox folder.`);
    else {
      const { id, at, message } = record;
      unsent.add({ id, groupId: message.groupId, position, at });
      keys.add(message, Promise.resolve(id), position.segment);
    }
  });
  return new FolderOutbox(log, unsent, keys, options.now ?? Date.now);
}

function isMark(record: LogRecord): record is MarkRecord {
  return 'sent' in record || 'parked' in record || 'retried' in record;
}

function apply(mark: MarkRecord, unsent: UnsentMessages): void {
  if ('sent' in mark) for (const id of mark.sent) unsent.remove(id);
  else if ('parked' in mark) unsent.park(mark.parked, mark.reason, mark.at);
  else unsent.retry(mark.retried);
}

class FolderOutbox implements FileOutbox {
  readonly #log: RecordLog;
  readonly #unsent: UnsentMessages;
  readonly #keys: KeptKeys;
  readonly #now: () => number;
  readonly #listeners: Set<() => void> = new Set();
  #isTaken = false;

  constructor(log: RecordLog, unsent: UnsentMessages, keys: KeptKeys, now: () => number) {
    this.#log = log;
    this.#unsent = unsent;
    this.#keys = keys;
    this.#now = now;
  }

  get unsent(): number {
    return this.#unsent.size;
  }

  async append(message: ProducerMessage): Promise<number> {
    timeToKeep(message);
    const known = this.#keys.find(message);
    if (known !== undefined) return known;
    // Known before it is written, because a second append may come meanwhile.
    const kept = this.#write(message);
    this.#keys.add(message, kept);
    try {
      return await kept;
    } catch (error) {
      this.#keys.remove(message);
      throw error;
    }
  }

  async #write(message: ProducerMessage): Promise<number> {
    const { body, groupId, attributes } = message;
    const id = this.#unsent.newId();
    const at = this.#now();
    const position = await this.#log.append({ id, at, message: { body, groupId, attributes } });
    this.#unsent.add({ id, groupId, position, at });
    this.#keys.locate(message, position.segment);
    this.#wake();
    return id;
  }

  async take(
    limit: number,
    leaveOut: ReadonlySet<string>,
    work: (kept: readonly KeptMessage[]) => Promise<Verdict>,
  ): Promise<number> {
    if (this.#isTaken) return 0;
    this.#isTaken = true;
    try {
      const kept: KeptMessage[] = [];
      for (const unsent of this.#unsent.heads(limit, leaveOut)) kept.push(await this.#read(unsent));
      if (kept.length === 0) return 0;
      const { sent, parked = [] } = await work(kept);
      if (sent.length > 0) await this.#mark({ sent });
      for (const { id, reason } of parked)
        await this.#mark({ parked: id, reason, at: this.#now() });
      return kept.length;
    } finally {
      this.#isTaken = false;
    }
  }

  async parked(limit: number, after = 0): Promise<readonly ParkedMessage[]> {
    const ids = [...this.#unsent.parked.keys()].filter((id) => id > after).sort((a, b) => a - b);
    const found: ParkedMessage[] = [];
    for (const id of ids.slice(0, limit)) {
      const { unsent, reason, parkedAt } = this.#unsent.parked.get(id) as Parked;
      found.push({ ...(await this.#read(unsent)), reason, parkedAt });
    }
    return found;
  }

  async retry(id: number): Promise<boolean> {
    if (!this.#unsent.parked.has(id)) return false;
    await this.#mark({ retried: id });
    this.#wake();
    return true;
  }

  async skip(id: number): Promise<boolean> {
    if (!this.#unsent.parked.has(id)) return false;
    await this.#mark({ sent: [id] });
    return true;
  }

  async backlog(): Promise<Backlog> {
    const { size, oldestAt, parked } = this.#unsent;
    return {
      unsent: Math.min(size, countedMax),
      oldestAt,
      parked: Math.min(parked.size, countedMax),
    };
  }

  async listen(wake: () => void): Promise<() => Promise<void>> {
    this.#listeners.add(wake);
    return async () => void this.#listeners.delete(wake);
  }

  async *between({ from, to }: TimeRange): AsyncIterable<KeptMessage> {
    for await (const value of this.#log.records()) {
      const record = value as LogRecord;
      if (isMark(record)) continue;
      const time = eventTimeOf(record.message);
      if (time >= from && time < to) yield keptOf(record);
    }
  }

  async prune(before: number): Promise<void> {
    const first = this.#unsent.firstSegmentNeeded(before);
    await this.#log.removeBefore(first);
    this.#unsent.forgetSegmentsBefore(first);
    this.#keys.forgetSegmentsBefore(first);
  }

  async close(): Promise<void> {
    await this.#log.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #mark(mark: MarkRecord): Promise<void> {
    await this.#log.append(mark);
    apply(mark, this.#unsent);
  }

  #wake(): void {
    for (const wake of this.#listeners) wake();
  }

  async #read({ position }: Unsent): Promise<KeptMessage> {
    return keptOf((await this.#log.read(position)) as MessageRecord);
  }
}

function keptOf({ id, at, message }: MessageRecord): KeptMessage {
  return { id, message, appendedAt: at };
}
